"""Text as a model has learnt to read it, with the place of every character in what was typed.

People type one word in many ways: with the curly quotes and apostrophes of phones and Word, with
no-break spaces, soft hyphens, decomposed accents. A model that saw one form in training takes the
others for unknown text. A normaliser writes every text in one form; `dressing.py` gives the
translation the marks of its own language back.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from allyouneed.errors import UsageError, nearest
from allyouneed.text.capitals import in_capitals, in_small_letters
from allyouneed.text.dressing import Dresser


@dataclass(frozen=True, slots=True)
class Plain:
    """What the model reads of a text.

    `places` has, for each character of `text`, where in the typed text the characters begin that it
    stands for, and one number more, where the last of them ends; None where the texts are the same.
    """

    text: str
    places: Sequence[int] | None = None

    def typed(self, begin: int, end: int) -> tuple[int, int]:
        """The characters of the typed text, begin and end, that text[begin:end] stands for."""
        if self.places is None:
            return begin, end
        first = self.places[begin]
        return first, max(first, self._end(end)) if end > begin else first

    def _end(self, end: int) -> int:
        """Where in the typed text the character before `end` ends: one typed character may stand
        for several."""
        assert self.places is not None
        last = self.places[end - 1]
        return self.places[bisect_right(self.places, last, lo=end - 1, hi=len(self.places) - 1)]


class Normaliser(Protocol):
    """A way to write texts for a model; the model's folder has its `name`, or none."""

    name: str | None

    def lines(self, text: str) -> list[tuple[str, str]]:
        """The lines of a text, each with its end (none behind the last); joined, the text."""

    def plain(self, text: str) -> Plain:
        """A line, or a part of one, as the model reads it."""

    def small(self, plain: str) -> str | None:
        """What the model reads, in small letters, of a line in capitals; None of another line. The
        search tries both, and makes capitals of what it finds."""

    def dresser(self, source: str, language: str, exact: str = "") -> Dresser:
        """What gives a translation of `source` into this language its marks; the first text that it
        is given keeps its beginning `exact`."""


class AsTyped:
    """No normaliser: the model reads what was typed, and only "\\n" ends a line."""

    name: str | None = None

    def lines(self, text: str) -> list[tuple[str, str]]:
        *ended, last = text.split("\n")
        return [*((line, "\n") for line in ended), (last, "")]

    def plain(self, text: str) -> Plain:
        return Plain(text)

    def small(self, plain: str) -> str | None:
        return None

    def dresser(self, source: str, language: str, exact: str = "") -> Dresser:
        return Dresser("", "")  # of a source without marks


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
# Soft hyphens, zero-width spaces, marks of direction and of byte order. The zero-width joiner, by
# which the parts of an emoji hold together, stays.
UNSEEN = "\u00ad\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"

_WRITTEN: dict[str, str] = {
    **dict.fromkeys(DOUBLE_QUOTES, '"'),
    **dict.fromkeys(SINGLE_QUOTES, "'"),
    **dict.fromkeys(HYPHENS, "-"),
    **SPELT_OUT,
}
_CHANGED = re.compile(
    r"(?P<dash>(?<=\w)[—―](?=\w))"  # between words, without spaces
    # a run of spaces, or one that is not the plain one
    rf"|(?P<space>[{UNSEEN}]+[{SPACES}{LINE_ENDS}][{SPACES}{LINE_ENDS}{UNSEEN}]*"
    rf"|[{SPACES}{LINE_ENDS}][{SPACES}{LINE_ENDS}{UNSEEN}]+|(?! )[{SPACES}{LINE_ENDS}])"
    rf"|(?P<unseen>[{UNSEEN}]+)"
    rf"|(?P<mark>[{''.join(_WRITTEN)}])"
)
_SUSPECT = re.compile(f"[{''.join(_WRITTEN)}{UNSEEN}{SPACES.strip(' ')}{LINE_ENDS}]")
_IN_PLACE_OF: dict[str, Callable[[str], str]] = {
    "dash": lambda _: " - ",
    "space": lambda _: " ",
    "unseen": lambda _: "",
    "mark": _WRITTEN.__getitem__,
}


class PlainMarks:
    """Quotes, apostrophes, dashes and spaces as a keyboard without extras has them; NFC.

    Typographic quotes, guillemets and apostrophes become " and ', dashes and the minus "-" (with
    spaces where a long one stood between two words), the ellipsis three full stops, ligatures their
    letters. Every run of spaces of any kind becomes one space, characters that nobody sees vanish,
    and accents join their letters (Unicode's form NFC). Line ends are those of Unicode. A text that
    has none of this goes through untouched.
    """

    name: str | None = "plain-marks"

    def lines(self, text: str) -> list[tuple[str, str]]:
        found = []
        for line in text.splitlines(keepends=True):
            bare = line.rstrip(ENDS)
            found.append((bare, line[len(bare) :]))
        return found if found and not found[-1][1] else [*found, ("", "")]

    def plain(self, text: str) -> Plain:
        if _is_plain(text):
            return Plain(text)
        written, places = _composed(text, range(len(text) + 1))
        written, places = _rewritten(written, places, map(_change, _CHANGED.finditer(written)))
        written, places = _composed(written, places)  # accents that stood behind what has vanished
        begin, end = len(written) - len(written.lstrip()), len(written.rstrip())
        return Plain(written[begin:end], places[begin : end + 1] if begin <= end else places[-1:])

    def small(self, plain: str) -> str | None:
        return in_small_letters(plain) if in_capitals(plain) else None

    def dresser(self, source: str, language: str, exact: str = "") -> Dresser:
        return Dresser(source, language, exact)


NORMALISERS: dict[str, type[Normaliser]] = {"plain-marks": PlainMarks}


def normaliser_named(name: str | None) -> Normaliser:
    """The normaliser of this name; without one, texts stay as they are typed.

    Raises:
        UsageError: there is none of this name; it names those that there are.
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


def _is_plain(text: str) -> bool:
    return (
        "  " not in text
        and _SUSPECT.search(text) is None  # a class of characters is looked for fast
        and text.strip() == text
        and unicodedata.is_normalized("NFC", text)
    )


def _change(found: re.Match[str]) -> tuple[int, int, str]:
    assert found.lastgroup is not None
    return found.start(), found.end(), _IN_PLACE_OF[found.lastgroup](found[0])


def _composed(text: str, places: Sequence[int]) -> tuple[str, Sequence[int]]:
    """The text in Unicode's form NFC, and the places that go along."""
    if unicodedata.is_normalized("NFC", text):
        return text, places
    return _rewritten(text, places, _clusters(text))


def _clusters(text: str) -> Iterator[tuple[int, int, str]]:
    """Each letter with the accents behind it (or the parts of a Korean syllable), composed."""
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
    """The text with text[begin:end] in new words for each change, and the places that go along."""
    pieces: list[str] = []
    kept: list[int] = []
    done = 0
    for begin, end, new in changes:
        pieces += (text[done:begin], new)
        kept += places[done:begin]
        kept += [places[begin]] * len(new)
        done = end
    return "".join([*pieces, text[done:]]), [*kept, *places[done:]]
