"""Sentences with a tag for each word: one sentence a line, or one word a line as in CoNLL."""

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
    """Words and their tags, as many; the sentence begins on line `line`, counted from 1."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class TaggedCorpus:
    """A file of tagged sentences, plain or compressed.

    "lines": `words<TAB>tags`, both divided by spaces. "columns": a word a line with its tag in the
    last column, divided by spaces or a TAB; an empty line ends a sentence, and "-DOCSTART-" in the
    place of a word is passed over. Without `format`, a file called .tsv has lines, others columns;
    one called .tsv whose lines hold one word and its tag each could be either, and is refused.
    A word with other white space in it, such as a no-break space, is none.
    """

    source: Path
    format: TagFormat | None = None

    @property
    def resolved_format(self) -> TagFormat:
        """The format, by the suffix where none is given."""
        return self.format or ("lines" if ".tsv" in self.source.suffixes else "columns")

    @property
    def files(self) -> list[Path]:
        """The file it is read from."""
        return [self.source]

    @property
    def name(self) -> str:
        """What messages and reports call it."""
        return str(self.source)


def read_tagged(corpus: TaggedCorpus, report: DataReport, index: int = 0) -> Iterator[TaggedText]:
    """The sentences of a corpus in file order. What has not as many tags as words, or a word
    that is none, is left out and counted in the report, under corpus `index`.

    Raises DataError for a file that cannot be read, and at the end of one that could be of either
    format.
    """
    lines = read_lines(corpus.source, lambda what, line: report.note(what, index, line, ""))
    found = _by_line(lines) if corpus.resolved_format == "lines" else _by_column(lines)
    lengths: Counter[int] = Counter()  # in words; 0 for a sentence with other than as many tags
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
            f'{corpus.name}: its lines hold one word and its tag each; set format to "columns" if '
            'an empty line ends a sentence, or to "lines" if each word is a sentence of its own'
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
    """What spaces and TABs divide: `split()` would divide at a no-break space too."""
    return tuple(re.findall(r"[^ \t]+", line))
