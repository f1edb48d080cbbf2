"""Finds literals, the text that a translation must not change: addresses, placeholders, code."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Literal

from allyouneed.errors import UsageError
from allyouneed.text.atoms import UNSPACED
from allyouneed.text.numerals import O_CLOCK
from allyouneed.text.scripts import scripts_of
from allyouneed.text.sums import SIGN, SPACE
from allyouneed.translation.markup.html import NAMES
from allyouneed.translation.markup.nodes import Around, Bound, Kept, Node, Nodes, plain, tidy

UNITS = (
    "nm|µm|mm|cm|dm|m|km|mi|ft|in|yd|mg|g|kg|t|lb|oz|ml|cl|l|L|ms|s|min|h|Hz|kHz|MHz|GHz|V|mV|kV|A|"
    "mA|W|kW|MW|kWh|Wh|J|kJ|N|Pa|hPa|bar|K|°C|°F|°|B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB|bit|px|pt|dpi|"
    "fps|dB|%|‰|€|EUR|USD|GBP|CHF|[mcdk]?m[²³]|Ω|kΩ|MΩ|μm|μg|μs"
)
DIRECTIONS = "\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069"  # marks that nobody sees
_CONVERSION = r"[-+#0]*\d*(?:\.\d+)?(?:hh|h|ll|l|L|z|j|t)?[diouxXeEfFgGcsSp@]"
SYMBOLS = "©®™℠♩♪♫♬♭♯★☆✓✔✗✘●○■□▪▫◆◇►▶◀◄→←↑↓⇒⇐•|¦"
_IN_DATE = "(?:[yY]{2,4}|[mM]{2,4}|[dD]{2}|[hH]{2}|[sS]{2,3})"
_OF_DATE = "%[-^0_]?[a-zA-Z]"
_HAS_DATE = rf"(?=(?:{_OF_DATE}[ ./:,-]{{0,2}}){{0,12}}%[-^0_]?[YymBbHMSAI])"
# The digits of a number are bounded: else a long row of digits takes quadratic time.
_SPACED = r"\d{1,3}(?:[ \u00a0\u202f]\d{3}){1,6}(?:[.,]\d{1,9})?"  # "12 000,50"
_NUMERAL = rf"(?:{_SPACED}|\d{{1,18}}(?:[.,]\d{{1,9}}){{0,6}})"
_RANGE = rf"{_NUMERAL}(?:[-–]{_NUMERAL})?"
# The percent sign of a format string, "%%", with its number: "%d%%", "%1$d %%", "100%%". A letter
# behind it ("%%s", a "%s" to be shown) and a placeholder behind it ("%%%s") belong to it. The two
# signs in the middle of Boost's "%1%%2%" belong to different placeholders.
_WITH_PERCENT = (
    rf"(?=[%\d])(?:(?:(?<![\d%])(?<!\d[ \u00a0\u202f])%(?:\([\w.]++\)|\d+\$)?{_CONVERSION}"
    r"|(?<![\w.])\d{1,18}+(?:[.,]\d{1,9}+){0,6}+)[ \u00a0\u202f]?)?"
    rf"(?:%%(?!\d%))++(?:%?{_CONVERSION}(?![a-z]))?"
)
# A tag that is shown as text, such as "<b>" in a text about HTML. "a <b and c> d", "i<n>0" and
# "<anna@b.c>" are none: a tag has a known name, an attribute with a value, or a slash. A tag that
# touches a word, as in "<b>very</b> good", is not protected.
_ATTRIBUTE = (
    r"""[\w:@.-]{1,40}+(?:=(?:"[^"<>\n]{0,300}+"|'[^'<>\n]{0,300}+'|[^\s"'<>=]{1,300}+))?+"""
)
_SHOWN_TAG = (
    rf"(?<!\w)<(?:(?:{'|'.join(sorted(NAMES))})|/[a-zA-Z][\w:-]{{0,40}}+ ?"
    rf"|[a-zA-Z][\w:-]{{0,40}}+(?: ?/|(?=[^<>\n]{{1,400}}=)(?: {_ATTRIBUTE}){{1,12}}+ ?/?))>(?!\w)"
)
_PATTERNS = (
    r"``[^`\n]++``|`[^`\n]++`",  # code in back-ticks
    _SHOWN_TAG,
    r"(?:https?|ftps?|file|mailto|tel|ssh|git|wss?)://?[^\s<>\"“”`]*[^\s<>\"“”`.,;:!?'’)\]}]",
    r"\bwww\.[^\s<>\"“”`]*[^\s<>\"“”`.,;:!?'’)\]}]",
    r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++",  # e-mail
    r"\{\{[^{}\n]*+\}\}|\{%[^\n%]*+%\}",  # templates
    r"[$#%@]\{[^{}\s]++\}|\$\([\w.]++\)",
    r"%%[A-Za-z_]\w*+%%",  # %%NAME%%
    _WITH_PERCENT,
    r"%\([\w.]++\)[-+#0]*\d*(?:\.\d+)?[a-zA-Z]",  # %(name)s
    rf"{_HAS_DATE}{_OF_DATE}(?:[ ./:,-]{{0,2}}{_OF_DATE}){{1,12}}(?!\w)",  # %d.%m.%Y
    rf"%\d+\${_CONVERSION}",  # %1$s
    rf"(?<![\d%])(?<!\d[ \u00a0\u202f])%{_CONVERSION}(?![a-z])",
    r"(?<![\d%])(?<!\d[ \u00a0\u202f])%L?n(?!\w)",  # Qt's number
    # %name%, %1, and %1%PATH%; "50%" is no beginning of a name.
    r"(?:(?<!\d)|(?<=%\d))(?:%[A-Za-z_]\w++%(?!\w)|%[A-Z][A-Z0-9_]+%|%\d(?!\w))",
    r"(?<![\d%])(?<!\d[ \u00a0\u202f])%\d*[dsu]",  # %d before a unit: %dpx
    r"\[[A-Z][A-Z0-9_]*\d[A-Z0-9_]*\]|@@\w+@@|\b__\w+__\b|\$[A-Z_][A-Z0-9_]+\b|\$[a-z_]+\$",
    r"\\[nrt]|&#?\w{1,32};",
    r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)",  # addresses of machines
    rf"(?<![\w.]){SIGN}{SPACE}?{_RANGE}(?:[kKmMB]|[mbt]n)?(?!\w|[.,]\d)",  # sums of money
    rf"(?<![\w.]){_RANGE}{SPACE}?{SIGN}(?!\w|[.,]\d)",
    r"(?<![\w/])[#@][^\W\d]\w*",  # hashtags and mentions
    rf"(?<!\w)\w++[®™℠]|[{re.escape(SYMBOLS)}]+",  # trademarks, and signs that few models write
    rf"(?<!\w){_IN_DATE}(?:[-/.:T]{_IN_DATE})+Z?(?!\w)",  # YYYY-MM-DD
    r"(?<![\w./])(?:[A-Za-z]:\\|\.{0,2}/|~/)[\w.-]+(?:[/\\][\w.-]+)*[\w-]",  # paths
)
AMOUNT = rf"(?<![\w.])[-+±]?\d{{1,18}}(?:[.,:]\d{{1,9}}){{0,6}}[ \u00a0\u202f]?(?:{UNITS})(?![\w°])"
# Numbers of two digits or more: a model may well write "three" for 3, and "22 Uhr" for 10 p.m.
_HOUR = rf"(?:\d|1\d|2[0-4])(?:[:.]\d\d)?{O_CLOCK}"
NUMBER = rf"(?<![\w.,:/])(?!{_HOUR})(?:{_SPACED}|\d(?:[.,:/-]?\d)++)(?!\w)"
TIME = rf"(?<![\w.,:/])(?:[01]?\d|2[0-4])[:.][0-5]\d(?={O_CLOCK})"
_NUMBERS = {"free": (), "amounts": (AMOUNT,), "all": (AMOUNT, TIME, NUMBER)}
Numbers = Literal["free", "amounts", "all"]
"""Which numbers are carried over literally: none, those with a unit, or also times and all numbers
of two digits."""
_SIGN = rf"[@#{{}}%$€£¥`\\/&<\[_{re.escape(SYMBOLS)}]|www\.|(?:y|m|d|h|s){{2}}[-.:]"
_SIGNS = {  # one is in all that is protected
    "free": re.compile(rf"{_SIGN}|\d\.\d+\.\d", re.IGNORECASE),
    "amounts": re.compile(rf"{_SIGN}|\d", re.IGNORECASE),
    "all": re.compile(rf"{_SIGN}|\d", re.IGNORECASE),
}
# Letters beside which a text in Latin letters has no others of their script, in whole words.
_OTHER_LETTERS = (
    r"\u0370-\u1dff\u1f00-\u1fff\u2126\u2c80-\u2dff\u2e80-\ua71f\ua800-\ufaff\ufb07-\ufdff"
    r"\ufe70-\ufefc\uff66-\uffdc\U00010000-\U0001efff\U00020000-\U0003ffff"
)
_OTHER_WORD = rf"(?<!\w)\w*[{_OTHER_LETTERS}][\w\u200c\u200d{_OTHER_LETTERS}]*"
_OTHER_WORDS = (
    rf"{_OTHER_WORD}(?:[ \u00a0'’.,·{DIRECTIONS}-]{{1,3}}{_OTHER_WORD})*[{DIRECTIONS}]*"
    rf"|[{DIRECTIONS}]+"
)
_OTHER_SIGN = f"[{_OTHER_LETTERS}{DIRECTIONS}]"
_WORD = rf"[^\W\d_][\w{_OTHER_LETTERS}]*"
_UNSPACED = f"[{UNSPACED}]"
SIGNS_OF_A_WORD = 2  # in Chinese or Japanese
_DIRECTION = re.compile(f"[{DIRECTIONS}]+")
_BRACES = re.compile(r"\{\s*[\w.$-]*\s*(?:,\s*\w+\s*(?:,[\s\S]*)?)?\}")
_BRACE = re.compile("[{}]")
_ICU_LIMIT = 4000  # characters of one message within braces


class Protection:
    """Finds the literals of a text, by its own rules and by a user's regular expressions.

    In a text in Latin letters, words of other scripts are literals too, such as a Chinese name.
    """

    def __init__(
        self, patterns: Sequence[str] = (), numbers: Numbers = "amounts", language: str = ""
    ) -> None:
        """`patterns` are regular expressions of the user. `language` is the code of the texts'
        language; without it, most words of a text decide whether it is in Latin letters.

        Raises:
            UsageError: a pattern is not a regular expression, or matches the empty text.
        """
        for pattern in patterns:
            try:
                empty = re.compile(pattern).match("")
            except re.error as error:
                raise UsageError(f"{pattern!r} is no regular expression: {error}") from error
            if empty:
                raise UsageError(f"{pattern!r} matches an empty text; it must match a letter")
        self.patterns = tuple(patterns)
        self._signs = re.compile("") if patterns else _SIGNS[numbers]
        self._ours = (*_PATTERNS, *_NUMBERS[numbers])
        self._scripts = scripts_of(language) if language else ()

    # Compiled when a text needs them: most texts need neither, and compiling takes long.
    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return _any_of(*self.patterns, *self._ours)

    @cached_property
    def _with_other_letters(self) -> re.Pattern[str]:
        return _any_of(*self.patterns, _OTHER_WORDS, *self._ours)

    def is_of_user(self, text: str) -> bool:
        """Whether a regular expression of the user matches in the text."""
        return any(re.search(one, text) for one in self.patterns)

    def is_needed(self, text: str) -> bool:
        """Whether the text, or one of its lines by itself, has a literal."""
        lines = () if text.isascii() else text.splitlines()
        return any(next(self.spans(one), None) is not None for one in (text, *lines))

    def spans(self, text: str, whole: str = "") -> Iterator[tuple[int, int]]:
        """The places (begin, end) of the literals, in order. They do not overlap. That a text has
        none is known at once for most texts. `whole` is the text of which `text` is a part."""
        others = not text.isascii() and self._has_other_letters(text, whole or text)
        if others or self._signs.search(text):
            yield from _spans(text, self._with_other_letters if others else self._pattern)

    def _has_other_letters(self, text: str, whole: str) -> bool:
        """Whether a text has letters of another script or marks of direction, in a whole text that
        is in Latin letters."""
        if re.search(_OTHER_SIGN, text) is None:
            return False
        if self._scripts:
            return self._scripts == ("LATIN",)
        free, place = "", 0
        for begin, end in _spans(whole, self._pattern):
            free += whole[place:begin] + " "
            place = end
        words = re.findall(_WORD, free + whole[place:])
        others = [word for word in words if re.search(_OTHER_SIGN, word)]
        signs = sum(len(re.findall(_UNSPACED, word)) for word in others)
        spaced = sum(not re.search(_UNSPACED, word) for word in others)
        return len(words) - len(others) > spaced + signs / SIGNS_OF_A_WORD

    def keep(self, nodes: Nodes) -> tuple[Node, ...]:
        """The nodes, with the literals of their text as `Kept` nodes. Marks of direction are no
        text that the model sees."""
        return self._kept(nodes, plain(nodes))

    def _kept(self, nodes: Nodes, whole: str) -> tuple[Node, ...]:
        found: list[Node] = []
        for node in nodes:
            if isinstance(node, Around):
                found.append(replace(node, inside=self._kept(node.inside, whole)))
            elif isinstance(node, str):
                place = 0
                for begin, end in self.spans(node, whole):
                    kept = Kept(node[begin:end])
                    unseen = _DIRECTION.fullmatch(kept.text)
                    found += [node[place:begin], Bound((kept,)) if unseen else kept]
                    place = end
                found.append(node[place:])
            else:
                found.append(node)
        return tidy(found)


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in patterns))


def _spans(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """The places of the pattern's matches and of names in braces, in order. Where two places
    overlap, only the first one is given."""
    place = 0
    braces = _in_braces(text)
    next_braces = next(braces, None)
    for match in pattern.finditer(text):
        begin, end = match.span()
        while next_braces is not None and next_braces[0] <= begin:
            if next_braces[0] >= place:
                yield next_braces
                place = next_braces[1]
            next_braces = next(braces, None)
        if begin >= place and begin < end:
            yield begin, end
            place = end
    while next_braces is not None:
        if next_braces[0] >= place:
            yield next_braces
            place = next_braces[1]
        next_braces = next(braces, None)


def _in_braces(text: str) -> Iterator[tuple[int, int]]:
    """The places of names in braces, such as `{name}`, and of ICU messages, which may have braces
    within braces."""
    ends = _closing_braces(text)
    begin = text.find("{")
    while begin >= 0:
        end = ends.get(begin)
        if end and end - begin <= _ICU_LIMIT and _BRACES.fullmatch(text, begin, end):
            yield begin, end
            begin = text.find("{", end)
        else:
            begin = text.find("{", begin + 1)


def _closing_braces(text: str) -> dict[int, int]:
    """For each opening brace that is closed, the place after the brace that closes it."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            ends[opened.pop()] = match.end()
    return ends
