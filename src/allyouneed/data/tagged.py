"""Reads sentences with a tag for each word: one sentence per line, or one word per line (CoNLL)."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from allyouneed.data.lines import read_lines
from allyouneed.data.report import DataReport
from allyouneed.errors import DataError

TagFormat = Literal["lines", "columns"]
NEW_DOCUMENT = "-DOCSTART-"


@dataclass(frozen=True, slots=True)
class TaggedText:
    """The words of a sentence and a tag for each. `line` is the line on which it begins, from 1."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class TaggedCorpus:
    """A file of tagged sentences, plain or compressed.

    Format "lines": a line is `words<TAB>tags`, each separated by spaces. Format "columns": a line
    is one word with its tag in the last column, separated by spaces or a TAB; an empty line ends a
    sentence, and lines with "-DOCSTART-" as their word are skipped. Without `format`, .tsv files
    have lines and others columns. A .tsv file with one word and its tag on each line could have
    either format and is an error. A word must not contain other white space, such as a no-break
    space.
    """

    source: Path
    format: TagFormat | None = None

    @property
    def resolved_format(self) -> TagFormat:
        """The format; if none is given, it follows from the suffix."""
        return self.format or ("lines" if ".tsv" in self.source.suffixes else "columns")

    @property
    def files(self) -> list[Path]:
        """The file of the corpus."""
        return [self.source]

    @property
    def name(self) -> str:
        """The name in messages and reports."""
        return str(self.source)


def read_tagged(corpus: TaggedCorpus, report: DataReport, index: int = 0) -> Iterator[TaggedText]:
    """The sentences of a corpus in file order.

    Sentences with different numbers of words and tags, or with white space within a word, are left
    out. The report counts them under corpus `index`.

    Raises:
        DataError: the file cannot be read, or could have either format (raised at its end).
    """
    lines = read_lines(corpus.source, lambda what, line: report.note(what, index, line, ""))
    found = _by_line(lines) if corpus.resolved_format == "lines" else _by_column(lines)
    lengths: Counter[int] = Counter()  # in words; 0 if the numbers of words and tags differ
    for text in found:
        fits = len(text.words) == len(text.tags)
        lengths[len(text.words) if fits else 0] += 1
        if not fits:
            detail = f"{len(text.words)} words and {len(text.tags)} tags"
        elif divided := next((word for word in text.words if word.split() != [word]), None):
            detail = f"white space within {divided!r}"
        else:
            yield text
            continue
        report.leave_out("malformed", index, text.line, detail)
    guessed = corpus.format is None and corpus.resolved_format == "lines"
    if guessed and max(lengths, default=0) == 1 and lengths[1] > lengths[0]:
        raise DataError(
            f"{corpus.name}: each line holds one word and its tag; set format to "
            '"columns" if an empty line ends a sentence, or to "lines" if each word is a sentence'
        )


def _by_line(lines: Iterator[str]) -> Iterator[TaggedText]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            words, _, tags = line.partition("\t")
            yield TaggedText(_divided(words), _divided(tags), number)


def _by_column(lines: Iterator[str]) -> Iterator[TaggedText]:
    words: list[str] = []
    tags: list[str] = []
    begin = 1
    for number, line in enumerate(lines, start=1):
        columns = _divided(line) if line.strip() else ()
        if columns and columns[0] != NEW_DOCUMENT:
            if not words:
                begin = number
            words.append(columns[0])
            tags += columns[-1:] if len(columns) > 1 else []
        elif words:
            yield TaggedText(tuple(words), tuple(tags), begin)
            words, tags = [], []
    if words:
        yield TaggedText(tuple(words), tuple(tags), begin)


def _divided(line: str) -> tuple[str, ...]:
    """The parts of a line between spaces and TABs. `split()` also splits at no-break spaces."""
    return tuple(re.findall(r"[^ \t]+", line))
