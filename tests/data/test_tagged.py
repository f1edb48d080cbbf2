"""Tagged sentences: both formats, and what has not as many tags as words."""

from pathlib import Path

import pytest

from allyouneed.data.report import DataReport
from allyouneed.data.tagged import TaggedCorpus, TaggedText, read_tagged
from allyouneed.errors import DataError


def read(path: Path, text: str) -> tuple[list[TaggedText], DataReport]:
    path.write_text(text, encoding="utf-8")
    report = DataReport([str(path)])
    return list(read_tagged(TaggedCorpus(path), report)), report


def test_a_sentence_on_a_line(tmp_path: Path) -> None:
    found, report = read(tmp_path / "a.tsv", "EU rejects\tB-ORG O\n\nall\tO\n")
    assert found == [
        TaggedText(("EU", "rejects"), ("B-ORG", "O"), 1),
        TaggedText(("all",), ("O",), 3),
    ]
    assert not report.left_out


def test_a_word_on_a_line(tmp_path: Path) -> None:
    text = "-DOCSTART- -X- O\n\nEU NNP B-ORG\nrejects VBZ O\n\n\nall\tO"
    found, _ = read(tmp_path / "a.conll", text)
    assert found == [
        TaggedText(("EU", "rejects"), ("B-ORG", "O"), 3),
        TaggedText(("all",), ("O",), 7),
    ]


@pytest.mark.parametrize("name", ["a.tsv", "a.conll"])
def test_a_word_with_a_no_break_space_is_left_out_and_counted(tmp_path: Path, name: str) -> None:
    """Nothing after the training would see it as one word."""
    columns = "10\u00a0000 NUM\neuros N\n \u00a0\nyes O\n"
    lines = "10\u00a0000 euros\tNUM N\n\u00a0\nyes\tO\n"
    found, report = read(tmp_path / name, lines if name.endswith("tsv") else columns)
    assert [(one.words, one.tags) for one in found] == [(("yes",), ("O",))]
    (example,) = report.left_out["malformed"].examples
    assert example[1:] == (1, r"white space within '10\xa0000'")


def test_words_without_tags_are_left_out_and_counted(tmp_path: Path) -> None:
    found, report = read(tmp_path / "a.tsv", "a b\tO\nc\tO\nd\n")
    assert [one.line for one in found] == [2]
    assert [e[1:] for e in report.left_out["malformed"].examples] == [
        (1, "2 words and 1 tags"),
        (3, "1 words and 0 tags"),
    ]
    found, report = read(tmp_path / "a.conll", "a O\nb\n\nc O\n")
    assert [one.line for one in found] == [4]
    assert report.left_out["malformed"].count == 1


@pytest.mark.parametrize("more", ["", "New York\tB-LOC\n", "and\n", "10\u00a0000\tNUM\n"])
def test_a_tsv_with_one_word_on_every_line_is_of_neither_format_until_one_is_named(
    tmp_path: Path, more: str
) -> None:
    text = f"EU\tB-ORG\nrejects\tO\n\nall\tO\n\n{more}"
    with pytest.raises(
        DataError, match=r'a\.tsv: .*one word and its tag.*set format to "columns".*"lines" if'
    ):
        read(tmp_path / "a.tsv", text)
    report = DataReport(["a"])
    columns = read_tagged(TaggedCorpus(tmp_path / "a.tsv", "columns"), report)
    assert next(columns) == TaggedText(("EU", "rejects"), ("B-ORG", "O"), 1)
    lines = read_tagged(TaggedCorpus(tmp_path / "a.tsv", "lines"), report)
    assert [one.words for one in lines] == [("EU",), ("rejects",), ("all",)]
