"""Tables as plain text: CSV and TSV."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

from allyouneed.documents.document import Document, Encoded, decoded, spliced
from allyouneed.documents.identifiers import is_identifier
from allyouneed.documents.messages import message
from allyouneed.errors import DataError
from allyouneed.translation.markup.nodes import Part
from allyouneed.translation.markup.passage import has_words

_SEPARATORS = ",;\t|"
_LOOKED_AT = 20  # rows from which the separator follows
_LONGEST_NAME = 40  # characters of a column's name
_WORDS_OF_A_NAME = 4


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell of a table. In the file it is the characters begin … end, with its quotes; `text` has
    no quotes around it, and single ones inside."""

    row: int
    column: int
    begin: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Form:
    """How a table is written. `separator` stands between its cells. Spreadsheets double a quote
    inside a cell in quotes (`""`); some databases put a backslash before it (`has_backslashes`)."""

    separator: str
    has_backslashes: bool = False

    def bare(self, quoted: str) -> str:
        """The text of a cell in quotes."""
        if self.has_backslashes:
            return re.sub(r'\\(["\\])|""', lambda found: found[1] or '"', quoted[1:-1])
        return quoted[1:-1].replace('""', '"')

    def quoted(self, text: str) -> str:
        """The text as a cell in quotes."""
        if self.has_backslashes:
            return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'
        return '"' + text.replace('"', '""') + '"'


def read_csv(data: bytes, keys: Collection[str] = ()) -> Document:
    """The document of a CSV file: its cells with words, or those of the columns `keys`.

    The first rows tell whether a comma, a semicolon, a tab or a bar stands between cells. Spaces
    may stand around a cell in quotes, and backslashes before the quotes inside it. The first row
    stays as it is if it names the columns. Formulas, addresses and identifiers stay, too.

    Raises:
        DataError: the file is no text, or no column has one of these names.
    """
    encoded = decoded(data)
    return _read(encoded, _form(encoded.text, _separator(encoded.text)), keys)


def read_tsv(data: bytes, keys: Collection[str] = ()) -> Document:
    """The document of a TSV file: as `read_csv`, with tabs between cells.

    Raises:
        DataError: as `read_csv`.
    """
    encoded = decoded(data)
    return _read(encoded, _form(encoded.text, "\t"), keys)


def _read(encoded: Encoded, form: _Form, keys: Collection[str]) -> Document:
    cells = list(_cells(encoded.text, form))
    names = _names([cell for cell in cells if cell.row == 0], keys)
    if missing := [key for key in keys if key not in names]:
        said = f"the columns are {', '.join(names)}" if names else "its first row names no columns"
        raise DataError(f"no column is called {missing[0]}; {said}")
    chosen = {number for number, name in enumerate(names) if name in keys}
    places: list[tuple[int, int, Part]] = []
    for cell in cells:
        is_wanted = (cell.column in chosen or not keys) and not (names and cell.row == 0)
        if not is_wanted or not has_words(cell.text):
            continue
        raw = encoded.text[cell.begin : cell.end]
        encode = partial(_written, form=form, raw=raw)
        passage = message(cell.text, raw, encode, f"row {cell.row + 1}, column {cell.column + 1}")
        if _is_text(passage.text):
            places.append((cell.begin, cell.end, passage))
    return encoded.document(spliced(encoded.text, places), _notes(names, keys))


def _notes(names: Sequence[str], keys: Collection[str]) -> list[str]:
    if not names:
        return []
    note = f"the first row stays as it is, because it names the columns: {', '.join(names)}"
    return [note if keys else f"{note}; --keys chooses those to translate"]


def _separator(text: str) -> str:
    """The sign that separates the cells of a CSV file.

    It is the sign that parts most of the first rows. Where two signs part as many, the sign that
    gives more rows the same number of cells is chosen; then the sign with fewer spaces behind it.
    A digit behind a comma counts as a space, because of numbers such as 1,50.
    """

    def how_well(sign: str) -> tuple[int, int, float]:
        first = list(takewhile(lambda cell: cell.row < _LOOKED_AT, _cells(text, _Form(sign))))
        lengths = Counter(cell.row for cell in first)
        parted = Counter(length for length in lengths.values() if length > 1)
        behind = [cell.text[:1] for cell in first if cell.column]
        unlikely = sum(one.isspace() or (sign == "," and one.isdigit()) for one in behind)
        alike = max(parted.values(), default=0)
        return parted.total(), alike, -unlikely / max(len(behind), 1)

    return max(_SEPARATORS, key=how_well)  # the comma, if none parts any row


def _form(text: str, separator: str) -> _Form:
    """The form of a table. A wrong form breaks cells apart at their quotes, so that parts of cells
    have stray quotes. The form with fewer such cells is chosen."""

    def stray(form: _Form) -> int:
        cells = ((cell, text[cell.begin : cell.end]) for cell in _cells(text, form))
        return sum('"' in raw and raw == cell.text for cell, raw in cells)

    forms = [_Form(separator), _Form(separator, has_backslashes=True)]
    return min(forms, key=stray) if '\\"' in text else forms[0]


def _cells(text: str, form: _Form) -> Iterator[_Cell]:
    sign = re.escape(form.separator)
    inside = r'[^"\\]|\\.|""' if form.has_backslashes else r'[^"]|""'
    pattern = re.compile(
        rf'(?: *+(?P<quoted>"(?:{inside})*+") *+(?=[{sign}\r\n]|\Z)|(?P<bare>[^{sign}\r\n]*+))'
        rf"(?P<end>{sign}|\r\n|\n|\r|\Z)",
        re.DOTALL,
    )
    row = column = 0
    place = len(text) - len(text.removeprefix("\ufeff"))
    while place < len(text):
        match = pattern.match(text, place)
        assert match is not None  # every text begins with a cell, if only with an empty one
        quoted = match["quoted"]
        begin, end = match.span("bare" if quoted is None else "quoted")
        value = match["bare"] if quoted is None else form.bare(quoted)
        yield _Cell(row, column, begin, end, value)
        place = match.end()
        row, column = (row, column + 1) if match["end"] == form.separator else (row + 1, 0)


def _names(first: Sequence[_Cell], keys: Collection[str]) -> list[str]:
    """The names of the columns, from the first row; no names if that row holds data. A first row
    with one of the `keys` holds names, whatever its other cells look like."""
    names = [cell.text.strip() for cell in first]
    if any(key in names for key in keys):
        return names
    are_names = len(names) > 1 and any(names) and all(map(_is_name, names))
    return names if are_names else []


def _is_name(text: str) -> bool:
    """Whether a cell of the first row may be the name of a column: an empty cell may, and so may a
    short text that is no number and does not end in a stop."""
    is_short = len(text) <= _LONGEST_NAME and len(text.split()) <= _WORDS_OF_A_NAME
    return not text or (is_short and has_words(text) and not text.endswith((".", "!", ",")))


def _is_text(text: str) -> bool:
    """Whether the text of a cell, without its tags, is no formula, address or identifier."""
    bare = text.strip()
    return has_words(bare) and not bare.startswith("=") and not is_identifier(bare)


def _written(text: str, form: _Form, raw: str) -> str:
    """The new text of a cell, in quotes if it needs them or if the old one, `raw`, had some."""
    is_quoted = raw[:1] == raw[-1:] == '"'
    needs_quotes = text[:1] == '"' and raw[:1] != '"'
    if is_quoted or needs_quotes or any(sign in text for sign in (form.separator, "\n", "\r")):
        return form.quoted(text)
    return text
