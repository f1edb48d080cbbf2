"""Normalisers: they rewrite a typed text in the form that the model was trained on.

The same word can be typed in many ways: with curly quotes and apostrophes, no-break spaces, soft
hyphens, decomposed accents. A model that saw one form in training translates the other forms badly.
A normaliser writes every text in one form and records where each character was typed.
`dressing.py` puts the target language's quotes, apostrophes and dashes into the translation.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from allyouneed.errors import UsageError, nearest
from allyouneed.text.capitals import in_capitals, in_small_letters, is_word_in_capitals
from allyouneed.text.dressing import Dresser
from allyouneed.text.edges import Edges, edges_of
from allyouneed.text.full_width import SUSPECT, in_usual_width


@dataclass(frozen=True, slots=True)
class Plain:
    """A normalised text, and where its characters come from in the typed text.

    `places[i]` is the index of the first typed character that text[i] stands for. One more entry
    is the end of the last one. None means that both texts are equal.
    """

    text: str
    places: Sequence[int] | None = None

    def part(self, begin: int, end: int) -> "Plain":
        """The characters `begin` to `end`, in the same typed text."""
        places = range(len(self.text) + 1) if self.places is None else self.places
        return Plain(self.text[begin:end], places[begin : end + 1])

    def changed(self, changes: Iterable[tuple[int, int, str]]) -> "Plain":
        """The text with `new` for text[begin:end] in each (begin, end, new)."""
        places = range(len(self.text) + 1) if self.places is None else self.places
        return Plain(*_rewritten(self.text, places, changes))

    def typed(self, begin: int, end: int) -> tuple[int, int]:
        """The span (begin, end) of the typed characters that text[begin:end] stands for."""
        if self.places is None:
            return begin, end
        first = self.places[begin]
        return first, max(first, self._end(end)) if end > begin else first

    def _end(self, end: int) -> int:
        """The end, in the typed text, of the character before `end`."""
        # Several characters of `text` may stand for one typed character: its end is the next place
        # that differs.
        assert self.places is not None
        last = self.places[end - 1]
        return self.places[bisect_right(self.places, last, lo=end - 1, hi=len(self.places) - 1)]


class Normaliser(Protocol):
    """The rules by which texts are rewritten for a model. The model's folder gives their `name`."""

    name: str | None

    def lines(self, text: str) -> list[tuple[str, str]]:
        """Pairs (line, line end) of a text. Joined, they are the text; the last line end is ""."""

    def plain(self, text: str) -> Plain:
        """The normalised form of a line or of a part of one."""

    def edges(self, plain: str) -> Edges | None:
        """The edges of a normalised part, which need no translation. None if no character of the
        part needs one."""

    def small(self, plain: str) -> str | None:
        """A normalised line in capitals, in small letters; None if the line is not in capitals.

        The search tries both forms and writes the result in capitals.
        """

    def dresser(self, source: str, language: str, exact: str = "") -> Dresser:
        """A `Dresser` for translations of `source` into `language`, whose first text keeps its
        beginning `exact` unchanged."""


class AsTyped:
    """No changes: the model reads the text as it was typed. Only "\\n" ends a line."""

    name: str | None = None

    def lines(self, text: str) -> list[tuple[str, str]]:
        *ended, last = text.split("\n")
        return [*((line, "\n") for line in ended), (last, "")]

    def plain(self, text: str) -> Plain:
        return Plain(text)

    def edges(self, plain: str) -> Edges | None:
        return Edges(0, 0, len(plain), len(plain))

    def small(self, plain: str) -> str | None:
        return None

    def dresser(self, source: str, language: str, exact: str = "") -> Dresser:
        return Dresser("", "")  # a source without marks: the Dresser changes nothing


AS_TYPED = AsTyped()

DOUBLE_QUOTES = "“”„‟«»″＂〝〞"
SINGLE_QUOTES = "‘’‚‛‹›′ʼ´"
HYPHENS = "‐‑‒–—―−﹣－"  # dashes and the minus among them
SPELT_OUT = {
    "…": "...",
    "ﬀ": "ff",
    "ﬁ": "fi",
    "ﬂ": "fl",
    "ﬃ": "ffi",
    "ﬄ": "ffl",
    "ﬅ": "st",
    "ﬆ": "st",
}
SPACES = " \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
LINE_ENDS = "\n\v\f\r\x1c-\x1e\x85\u2028\u2029"  # as `str.splitlines` has them
ENDS = "\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"
# Invisible characters: soft hyphens, zero-width spaces, marks of direction and of byte order. The
# zero-width joiner is not among them, because it holds the parts of an emoji together.
UNSEEN = "\u00ad\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"

_WRITTEN: dict[str, str] = {
    **dict.fromkeys(DOUBLE_QUOTES, '"'),
    **dict.fromkeys(SINGLE_QUOTES, "'"),
    **dict.fromkeys(HYPHENS, "-"),
    **SPELT_OUT,
}
_CHANGED = re.compile(
    # a French guillemet, with the space inside: in German "»" opens, and "«" closes
    rf"(?P<quote>(?<![^\s(\[{{'’—–-])«[{SPACES}]+|[{SPACES}]+»(?![^\s.,;:!?)\]}}…—–-]))"
    r"|(?P<dash>(?<=\w)[—―](?=\w))"  # between words, without spaces
    # a run of spaces, or one that is not the plain one
    rf"|(?P<space>[{UNSEEN}]+[{SPACES}{LINE_ENDS}][{SPACES}{LINE_ENDS}{UNSEEN}]*"
    rf"|[{SPACES}{LINE_ENDS}][{SPACES}{LINE_ENDS}{UNSEEN}]+|(?! )[{SPACES}{LINE_ENDS}])"
    rf"|(?P<unseen>[{UNSEEN}]+)"
    rf"|(?P<mark>[{''.join(_WRITTEN)}])"
)
_STOP_BEFORE_LETTER = re.compile(r"[.!?][^\W\d_]")
_GLUED = re.compile(
    r"(?<=[^\W\d_]\.\.\.)(?=[^\W\d_])"  # after an ellipsis between two words
    # between two sentences: "I know.Do you?", but not in "com.example.App" or "Foo.Bar()"
    r"|(?:^[A-ZÀ-Þ]|(?<![\w.]))[a-zß-ÿ]++[.!?](?=[A-ZÀ-Þ][a-zß-ÿ]*+(?!\w|\.\w|\())"
)
_SUSPECT = re.compile(f"[{''.join(_WRITTEN)}{UNSEEN}{SPACES.strip(' ')}{LINE_ENDS}{SUSPECT}]")
_IN_PLACE_OF: dict[str, Callable[[str], str]] = {
    "quote": lambda _: '"',
    "dash": lambda _: " - ",
    "space": lambda _: " ",
    "unseen": lambda _: "",
    "mark": _WRITTEN.__getitem__,
}


class PlainMarks:
    """Quotes, apostrophes, dashes and spaces become those of a plain keyboard.

    Typographic quotes, guillemets and apostrophes become " and ', without the spaces inside of
    French guillemets. Dashes and the minus sign become "-" (with spaces around it for a long dash
    between two words). The ellipsis becomes three full stops (with a space after it between two
    words), and ligatures become their letters. Every run of spaces of any kind becomes one space.
    Invisible characters are removed. Full-width letters and digits become plain ones; full-width
    signs do, too, in a text without Chinese, Japanese or Korean. Accents are combined with their
    letters (Unicode's form NFC). Line ends are those of Unicode. A space is put between two
    sentences that lack it ("I know.Do you?"). A text without any of these is returned unchanged. A
    tab between the cells of a table ends a line, too.
    """

    name: str | None = "plain-marks"

    def lines(self, text: str) -> list[tuple[str, str]]:
        found = []
        for line in text.splitlines(keepends=True):
            bare = line.rstrip(ENDS)
            *cells, last = bare.split("\t") if _is_table_row(bare) else [bare]
            found += [(cell, "\t") for cell in cells]
            found.append((last, line[len(bare) :]))
        return found if found and not found[-1][1] else [*found, ("", "")]

    def plain(self, text: str) -> Plain:
        if _is_plain(text):
            return Plain(text)
        written, places = _composed(text, range(len(text) + 1))
        written, places = _rewritten(written, places, in_usual_width(written))
        written, places = _rewritten(written, places, map(_change, _CHANGED.finditer(written)))
        # A removed invisible character may have stood between a letter and its accent.
        written, places = _composed(written, places)
        glued = ((match.end(), match.end(), " ") for match in _GLUED.finditer(written))
        written, places = _rewritten(written, places, glued)
        begin, end = len(written) - len(written.lstrip()), len(written.rstrip())
        return Plain(written[begin:end], places[begin : end + 1] if begin <= end else places[-1:])

    def edges(self, plain: str) -> Edges | None:
        return edges_of(plain)

    def small(self, plain: str) -> str | None:
        capitals = in_capitals(plain) or is_word_in_capitals(plain)
        return in_small_letters(plain) if capitals else None

    def dresser(self, source: str, language: str, exact: str = "") -> Dresser:
        return Dresser(source, language, exact)


NORMALISERS: dict[str, type[Normaliser]] = {"plain-marks": PlainMarks}


def normaliser_named(name: str | None) -> Normaliser:
    """The normaliser of this name; None gives `AS_TYPED`.

    Raises:
        UsageError: no normaliser has this name. The message lists the known ones.
    """
    if name is None:
        return AS_TYPED
    if name not in NORMALISERS:
        guess = nearest(name, NORMALISERS)
        raise UsageError(
            f"there is no normaliser {name!r}"
            + (f"; did you mean {guess}?" if guess else f"; known: {', '.join(NORMALISERS)}")
        )
    return NORMALISERS[name]()


def _is_table_row(line: str) -> bool:
    """Whether the tabs in a line separate the cells of a table: it is no sentence with an end."""
    bare = line.strip()
    return "\t" in bare and not bare.endswith((".", "!", "?"))


def _is_plain(text: str) -> bool:
    return (
        "  " not in text
        and _SUSPECT.search(text) is None  # faster than searching for _CHANGED
        and (_STOP_BEFORE_LETTER.search(text) is None or _GLUED.search(text) is None)
        and text.strip() == text
        and unicodedata.is_normalized("NFC", text)
    )


def _change(found: re.Match[str]) -> tuple[int, int, str]:
    assert found.lastgroup is not None
    return found.start(), found.end(), _IN_PLACE_OF[found.lastgroup](found[0])


def _composed(text: str, places: Sequence[int]) -> tuple[str, Sequence[int]]:
    """The text in Unicode's form NFC, with its places."""
    if unicodedata.is_normalized("NFC", text):
        return text, places
    return _rewritten(text, places, _clusters(text))


def _clusters(text: str) -> Iterator[tuple[int, int, str]]:
    """(begin, end, composed) of each letter with its accents, or of each Korean syllable."""
    begin = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and (
            unicodedata.combining(text[end]) or "\u1160" <= text[end] <= "\u11ff"
        ):
            continue
        yield begin, end, unicodedata.normalize("NFC", text[begin:end])
        begin = end


def _rewritten(
    text: str, places: Sequence[int], changes: Iterable[tuple[int, int, str]]
) -> tuple[str, list[int]]:
    """The text with `new` for text[begin:end] in each (begin, end, new), and its places."""
    pieces: list[str] = []
    kept: list[int] = []
    done = 0
    for begin, end, new in changes:
        pieces += (text[done:begin], new)
        kept += places[done:begin]
        kept += [places[begin]] * len(new)
        done = end
    return "".join([*pieces, text[done:]]), [*kept, *places[done:]]
