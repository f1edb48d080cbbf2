"""Reads the files that are given to a verb: pairs of sentences, or sentences."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from allyouneed.cli.output import note
from allyouneed.errors import DataError, UsageError

if TYPE_CHECKING:
    from allyouneed.data.corpus import Corpus, Pair
    from allyouneed.data.report import DataReport
    from allyouneed.text.conversation import History


def file_pairs(
    source: Path | None, target: Path | None, tsv: Path | None, other: str = "--target"
) -> Iterator["Pair"]:
    """The pairs of two parallel files, or of one file with lines of source, tab, target. A
    malformed line is an error.

    A relative path is looked for in the working directory and in the data folder
    ($ALLYOUNEED_DATA). A note tells about removed byte order marks and carriage returns. `other` is
    the option that names the file of the second side.

    Raises:
        UsageError: both `tsv` and other files are given, or neither.
        DataError: a file cannot be read, or the files have different numbers of lines; the message
            names the place.
    """
    from allyouneed.data.corpus import Corpus

    if tsv and not (source or target):
        corpus = Corpus(source=_found(tsv), format="tsv")
    elif source and target and not tsv:
        corpus = Corpus(source=_found(source), target=_found(target), format="text")
    elif tsv:
        raise UsageError("--tsv is a file of both sides; leave the files of single sides out")
    else:
        there = (
            f"{source or target} is one side, but the other side is missing; "
            if source or target
            else ""
        )
        raise UsageError(
            f"{there}name two files, one for each side (--source and {other}), or one by --tsv"
        )
    yield from _every_pair(corpus)


def conversation_pairs(path: Path, history: "History", spaced: bool) -> Iterator["Pair"]:
    """(turns before, reply) from a file with lines of turn, tab, reply; otherwise as
    `file_pairs`."""
    from allyouneed.data.corpus import Corpus

    yield from _every_pair(Corpus(source=_found(path), history=history, spaced=spaced))


def file_lines(path: Path) -> list[str]:
    """The lines of one file, read and checked as by `file_pairs`."""
    from allyouneed.data.lines import read_lines
    from allyouneed.data.report import DataReport

    report = DataReport([str(path)])
    lines = list(read_lines(_found(path), lambda what, line: report.note(what, 0, line, "")))
    _tell(report)
    return lines


def _every_pair(corpus: "Corpus") -> Iterator["Pair"]:
    from allyouneed.data.readers import read_pairs
    from allyouneed.data.report import DataReport

    report = DataReport([corpus.name])
    for pair in read_pairs(corpus, report):
        _refuse_left_out(report)
        yield pair
    _refuse_left_out(report)
    _tell(report)


def _found(path: Path) -> Path:
    from allyouneed.data.root import resolve

    return resolve(path, Path.cwd())


def _refuse_left_out(report: "DataReport") -> None:
    """Raises DataError for the first malformed line. Training would skip it, but here every line
    needs a result."""
    for tally in report.left_out.values():
        _, line, detail = tally.examples[0]
        raise DataError(f"{report.corpora[0]}:{line}: {detail}")


def _tell(report: "DataReport") -> None:
    for what, tally in report.notes.items():
        first = tally.examples[0][1]
        note(f"{report.corpora[0]}: {what} ({tally.count:,} times, first in line {first})")
