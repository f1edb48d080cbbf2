"""Tables as plain text: CSV and TSV."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from allyouneed.documents.document import Document, decoded, spliced
from allyouneed.documents.messages import message
from allyouneed.errors import DataError
from allyouneed.translation.markup.nodes import Part
from allyouneed.translation.markup.passage import has_words

_SEPARATORS = ",;\t|"
_LOOKED_AT = 20  # rows from which the separator follows
_LONGEST_NAME = 40  # characters of a column's name
_LONGEST_WORD = 60  # characters; a longer one is data, such as a picture in base 64
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_IDENTIFIER = re.compile(
    r"\w+://\S*|\w*[@_\\]\S*|[A-Z]+[-/]?\d[\w-]*|\w+(?:\.\w+){2,}|[\w/.-]*/[\w/.-]*/[\w/.-]*"
    r"|\S+\.[a-z]\w{1,4}"
)


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell: its characters begin … end in the file, with quotes if it has some."""

    row: int
    column: int
    begin: int
    end: int
    text: str


def read_csv(data: bytes, keys: Collection[str] = ()) -> Document:
    """The document of a CSV file: its cells with words, or those of the columns `keys`.

    The first rows tell whether a comma, a semicolon, a tab or a bar stands between cells. The first
    row stays as it is if it names the columns. Formulas, addresses and identifiers stay, too.

    Raises:
        DataError: the file is no text, or no column has one of these names.
    """
    text = decoded(data).text
    return _read(data, _separator(text), keys)


def read_tsv(data: bytes, keys: Collection[str] = ()) -> Document:
    """The document of a TSV file: as `read_csv`, with tabs between cells.

    Raises:
        DataError: as `read_csv`.
    """
    return _read(data, "\t", keys)


def _read(data: bytes, separator: str, keys: Collection[str]) -> Document:
    encoded = decoded(data)
    cells = list(_cells(encoded.text, separator))
    names = _names([cell for cell in cells if cell.row == 0], keys)
    if missing := [key for key in keys if key not in names]:
        said = f"the columns are {', '.join(names)}" if names else "its first row names no columns"
        raise DataError(f"no column is called {missing[0]}; {said}")
    chosen = {number for number, name in enumerate(names) if name in keys}
    places: list[tuple[int, int, Part]] = []
    for cell in cells:
        is_wanted = (cell.column in chosen or not keys) and not (names and cell.row == 0)
        if is_wanted and _is_text(cell.text):
            raw = encoded.text[cell.begin : cell.end]
            encode = partial(_written, separator=separator, raw=raw)
            where = f"row {cell.row + 1}, column {cell.column + 1}"
            places.append((cell.begin, cell.end, message(cell.text, raw, encode, where)))
    return encoded.document(spliced(encoded.text, places), _notes(names, keys))


def _notes(names: Sequence[str], keys: Collection[str]) -> list[str]:
    if not names:
        return []
    note = f"the first row stays as it is, because it names the columns: {', '.join(names)}"
    return [note if keys else f"{note}; --keys chooses those to translate"]


def _separator(text: str) -> str:
    """The sign that parts most of the first rows; of several such signs the one that parts most of
    them into the same number of cells, then the one without spaces after it. Else the comma."""

    def how_well(sign: str) -> tuple[int, int, float]:
        counts: dict[int, int] = {}
        spaced = parted = 0
        for cell in _cells(text, sign):
            if cell.row == _LOOKED_AT:
                break
            counts[cell.row] = cell.column + 1
            if cell.column:
                parted += 1
                spaced += cell.text[:1].isspace() or (sign == "," and cell.text[:1].isdigit())
        rows = [count for count in counts.values() if count > 1]
        alike = max(map(rows.count, rows), default=0)
        return len(rows), alike, -spaced / max(parted, 1)

    return max(_SEPARATORS, key=how_well)


def _cells(text: str, separator: str) -> Iterator[_Cell]:
    sign = re.escape(separator)
    pattern = re.compile(
        rf'(?:(?P<quoted>"(?:[^"]|"")*+")(?=[{sign}\r\n]|\Z)|(?P<bare>[^{sign}\r\n]*+))'
        rf"(?P<end>{sign}|\r\n|\n|\r|\Z)"
    )
    row = column = 0
    place = len(text) - len(text.removeprefix("\ufeff"))
    while place < len(text):
        match = pattern.match(text, place)
        assert match is not None  # every text begins with a cell, if only with an empty one
        quoted = match["quoted"]
        begin, end = match.span("bare" if quoted is None else "quoted")
        value = match["bare"] if quoted is None else quoted[1:-1].replace('""', '"')
        yield _Cell(row, column, begin, end, value)
        place = match.end()
        row, column = (row, column + 1) if match["end"] == separator else (row + 1, 0)


def _names(first: Sequence[_Cell], keys: Collection[str]) -> list[str]:
    """The names of the columns; empty if the first row is a row like the others. A row that holds
    one of the wanted `keys` names columns, whatever the rest of it looks like."""
    names = [cell.text.strip() for cell in first]
    if any(key in names for key in keys):
        return names
    are_names = len(names) > 1 and any(names) and all(map(_is_name, names))
    return names if are_names else []


def _is_name(text: str) -> bool:
    """Whether a cell may name a column: it is empty, or short, without an end mark, no number."""
    is_short = (
        len(text) <= _LONGEST_NAME and len(text.split()) <= 4 and text[-1:] not in list(".!,")
    )
    return not text or (is_short and has_words(text))


def _is_text(text: str) -> bool:
    """Whether a cell has words to translate, and is no formula, address or identifier."""
    bare = _TAG.sub("", text).strip()
    if not has_words(bare) or bare.startswith("="):
        return False
    if any(map(str.isspace, bare)):
        return True
    return len(bare) <= _LONGEST_WORD and not _IDENTIFIER.fullmatch(bare)


def _written(text: str, separator: str, raw: str) -> str:
    """A cell's text; in quotes if the cell had some, or if it needs them now."""
    is_quoted = raw[:1] == raw[-1:] == '"'
    needs_quotes = text[:1] == '"' and raw[:1] != '"'
    if is_quoted or needs_quotes or any(sign in text for sign in (separator, "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text
