"""docs/seeds.md: every row says where it is in code, in a lesson or page, and in a test, and all of
these are there; nothing that the documents ask for is left out."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from allyouneed.cli.paper_map import line_of

ROOT = Path(__file__).resolve().parents[2]
TABLES = (ROOT / "docs" / "seeds.md").read_text("utf-8")

# What each document asks for, by words that its row has to have.
ASKED = {
    "NVIDIA": [
        *("six layers", "√d_model", "learned ones, or none", "Dropout", "padding mask"),
        *("final norm", '"big" shape', "on the left", "Fused paths", "ids that end in 2"),
        *("exp(H)", "its formula", "0 1 0 1", "4 to 7", "six steps", "Q, K, V", "heat map"),
        *("min-max", "W_O", "three steps", "checkpoint"),
    ],
    "Golding": [
        *("1-D and 2-D", "beyond the sequence", "writes into", "keeps its weights", "Window"),
        *("Any width, any length", "Quadratic", "projection that is split", "biases", "divide"),
        *("reduced width", "as BERT's", "PE(pos + k)", "Add & norm", "same map", "encoder block"),
        *("memory", "masked words", "next-sentence", "[CLS]", "the decoder", "head view"),
    ],
    "Chloe": ["Pre-norm", "throw away", "(B, T, T)", "Teacher forcing", "token by token"],
    "read-me": [
        *("hyper-parameters", "pad id", "masked self-attention", "Dropout within"),
        *("torch.arrange", "batch first", "padded queries"),
    ],
    "from scratch": [
        *("embedder", "buffer", "scale and shift", "many heads", "after the activation"),
        *("add & norm", "Stacks of N", "linear output", "1000 for 10000", "sine for odd"),
        *("double the exponent", "unbiased", "batch norm", "pe.cuda()", "3 × 6 × 512"),
    ],
}


@dataclass(frozen=True)
class Row:
    """One row of a table, and the heading that it stands under."""

    document: str
    asked: str
    code: str
    shown: str
    tests: str


def rows(tables: str) -> list[Row]:
    found = []
    for part in tables.split("\n## ")[1:]:
        lines = [line for line in part.splitlines() if line.startswith("| ")]
        cells = [line.strip("| ").split(" | ") for line in lines if "---" not in line]
        found += [Row(part.split("\n")[0], *cell) for cell in cells if cell[0] != "What"]
    return found


def unresolved(row: Row) -> list[str]:
    """What a row names and there is not."""
    codes = re.findall(r"`([\w/]+\.py):([\w.]+)`", row.code)
    tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row.tests)
    pages = re.findall(r"\[([^\]]+)\]\(([^)]+)\)", row.shown)
    missing = [f"{f}:{s}" for f, s in codes if not _symbol(f, s)]
    missing += [f"{f}::{name}" for f, name in tests if name not in _functions(f)]
    missing += [f"{page}: {title}" for title, page in pages if not _page(title, page)]
    kinds = {"code": codes, "lesson or page": pages, "test": tests}
    return missing + [f"no {kind}" for kind, named in kinds.items() if not named]


def _symbol(file: str, symbol: str) -> bool:
    path = ROOT / "src" / "allyouneed" / file
    return path.is_file() and line_of(path.read_text("utf-8"), symbol) is not None


def _functions(file: str) -> set[str]:
    path = ROOT / file
    tree = ast.parse(path.read_text("utf-8") if path.is_file() else "")
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def _page(title: str, page: str) -> bool:
    """The page is there and, where the link names a part of a lesson ("3 · Slips"), the part."""
    path = ROOT / "docs" / page
    if not path.is_file():
        return False
    _, dot, heading = title.partition(" · ")
    return not dot or f"\n# ## {heading}\n" in path.read_text("utf-8")


@pytest.mark.parametrize("row", rows(TABLES), ids=lambda row: f"{row.document[:20]}|{row.asked}")
def test_the_row_resolves(row: Row) -> None:
    assert unresolved(row) == []


@pytest.mark.parametrize(
    ("document", "words"),
    [(document, words) for document, list_ in ASKED.items() for words in list_],
)
def test_nothing_is_left_out(document: str, words: str) -> None:
    asked = [row.asked for row in rows(TABLES) if document in row.document]
    assert any(words in text for text in asked), f"{document} asks for {words}"


def test_the_row_test_can_fail() -> None:
    wrong = Row(
        document="none",
        asked="nothing",
        code="`core/attention.py:no_such_thing` `core/no_such_file.py:attention`",
        shown="[9 · No such part](lessons/09_search.py) [page](no-such-page.md)",
        tests="`tests/core/test_masks.py::test_of_nothing`",
    )
    assert len(unresolved(wrong)) == 5
    assert unresolved(Row("none", "nothing", "", "", "")) == [
        "no code",
        "no lesson or page",
        "no test",
    ]
