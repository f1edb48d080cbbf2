"""Running text: paragraphs and sentences out of wrapped lines, and the pages held out."""

from pathlib import Path

import pytest

from allyouneed.data.report import DataReport
from allyouneed.data.running_text import Paragraph, TextCorpus, read_paragraphs, text_files
from allyouneed.errors import DataError


def read(corpus: TextCorpus) -> list[Paragraph]:
    return list(read_paragraphs(corpus, DataReport([corpus.name])))


def test_where_lines_are_broken_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text("\n\nShe was  young.\nHer mother\nhad died. So\n\n  \nEnd\n", encoding="utf-8")
    assert read(TextCorpus(path)) == [
        Paragraph(("She was young.", "Her mother had died.", "So"), 3),
        Paragraph(("End",), 8),
    ]
    (tmp_path / "long.txt").write_text("She was young. Her mother had died. So\n\nEnd")
    other = read(TextCorpus(tmp_path / "long.txt"))
    assert [one.sentences for one in other] == [one.sentences for one in read(TextCorpus(path))]


def test_beginning_and_end_are_the_whole_book(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text("".join(f"Line {n}\nof it.\n\n" for n in range(40)), encoding="utf-8")
    beginning, end = (
        read(TextCorpus(path, part=part, held_out=0.25))  # type: ignore[arg-type]
        for part in ("beginning", "end")
    )
    assert beginning + end == read(TextCorpus(path))
    assert len(end) == 10
    assert all(one.line > 0.75 * 120 for one in end)


def test_a_folder_is_its_files_by_name(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", ".hidden", "_about.txt"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "c.txt").write_text("c", encoding="utf-8")
    found = text_files(TextCorpus(tmp_path, part="end", held_out=0.1))
    assert [one.source.name for one in found] == ["a.txt", "b.txt", "c.txt"]
    assert {(one.part, one.held_out) for one in found} == {("end", 0.1)}
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="empty has no files"):
        text_files(TextCorpus(tmp_path / "empty"))
