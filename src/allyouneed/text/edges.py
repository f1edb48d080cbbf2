"""The edges of a sentence: the marks around its words that need no translation.

A list mark, a heading mark or an emoji stays where it is. Quotes or brackets around a whole
sentence are put around its translation. The model reads the sentence alone, as it saw sentences in
training. `with_end` gives a translation the end marks of its source.
"""

import re
from dataclasses import dataclass

from allyouneed.text.abbreviations import AFTER_ORDINALS, NEVER_LAST, OFTEN_LAST

_LETTER = re.compile(r"[^\W_]")
_WORDS_OF_ONE = "aio"  # letters that are words
_SYMBOLS = r"\s\u2190-\u2bff\ufe0f\u200d\u20e3\U0001f000-\U0001faff"
_SYMBOL = re.compile(f"[{_SYMBOLS}]")
# "- ", "* ", "## ", "2) ", "a) ", "(b) ", "[x] ", "> ". "1. " is one unless an ordinal begins.
_LIST_MARK = re.compile(
    r"(?: (?: [-*+•‣▪◦·▸►✓✔☐☑→>] | \#{1,6} | \d{1,3}\) | [A-Za-z]\) | \((?:\d{1,3}|[A-Za-z])\)"
    r" | \[[ xX]?\] | (?P<ordinal> \d{1,3}\.) ) \s+ )+"
    rf" (?= [{_SYMBOLS}]*+ (?P<word> [\w\"'(]+ ) )",
    re.VERBOSE,
)
_PAIRS = {'"': '"', "'": "'", "(": ")", "[": "]"}
END_MARKS = ".!?。！？｡．"
_STOP = re.compile(r"[.!?…]+\s+")
_ASCII = str.maketrans("。！？｡．", ".!?..")
_WIDE = str.maketrans(".!?", "。！？")
_MARKS = (".", "!", "?", ":", ";", ",")


@dataclass(frozen=True, slots=True)
class Edges:
    """The places in a line at which its edges end and begin.

    line[:begin] and line[end:] stay as they are. `opening` and `closing` are the marks of the line
    that stand around line[inner_begin:inner_end], the text for the model.
    """

    begin: int
    inner_begin: int
    inner_end: int
    end: int
    opening: str = ""
    closing: str = ""


def edges_of(line: str) -> Edges | None:
    """The edges of a line in plain marks; None for a line without letters and digits, and for one
    whose only letter is no word."""
    first_letter = _LETTER.search(line)
    if first_letter is None:
        return None
    if first_letter.end() == len(line) or not _LETTER.search(line, first_letter.end()):
        letter = first_letter[0].lower()
        if letter not in _WORDS_OF_ONE and letter != first_letter[0].upper():
            return None
    begin, end = _after_symbols(line, 0), len(line)
    mark = _LIST_MARK.match(line, begin)
    if mark and not (mark["ordinal"] and mark["word"].lower() in AFTER_ORDINALS):
        begin = _after_symbols(line, mark.start("word"))
    while _SYMBOL.match(line[end - 1]):
        end -= 1
    first, last = line[begin], line[end - 1]
    inside = line[begin + 1 : end - 1]
    if _PAIRS.get(first) == last and _LETTER.search(inside) and _is_one(inside, first, last):
        return Edges(begin, begin + 1, end - 1, end, first, last)
    if line.count('"', begin, end) == 1:  # the other one is in another sentence
        opens, closes = first == '"', last == '"'
        return Edges(
            begin, begin + opens, end - closes, end, first if opens else "", last if closes else ""
        )
    return Edges(begin, begin, end, end)


def _after_symbols(line: str, begin: int) -> int:
    """The place of the first character that is no symbol, from a place on."""
    while _SYMBOL.match(line, begin):
        begin += 1
    return begin


def _is_one(inside: str, first: str, last: str) -> bool:
    """Whether the marks `first` and `last` around `inside` are the two halves of one pair."""
    if first == "'":  # apostrophes within words are no quotes
        return re.search(r"(?<!\w)'|'(?!\w)", inside) is None
    return first not in inside and last not in inside and not inside[:1].isspace()


def with_end(text: str, source: str, language: str) -> str:
    """The translation `text` with the end marks of its source, in the signs of `language`.

    An ellipsis and rows such as "?!" are taken from the source. A full stop, a question mark, a
    colon or a comma that the translation lacks is added. A full stop that the source lacks is left
    out, or becomes the colon or the comma of the source. French has a space before "?", "!", ":"
    and ";". A Spanish question or exclamation gets the sign at its beginning, and a text
    without such an end loses it.
    """
    wide = language in ("ja", "zh")
    wanted = _end(source)
    bare, found = _parted(text)
    put = _spaced if language == "fr" else str.__add__
    if len(wanted) > 1 or (wanted == "?" and found in (".", "!")):
        text = put(bare, wanted.translate(_WIDE) if wide and "..." not in wanted else wanted)
    elif wanted:
        if found == "." and wanted in (",", ":") and not wide and not _abbreviated(text):
            text = put(bare, wanted)
        elif text[-1:].isalnum():
            text = put(text, wanted.translate(_WIDE) if wide else wanted)
    elif found == "." and source[-1:].isalnum() and not _abbreviated(text):
        text = text[:-1]
    if language != "es":
        return text
    return _opened(text) if asks_or_exclaims(source) else _without_lone_signs(text)


def asks_or_exclaims(source: str) -> bool:
    """Whether a text ends in a question mark or an exclamation mark."""
    return "?" in (end := _parted(source)[1]) or "!" in end


def _spaced(bare: str, marks: str) -> str:
    """The text with marks behind it, as French has them."""
    return f"{bare} {marks}" if marks[0] in "?!:;" and bare[-1:].isalnum() else bare + marks


def _without_lone_signs(text: str) -> str:
    """A Spanish text without the signs that begin a question or an exclamation that never ends."""
    for sign, end in ("¿?", "¡!"):
        if end not in text:
            text = text.replace(sign, "")
    return text


def _opened(text: str) -> str:
    """A Spanish text whose last sentence has the sign at its beginning that belongs to its end."""
    begin = max((stop.end() for stop in _STOP.finditer(text)), default=0)
    marks = _parted(text)[1]
    sign = "¿" if "?" in marks else "¡" if "!" in marks else ""
    if not sign or "¿" in text[begin:] or "¡" in text[begin:]:
        return text
    return text[:begin] + sign + text[begin:]


def _end(source: str) -> str:
    """The end marks of a source text, in plain signs; "" if it has none."""
    _, run = _parted(source)
    if run:
        return "" if run == "." and _abbreviated(source) else run
    return source[-1] if source.endswith(_MARKS) else ""


def _parted(text: str) -> tuple[str, str]:
    """Splits a text into two: all before its end marks, and its end marks in plain signs."""
    bare = text.rstrip(END_MARKS)
    return bare, text[len(bare) :].translate(_ASCII)


def _abbreviated(text: str) -> bool:
    """Whether the full stop at the end belongs to an abbreviation."""
    word = text[:-1].split()[-1:] or [""]
    return word[0].lower() in NEVER_LAST or word[0].lower() in OFTEN_LAST or "." in word[0]
