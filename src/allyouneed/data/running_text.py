"""Reads running text, such as books: joins lines into paragraphs, and splits the paragraphs into
sentences."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from allyouneed.data.lines import read_lines
from allyouneed.data.report import DataReport
from allyouneed.errors import DataError
from allyouneed.text.sentences import split_sentences

Part = Literal["all", "beginning", "end"]


@dataclass(frozen=True, slots=True)
class TextCorpus:
    """A text file, plain or compressed, with one long text such as a book.

    `part` says which part of the file is read. The "end" begins with the first paragraph in the
    last share `held_out` of the lines; the "beginning" is the text before it.
    """

    source: Path
    part: Part = "all"
    held_out: float = 0.0

    @property
    def files(self) -> list[Path]:
        """The file of the corpus."""
        return [self.source]

    @property
    def name(self) -> str:
        """The name in messages and reports."""
        return str(self.source)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """The sentences of a paragraph. `line` is the line on which it begins, from 1."""

    sentences: tuple[str, ...]
    line: int


def text_files(corpus: TextCorpus) -> list[TextCorpus]:
    """The corpus itself, or, if its source is a folder, one corpus for every file, ordered by name.
    Files whose names begin with "." or "_" are skipped.

    Raises:
        DataError: the folder has no file.
    """
    if not corpus.source.is_dir():
        return [corpus]
    inside = sorted(path for path in corpus.source.rglob("*") if path.is_file())
    files = [
        path
        for path in inside
        if not any(name.startswith((".", "_")) for name in path.relative_to(corpus.source).parts)
    ]
    if not files:
        raise DataError(f"{corpus.source} has no files; put the texts there, or leave it out")
    return [replace(corpus, source=path) for path in files]


def read_paragraphs(corpus: TextCorpus, report: DataReport, index: int = 0) -> Iterator[Paragraph]:
    """The paragraphs of a text in order. Empty lines separate paragraphs; the lines of a paragraph
    are joined, so that line breaks do not matter.

    The report counts removed byte order marks and carriage returns under corpus `index`.

    Raises:
        DataError: the file cannot be read.
    """
    first_held_out = _first_held_out(corpus)
    for lines, begin in _blocks(corpus, report, index):
        if corpus.part == "all" or (corpus.part == "end") == (begin >= first_held_out):
            sentences = (one.strip() for one in split_sentences(" ".join(lines)))
            yield Paragraph(tuple(filter(None, sentences)), begin)


def _first_held_out(corpus: TextCorpus) -> float:
    """The first line of the part that is held out."""
    if corpus.part == "all":
        return 0
    count = sum(1 for _ in read_lines(corpus.source, lambda what, line: None))
    return 1 + (1 - corpus.held_out) * count


def _blocks(corpus: TextCorpus, report: DataReport, index: int) -> Iterator[tuple[list[str], int]]:
    lines: list[str] = []
    begin = 1
    read = read_lines(corpus.source, lambda what, line: report.note(what, index, line, ""))
    for number, line in enumerate(read, start=1):
        if text := " ".join(line.split()):
            if not lines:
                begin = number
            lines.append(text)
        elif lines:
            yield lines, begin
            lines = []
    if lines:
        yield lines, begin
