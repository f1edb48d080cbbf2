"""`allyouneed import` of a fairseq checkpoint, and `translate` with what it becomes."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parents[1] / "interop" / "fairseq"
Call = Callable[..., Any]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """As published models lie: all in one folder."""
    path = tmp_path / "archive"
    path.mkdir()
    shutil.copy(GOLDEN / "apart.pt", path / "model.pt")
    shutil.copy(GOLDEN / "codes", path / "bpecodes")
    for language in ("en", "de"):
        shutil.copy(GOLDEN / "apart" / f"dict.{language}.txt", path)
    return path


def test_an_archive_is_imported_and_translates_raw_text(
    call: Call, archive: Path, tmp_path: Path
) -> None:
    imported = call("import", archive / "model.pt", "--into", tmp_path / "model")
    assert (imported.code, imported.out) == (0, "")
    assert imported.err.startswith(
        "note: text: Moses' rules for en and de, signs as escapes, cut at hyphens; "
        "codes of bpecodes\n"
    )
    model = ("--model", tmp_path / "model", "--engine", "core")
    translated = call("translate", *model, "A man rides a red bike.")
    assert (translated.code, translated.out) == (0, "Ein Mann fährt ein rotes Rad.\n")
    tokenized = call("tokenize", "--model", tmp_path / "model", "A man rides a red bike.")
    assert tokenized.out.splitlines()[0].split()[:2] == ["A", "man"]
    assert tokenized.out.splitlines()[1].split()[-1] == "2"


def test_what_lies_elsewhere_is_named(call: Call, tmp_path: Path) -> None:
    options = ("--dictionaries", GOLDEN / "apart", "--codes", GOLDEN / "codes")
    assert call("import", GOLDEN / "apart.pt", *options, "--into", tmp_path / "model").code == 0
    refused = call("import", GOLDEN / "apart.pt", "--into", tmp_path / "other")
    assert refused.code == 1
    assert "fairseq lacks dict.en.txt and dict.de.txt (it has no dict.*.txt)" in refused.err
    assert not (tmp_path / "other").exists()


def test_options_of_another_format(call: Call, tmp_path: Path) -> None:
    marian = ("--from", "marian", tmp_path, "--into", tmp_path / "new")
    refused = call("import", *marian, "--codes", "codes")
    assert refused.code == 2
    assert "--codes does not apply to a model from marian; leave it out" in refused.err
