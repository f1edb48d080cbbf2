"""docs/names.md: every name of ours can be imported, and those of torch and transformers too."""

import importlib
import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "names.md").read_text("utf-8")
KINDS = ["torch.nn", "d2l", "fairseq", "Hugging Face", "The Annotated Transformer"]


def rows(text: str) -> list[list[str]]:
    """There, here, what differs."""
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def ours(text: str) -> list[str]:
    """The names of the second column, and those of the third that are written as paths."""
    here = [name for row in rows(text) for name in re.findall(r"`([^`]+)`", row[1])]
    told = [name for row in rows(text) for name in re.findall(r"`(\w+\.\w+\.\w+)`", row[2])]
    return sorted({*here, *told})


def theirs(text: str) -> list[str]:
    there = [name for row in rows(text) for name in re.findall(r"`([^`]+)`", row[0])]
    return [name for name in there if name.startswith(("torch.", "transformers."))]


def resolves(name: str) -> bool:
    """Whether a dotted name leads to something, modules first."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(thing, part):
                return False
            thing = getattr(thing, part)
        return True
    return False


@pytest.mark.parametrize("name", ours(TEXT))
def test_a_name_of_ours_is_there(name: str) -> None:
    assert resolves(f"allyouneed.{name}")


@pytest.mark.parametrize("name", theirs(TEXT))
def test_a_name_of_theirs_is_there(name: str) -> None:
    pytest.importorskip(name.split(".")[0])
    assert resolves(name)


def test_each_kind_has_its_table() -> None:
    parts = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
    assert [part.split("\n")[0].split(" (")[0] for part in parts] == KINDS
    assert min(len(rows(part)) for part in parts) >= 13
    assert {len(row) for row in rows(TEXT)} == {3}


def test_the_name_test_can_fail() -> None:
    assert not resolves("allyouneed.core.attention.Attend")
    assert not resolves("allyouneed.core.no_such_module.attention")
    assert ours("| `x` | `core.no.way` | `core.also.not` |") == ["core.also.not", "core.no.way"]
