"""A translation in the marks of its own language, as far as its source was typed with such marks.

The model writes the keyboard's quotes and dashes (see `normaliser.py`). Whoever typed curly ones
reads curly ones: the quotes of the translation's language, the apostrophe, the dash, the ellipsis.
A source in plain marks has its translation in plain marks.
"""

import re
from dataclasses import dataclass
from functools import cache

# Outer, inner: how they open and close. No space stands inside, in French neither: a translation
# has as many words dressed as undressed, so that alignments hold for both.
QUOTES = {
    "cs": "„“‚‘",
    "de": "„“‚‘",
    "en": "“”‘’",
    "es": "«»“”",
    "fr": "«»“”",
    "it": "«»“”",
    "nl": "“”‘’",
    "pl": "„”«»",
    "pt": "“”‘’",
    "ro": "„”«»",
    "ru": "«»„“",
    "sv": "””’’",
    "tr": "“”‘’",
    "uk": "«»„“",
    "vi": "“”‘’",
    "zh": "“”‘’",
    "ja": "「」『』",
}
NAMES = {  # as recipes and model cards call them
    "czech": "cs",
    "german": "de",
    "english": "en",
    "spanish": "es",
    "french": "fr",
    "italian": "it",
    "dutch": "nl",
    "polish": "pl",
    "portuguese": "pt",
    "romanian": "ro",
    "russian": "ru",
    "swedish": "sv",
    "turkish": "tr",
    "ukrainian": "uk",
    "vietnamese": "vi",
    "chinese": "zh",
    "japanese": "ja",
}

_TAIL = "\"'.- "  # what may be written otherwise when more comes
_MARK = re.compile(r"\"|'|\.\.\.(?!\.)|(?<= )-(?= )|(?<=\d)-(?=\d)")


_TYPOGRAPHIC = frozenset("“”„‟«»〝‘‚‛‹’ʼ–—―‒…")


@dataclass(frozen=True, slots=True)
class Marks:
    """Which marks a source has that a plain keyboard lacks."""

    quotes: bool = False
    inner_quotes: bool = False
    apostrophes: bool = False
    dashes: bool = False
    ranges: bool = False
    ellipsis: bool = False

    @classmethod
    def of(cls, source: str) -> "Marks":
        """Those of a text."""
        if source.isascii() or _TYPOGRAPHIC.isdisjoint(source):
            return NO_MARKS
        return cls(
            quotes=any(mark in source for mark in "“”„‟«»〝"),
            inner_quotes=any(mark in source for mark in "‘‚‛‹"),
            apostrophes=any(mark in source for mark in "’‘ʼ"),
            dashes=any(mark in source for mark in "–—―"),
            ranges=re.search(r"\d\s?[–‒—]\s?\d", source) is not None,
            ellipsis="…" in source,
        )


NO_MARKS = Marks()


@cache
def _quotes(language: str) -> str:
    code = language.strip().lower().replace("_", "-").split("-")[0]
    return QUOTES.get(NAMES.get(code, code), "")


class Dresser:
    """Gives a translation its marks, whole or as it grows: what `add` and `end` give out, joined,
    is the whole text dressed."""

    def __init__(self, source: str, language: str, exact: str = "") -> None:
        """`language` is that of the translation, by code or English name; the quotes of one that is
        not known stay plain. The first text keeps its beginning `exact` as it is."""
        self.marks = Marks.of(source)
        self._nothing_to_do = self.marks is NO_MARKS
        self._quotes = _quotes(language)
        self._exact = len(exact)
        self._text = ""
        self._done = 0  # characters of it that are dressed and given out
        self._open = self._inner_open = False

    def whole(self, text: str) -> str:
        """A whole translation, dressed."""
        if self._nothing_to_do:
            return text
        return self.add(text) + self.end()

    def add(self, piece: str) -> str:
        """What can be given out now that this has come."""
        if self._nothing_to_do:
            return piece
        self._text += piece
        return self._up_to(max(self._done, len(self._text.rstrip(_TAIL))))

    def end(self) -> str:
        """What is left; the next text begins anew."""
        rest = self._up_to(len(self._text))
        self._text, self._done, self._exact = "", 0, 0
        self._open = self._inner_open = False
        return rest

    def _up_to(self, end: int) -> str:
        pieces: list[str] = []
        for mark in _MARK.finditer(self._text, self._done):
            if mark.end() > end:
                break
            pieces += (self._text[self._done : mark.start()], self._kept_or_dressed(mark))
            self._done = mark.end()
        pieces.append(self._text[self._done : end])
        self._done = end
        return "".join(pieces)

    def _kept_or_dressed(self, mark: re.Match[str]) -> str:
        dressed = self._dressed(mark)
        return mark[0] if mark.start() < self._exact else dressed

    def _dressed(self, mark: re.Match[str]) -> str:
        match mark[0]:
            case '"':
                return self._quote(mark)
            case "'":
                return self._single(mark)
            case "-":
                spaced = self._text[mark.start() - 1] == " "
                return "–" if (self.marks.dashes if spaced else self.marks.ranges) else "-"
            case _:
                return "…" if self.marks.ellipsis else mark[0]

    def _quote(self, mark: re.Match[str]) -> str:
        if not (self.marks.quotes and self._quotes):
            return mark[0]
        self._open = self._opens(mark, self._open)
        return self._quotes[0] if self._open else self._quotes[1]

    def _single(self, mark: re.Match[str]) -> str:
        marks, inner = self.marks, self._quotes[2:]
        before, after = self._around(mark)
        if marks.inner_quotes and inner:
            if not self._inner_open and not before.isalnum() and after.isalnum():
                self._inner_open = True
                return inner[0]
            if self._inner_open and not after.isalnum():
                self._inner_open = False
                return inner[1]
        return "’" if marks.apostrophes else mark[0]

    def _opens(self, mark: re.Match[str], is_open: bool) -> bool:
        """Whether a quote is an opening one: by what stands on both sides, in doubt by turns."""
        before, after = self._around(mark)
        may_open = not before or before.isspace() or before in "([{-/'"
        may_close = not after or after.isspace() or after in ")]}.,;:!?-/'"
        return may_open if may_open != may_close else not is_open

    def _around(self, mark: re.Match[str]) -> tuple[str, str]:
        begin, end = mark.span()
        return self._text[begin - 1 : begin] if begin else "", self._text[end : end + 1]
