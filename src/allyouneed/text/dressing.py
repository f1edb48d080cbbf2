"""Puts typographic quotes, apostrophes, dashes and ellipses into a translation.

The model reads and writes the plain marks of a keyboard (see `normaliser.py`). If the source was
typed with typographic marks, the translation gets those of its own language. If the source has
plain marks, the translation keeps plain marks. An ellipsis of the source has three dots in the
translation, however many the model writes. A comma that the source has inside a quote stands
outside of the quote in languages that write it so. Signs before a question or an exclamation, which
are Spanish, are left out in other languages.
"""

import re
from dataclasses import dataclass
from functools import cache

from allyouneed.text.edges import END_MARKS, asks_or_exclaims, with_end
from allyouneed.text.language_names import code_of

# Opening and closing outer quote, opening and closing inner quote.
QUOTES = {
    "cs": "„“‚‘",
    "de": "„“‚‘",
    "en": "“”‘’",
    "es": "«»“”",
    "fr": "«»“”",  # the outer ones have a space inside
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
# A comma follows the closing quote here: „Ja“, sagte sie. In English it stands before the quote.
COMMA_OUTSIDE = ("cs", "de", "es", "fr", "it", "nl", "pl", "pt", "ro", "ru", "sv", "uk")
_SPACE = "\u00a0"  # inside of French quotes, before French marks, and before a percent sign
LAST_WORD = 12  # characters before the end marks: whether they are an abbreviation counts
_TAIL = "\"'.,- "  # characters at the end whose form depends on the text that follows
_MARK = re.compile(r"[¿¡]|,\",?(?!\w)|\"|'|\.{2,}|(?<= )-(?= )|(?<=\d)-(?=\d)")
_FRENCH_MARK = re.compile(_MARK.pattern.replace('|\\"|', '| *\\" *|') + "| (?=[?!:;%])")
_PERCENT_MARK = re.compile(_MARK.pattern + r"|(?<=\d) (?=%)")
_SHORTENED = re.compile(r"(?<!\w)'[stnkm]\b")
_SPACED_PERCENT = ("de", "sv")  # "5 %"; French has spaces before more marks


_TYPOGRAPHIC = frozenset("“”„‟«»〝‘‚‛‹’ʼ–—―‒…")


@dataclass(frozen=True, slots=True)
class Marks:
    """Which typographic marks, absent from a plain keyboard, a source has.

    `dots` are the lengths of its rows of dots if an ellipsis is among them, "…" or "...".
    """

    quotes: bool = False
    inner_quotes: bool = False
    apostrophes: bool = False
    dashes: bool = False
    ranges: bool = False
    ellipsis: bool = False
    dots: frozenset[int] = frozenset()
    comma_inside: bool = False

    @property
    def is_typographic(self) -> bool:
        """Whether the text has a quote, an apostrophe, a dash or an ellipsis as print has them."""
        single = self.inner_quotes or self.apostrophes
        return self.quotes or single or self.dashes or self.ellipsis

    @classmethod
    def of(cls, source: str) -> "Marks":
        """The typographic marks of a text."""
        comma_inside = any(end in source for end in (',"', ",”", ",»", ",“"))
        plain = "..." not in source and not comma_inside
        if plain and (source.isascii() or _TYPOGRAPHIC.isdisjoint(source)):
            return NO_MARKS
        dots = frozenset(len(row) for row in re.findall(r"\.+", source.replace("…", "...")))
        return cls(
            quotes=any(mark in source for mark in "“”„‟«»〝"),
            inner_quotes=any(mark in source for mark in "‘‚‛‹"),
            apostrophes=any(mark in source for mark in "’‘ʼ"),
            dashes=any(mark in source for mark in "–—―"),
            ranges=re.search(r"\d\s?[–‒—]\s?\d", source) is not None,
            ellipsis="…" in source,
            dots=dots if 3 in dots else frozenset(),
            comma_inside=comma_inside,
        )


NO_MARKS = Marks()


@cache
def _code(language: str) -> str:
    """The code of a language, without its region."""
    return code_of(language.strip()).lower().replace("_", "-").split("-")[0]


class Dresser:
    """Puts typographic marks into a translation, given whole or in parts.

    The results of `add` and `end`, joined, are the result of `whole`.
    """

    def __init__(self, source: str, language: str, exact: str = "") -> None:
        """`language` is the language of the translation, as a code or an English name; in an
        unknown language, quotes stay plain. `exact` is the beginning of the first text; this
        beginning is not changed."""
        self.marks = Marks.of(source)
        self._language = _code(language)
        self._french = self._language == "fr"
        spaced = _PERCENT_MARK if self._language in _SPACED_PERCENT else _MARK
        self._mark = _FRENCH_MARK if self._french else spaced
        self._signs = self._language != "es" and ("¿" in source or "¡" in source)
        quoted = self._french and '"' in source
        self._nothing_to_do = self.marks is NO_MARKS and not self._signs and not quoted
        self._quotes = QUOTES.get(self._language, "")
        self._comma_outside = self.marks.comma_inside and self._language in COMMA_OUTSIDE
        self._pair = sum(map(source.count, '"“”„‟«»〝')) == 2
        self._exact = len(exact)
        self._text = ""
        self._done = 0  # number of characters of `_text` that have been returned
        self._open = self._inner_open = False

    def ended(self, text: str, sentence: str) -> str:
        """The translation of a sentence with the end marks of the sentence (`edges.with_end`), if
        the language is known. Quotes as in a file of comma-separated values, which some models
        learnt, become those of a text: "A ""word"" of it" is A "word" of it."""
        if self._may_be_a_cell(text, sentence) and '""' in text and text.endswith('"'):
            text = text[1:-1].replace('""', '"')
        return with_end(text, sentence, self._language) if self._quotes else text

    @staticmethod
    def _may_be_a_cell(text: str, sentence: str) -> bool:
        return text.startswith('"') and not sentence.startswith('"')

    def certain(self, text: str, sentence: str) -> int:
        """The number of characters of the growing translation of a sentence that `ended` will not
        change. A Spanish question may get a sign at its beginning, or lose it."""
        count = max(0, len(text.rstrip(END_MARKS)) - LAST_WORD) if self._quotes else len(text)
        if self._may_be_a_cell(text, sentence):
            return 0
        if self._language != "es":
            return count
        signs = [place for place in map(text.find, "¿¡") if place >= 0]
        return 0 if asks_or_exclaims(sentence) else min([count, *signs])

    def whole(self, text: str) -> str:
        """A whole translation with typographic marks."""
        if self._nothing_to_do:
            return text
        return self.add(text) + self.end()

    def add(self, piece: str) -> str:
        """The next part of the result, as far as it is certain after `piece`."""
        if self._nothing_to_do:
            return piece
        self._text += piece
        certain = self._text.rstrip(_TAIL)
        if self._language == "nl" and certain[-2:-1] == "'":  # "'s" may become "'sla"
            certain = certain[:-2]
        return self._up_to(max(self._done, len(certain)))

    def end(self) -> str:
        """The rest of the result. The next `add` begins a new text."""
        rest = self._up_to(len(self._text))
        self._text, self._done, self._exact = "", 0, 0
        self._open = self._inner_open = False
        return rest

    def _up_to(self, end: int) -> str:
        pieces: list[str] = []
        for mark in self._mark.finditer(self._text, self._done):
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
        match mark[0].strip() or mark[0]:
            case "¿" | "¡":
                return "" if self._signs else mark[0]
            case " ":
                return _SPACE if self.marks.is_typographic else mark[0]
            case ',"' | ',",':
                self._open = False
                closing = self._closing if self.marks.quotes and self._quotes else '"'
                return f"{closing}," if self._comma_outside else f",{closing}{mark[0][2:]}"
            case '"':
                return self._quote(mark)
            case "'":
                return self._single(mark)
            case "-":
                spaced = self._text[mark.start() - 1] == " "
                return "–" if (self.marks.dashes if spaced else self.marks.ranges) else "-"
            case dots:
                if len(dots) != 3 and (not self.marks.dots or len(dots) in self.marks.dots):
                    return dots
                return "…" if self.marks.ellipsis else "..."

    @property
    def _closing(self) -> str:
        return (_SPACE if self._french else "") + self._quotes[1]

    def _quote(self, mark: re.Match[str]) -> str:
        begin, end = self._bounds(mark)
        self._open = self._opens(mark, self._open)
        opening, closing = '"', '"'
        if (self.marks.quotes or self.marks.inner_quotes) and self._quotes:
            opening = self._quotes[0] + (_SPACE if self._french else "")
            closing = self._closing
        before, after = self._text[mark.start() : begin], self._text[end : mark.end()]
        if self._open:  # the spaces that the model may have written inside are left out
            return before + opening + ("," if self._lacks_comma(mark) else "")
        return closing + ("," if self._lacks_comma(mark) else "") + after

    def _single(self, mark: re.Match[str]) -> str:
        marks, inner = self.marks, self._quotes[2:]
        before, after = self._around(mark)
        if marks.inner_quotes and inner and not self._shortened(mark):
            if not self._inner_open and not before.isalnum() and after.isalnum():
                self._inner_open = True
                return inner[0]
            if self._inner_open and not after.isalnum():
                self._inner_open = False
                return inner[1]
        return "’" if marks.apostrophes else mark[0]

    def _shortened(self, mark: re.Match[str]) -> bool:
        """Whether a mark begins a shortened word, as Dutch has them: "'s avonds", "'t"."""
        return self._language == "nl" and _SHORTENED.match(self._text, mark.start()) is not None

    def _lacks_comma(self, mark: re.Match[str]) -> bool:
        """Whether a closing quote lacks the comma that its source, of two quotes, has."""
        begin, end = self._bounds(mark)
        if not (self._comma_outside and self._pair) or not self._text[:begin][-1:].isalnum():
            return False
        return self._text[end : end + 1] == " " and self._text[end + 1 : end + 2].islower()

    def _opens(self, mark: re.Match[str], is_open: bool) -> bool:
        """Whether a quote opens: decided by its neighbours; in doubt, quotes open and close in
        turn."""
        before, after = self._around(mark)
        may_open = not before or before.isspace() or before in "([{-/'"
        may_close = not after or after.isspace() or after in ")]}.,;:!?-/'"
        return may_open if may_open != may_close else not is_open

    def _around(self, mark: re.Match[str]) -> tuple[str, str]:
        begin, end = self._bounds(mark)
        return self._text[begin - 1 : begin] if begin else "", self._text[end : end + 1]

    @staticmethod
    def _bounds(mark: re.Match[str]) -> tuple[int, int]:
        """The place of a mark, without spaces around it."""
        bare = mark[0].lstrip(" ")
        begin = mark.end() - len(bare)
        return begin, begin + len(bare.rstrip(" "))
