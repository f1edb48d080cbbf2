"""Reads glossaries from files: tab-separated (TSV), comma-separated (CSV), and TBX."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from allyouneed.errors import AllYouNeedError, DataError
from allyouneed.translation.terms.glossary import Glossary, Term

LARGEST = 64 * 2**20  # bytes of a file
Row = tuple[int, str, str]
"""The number of a line, a source and a target."""

_EMPTY_TARGET = "for words that stay as they are, leave the target empty"


Terms = Glossary | Mapping[str, str | Sequence[str]] | str | Path
"""Terms as calls take them: a glossary, a mapping from source to target, or the path of a file."""


def glossary_from(terms: Terms, source: str = "", target: str = "") -> Glossary:
    """The glossary of a call. `source` and `target` are those of `read_glossary`.

    Raises:
        UsageError: a term is not valid, or `terms` is not of a type in `Terms`.
        DataError: the file cannot be read.
    """
    if isinstance(terms, Glossary):
        return terms
    if isinstance(terms, str | Path):
        return read_glossary(Path(terms), source, target)
    return Glossary.of(terms)


def read_glossary(path: Path, source: str = "", target: str = "") -> Glossary:
    """The glossary in a file. The ending says the format: .tsv or .txt, .csv, .tbx or .xml.

    `source` and `target` are the codes of the languages; only a TBX file can have more than two.

    Raises:
        DataError: the file does not exist or is not a glossary; the message has line and remedy.
    """
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise DataError(
                f"{path}: {size:,} bytes are too many for a glossary; the limit is {LARGEST:,}: "
                "split the file"
            )
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}; give a .tsv, .csv or .tbx") from error
    ending = path.suffix.lower()
    if ending not in READERS:
        raise DataError(
            f"{path}: {ending!r} is no kind of glossary; give a .tsv, .csv or .tbx file"
        )
    return glossary_of(str(path), READERS[ending](str(path), data, source, target))


def read_tsv(name: str, data: bytes, *_: str) -> Iterator[Row]:
    """The rows of a TSV file, whose lines are source, tab, target."""
    lines = _text(name, data).splitlines()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        source, tab, target = line.partition("\t")
        if not tab:
            raise DataError(
                f"{name}:{number}: no tab in {line[:60]!r}; write source, tab, target on a line; "
                f"{_EMPTY_TARGET}"
            )
        yield number, source, target.partition("\t")[0]


def read_csv(name: str, data: bytes, *_: str) -> Iterator[Row]:
    """The rows of a CSV file, whose lines are source, comma (or semicolon), target. Both may be
    in quotes."""
    text = _text(name, data)
    first = text.partition("\n")[0]
    delimiter = ";" if first.count(";") > first.count(",") else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise DataError(
                f"{name}:{reader.line_num}: {error}; write source{delimiter}target on a line, "
                'each in "quotes" where it has such a sign itself'
            ) from error
        if row is None:
            return
        if not any(row):
            continue
        if len(row) < 2:
            raise DataError(
                f"{name}:{reader.line_num}: one column only, {row[0][:60]!r}; write "
                f"source{delimiter}target on a line; {_EMPTY_TARGET}"
            )
        yield reader.line_num, row[0], row[1]


def read_tbx_rows(name: str, data: bytes, source: str, target: str) -> Iterator[Row]:
    """The rows of a TBX file, from two of its languages."""
    from allyouneed.translation.terms.tbx import read_tbx

    return read_tbx(name, data, source, target)


READERS: dict[str, Callable[[str, bytes, str, str], Iterator[Row]]] = {
    ".tsv": read_tsv,
    ".txt": read_tsv,
    ".csv": read_csv,
    ".tbx": read_tbx_rows,
    ".xml": read_tbx_rows,
}


def glossary_of(name: str, rows: Iterable[Row]) -> Glossary:
    """The glossary of the rows of a file. A first row "source", "target" is a heading.

    Raises:
        DataError: a row is not a valid term, or two rows translate one source differently.
    """
    found: dict[str, tuple[int, Term]] = {}
    for place, (number, source, target) in enumerate(rows):
        if not place and (source.strip().casefold(), target.strip().casefold()) == _HEADING:
            continue
        if not source.strip():
            raise DataError(
                f"{name}:{number}: no source before {target[:60]!r}; write the source's words"
            )
        try:
            term = Term.of(source, target)
        except AllYouNeedError as error:
            raise DataError(f"{name}:{number}: {error}") from error
        line, known = found.setdefault(term.source, (number, term))
        if known.forms != term.forms:
            one, other = ("|".join(each.forms) or "itself" for each in (known, term))
            raise DataError(
                f"{name}:{number}: {term.source!r} is {other} here and {one} in line {line}; leave "
                f"out one of them, or write {one}|{other} for two forms of one term"
            )
    if not found:
        raise DataError(f"{name}: no terms in it; write source, tab, target on a line")
    return Glossary(term for _, term in found.values())


_HEADING = ("source", "target")


def _text(name: str, data: bytes) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        kind = encoding.removesuffix("-sig").upper()
        raise DataError(
            f"{name}:{line}: byte {data[error.start]:#04x} is no {kind}; save the file as UTF-8"
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError(f"{name}:{line}: a zero byte; this is no text file, export it as TSV")
    return text
