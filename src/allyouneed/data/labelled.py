"""Reads texts with a label from TSV files whose first line names the columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from allyouneed.data.lines import read_lines
from allyouneed.data.report import DataReport
from allyouneed.errors import DataError, nearest


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text, or a pair of texts, with a label. `line` is the line in the file, from 1."""

    texts: tuple[str, ...]
    label: str
    line: int


@dataclass(frozen=True, slots=True)
class LabelledCorpus:
    """A TSV file, plain or compressed, with a header line.

    `label` names the column of the labels, `texts` one or two columns of text. If `texts` is empty,
    all columns except the label's are texts.
    """

    source: Path
    texts: tuple[str, ...] = ()
    label: str = "label"

    @property
    def files(self) -> list[Path]:
        """The file of the corpus."""
        return [self.source]

    @property
    def name(self) -> str:
        """The name in messages and reports."""
        return str(self.source)


def read_labelled(
    corpus: LabelledCorpus, report: DataReport, index: int = 0
) -> Iterator[LabelledText]:
    """The texts of a corpus in file order.

    Lines with another number of columns than the header, with an empty text or without a label are
    left out. The report counts them under corpus `index`.

    Raises:
        DataError: the file cannot be read, or its header lacks a column.
    """
    lines = read_lines(corpus.source, lambda what, line: report.note(what, index, line, ""))
    header = next(lines, None)
    if header is None:
        raise DataError(f"{corpus.source} is empty; its first line must name the columns")
    names = header.split("\t")
    label, texts = _columns(corpus, names)
    for number, line in enumerate(lines, start=2):
        columns = line.split("\t")
        if len(columns) != len(names):
            detail = f"has {len(columns)} columns, not the {len(names)} of the header"
            report.leave_out("malformed", index, number, detail)
        elif not columns[label].strip():
            report.leave_out("no label", index, number, "")
        elif not all(columns[text].strip() for text in texts):
            report.leave_out("empty text", index, number, "")
        else:
            found = tuple(columns[text].strip() for text in texts)
            yield LabelledText(found, columns[label].strip(), number)


def _columns(corpus: LabelledCorpus, names: Sequence[str]) -> tuple[int, list[int]]:
    """The number of the label's column, and the numbers of the texts' columns."""
    for wanted in (corpus.label, *corpus.texts):
        if wanted not in names:
            close = nearest(wanted, names)
            raise DataError(
                f"{corpus.source}:1: no column is called {wanted!r}; the header names "
                + ", ".join(map(repr, names[:8]))
                + (f"; did you mean {close!r}?" if close else "")
            )
    label = names.index(corpus.label)
    texts = [names.index(text) for text in corpus.texts]
    texts = texts or [number for number in range(len(names)) if number != label]
    if len(texts) not in (1, 2):
        raise DataError(
            f"{corpus.source}:1: there are {len(texts)} columns beside {corpus.label!r}, but a "
            'label belongs to one or two texts; name their columns with texts = ["..."]'
        )
    return label, texts
