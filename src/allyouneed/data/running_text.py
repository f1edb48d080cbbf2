"""Running text, such as books: hard-wrapped lines become paragraphs, and these sentences."""

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
    """A text file, plain or compressed: one text that runs on, such as a book.

    `part` is what of it is read: of "beginning" and "end", the end is the last `held_out` of its
    lines, from the first paragraph on that begins among them.
    """

    source: Path
    part: Part = "all"
    held_out: float = 0.0

    @property
    def files(self) -> list[Path]:
        """The file it is read from."""
        return [self.source]

    @property
    def name(self) -> str:
        """What messages and reports call it."""
        return str(self.source)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """The sentences of a paragraph, which begins on line `line`, counted from 1."""

    sentences: tuple[str, ...]
    line: int


def text_files(corpus: TextCorpus) -> list[TextCorpus]:
    """The corpus itself, or one for every file when its source is a folder, by name; files whose
    names begin with "." or "_" are passed over.

    Raises DataError for a folder without a file.
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
        raise DataError(f"{corpus.source} holds no file; put the texts there, or leave it out")
    return [replace(corpus, source=path) for path in files]


def read_paragraphs(corpus: TextCorpus, report: DataReport, index: int = 0) -> Iterator[Paragraph]:
    """The paragraphs of a text in order: empty lines divide them, and their lines are joined, so
    that where lines were broken does not matter.

    What was taken off in reading is noted in the report, under corpus `index`. Raises DataError for
    a file that cannot be read.
    """
    first_held_out = _first_held_out(corpus)
    for lines, begin in _blocks(corpus, report, index):
        if corpus.part == "all" or (corpus.part == "end") == (begin >= first_held_out):
            sentences = (one.strip() for one in split_sentences(" ".join(lines)))
            yield Paragraph(tuple(filter(None, sentences)), begin)


def _first_held_out(corpus: TextCorpus) -> float:
    """The line from which on paragraphs are held out."""
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
