"""Labelled texts: which columns are read, and what is left out."""

import gzip
from pathlib import Path

import pytest

from allyouneed.data.labelled import LabelledCorpus, LabelledText, read_labelled
from allyouneed.data.report import DataReport
from allyouneed.errors import DataError


def read(path: Path, text: str, **keys: object) -> tuple[list[LabelledText], DataReport]:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    report = DataReport([str(path)])
    return list(read_labelled(LabelledCorpus(path, **keys), report)), report  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
def test_the_header_names_the_columns(tmp_path: Path, name: str) -> None:
    found, _ = read(tmp_path / name, "label\tsentence\n1\t fine film \n0\tdull\n")
    assert found == [LabelledText(("fine film",), "1", 2), LabelledText(("dull",), "0", 3)]


def test_two_texts_have_one_label(tmp_path: Path) -> None:
    text = "id\tone\tother\tgold\n7\ta\tb\tyes\n"
    keys = {"texts": ("other", "one"), "label": "gold"}
    (found,), _ = read(tmp_path / "a.tsv", text, **keys)
    assert found == LabelledText(("b", "a"), "yes", 2)


def test_what_is_no_example_is_counted_with_its_line(tmp_path: Path) -> None:
    text = "sentence\tlabel\na\t1\nb\n\t1\nc\t \nd\t0\t0\n"
    found, report = read(tmp_path / "a.tsv", text)
    assert [one.line for one in found] == [2]
    left = {reason: [e[1] for e in tally.examples] for reason, tally in report.left_out.items()}
    assert left == {"malformed": [3, 6], "empty text": [4], "no label": [5]}


@pytest.mark.parametrize(
    ("text", "keys", "what"),
    [
        ("", {}, "is empty; its first line must name"),
        ("sentence\tlable\n", {}, r":1: no column is called 'label'; .* mean 'lable'\?"),
        ("a\tlabel\n", {"texts": ("b",)}, ":1: no column is called 'b'"),
        ("a\tb\tc\tlabel\n", {}, ":1: there are 3 columns beside 'label'"),
        ("label\n", {}, ":1: there are 0 columns beside 'label'"),
    ],
)
def test_a_header_that_does_not_fit(tmp_path: Path, text: str, keys: object, what: str) -> None:
    with pytest.raises(DataError, match=what):
        read(tmp_path / "a.tsv", text, **keys)  # type: ignore[arg-type]
