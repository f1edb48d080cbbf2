"""Splits a text into sentences, for texts that are longer than a model's positions.

Joined, the sentences are the text: no character is lost.
"""

import re
from collections.abc import Callable

from allyouneed.text.abbreviations import (
    AFTER_ORDINALS,
    BEFORE_NUMBERS,
    BEFORE_ORDINALS,
    NEVER_LAST,
    OFTEN_LAST,
    OPENERS,
)

# A match can begin only at the first sign of a run, and possessive quantifiers (`*+`) never
# backtrack. The time is therefore linear in the length of the text.
_STOP = re.compile(
    r"""
      (?<! [.!?…؟۔।॥] ) (?P<stop> [.!?…؟۔।॥]++ ) ["'”’“‘»«›‹)\]]*+ \s++   # a space must follow
    | (?<! [。！？｡] ) (?: [。！？｡]++ | ．(?! [\dA-Za-zＡ-Ｚａ-ｚ] ) )
      (?P<closing> [」』”’）】》〉〕］｝﹂﹄)\]]*+ ) \s*+ (?! と )             # と: "said ..."
    | \n \s*+
    """,
    re.VERBOSE,
)
# After a closing bracket or quote: a Japanese particle or copula, or a Chinese clause of saying.
_GOES_ON = re.compile(
    r"って|は(?!い)|が(?!ん)|を|に|の|な[どのんら]|も(?![うし])|で[すしあは]|だ[っとけろ]|や|から|まで|より|へ"
    r"|[\u4e00-\u9fff]{1,5}?[说說问問道喊叫答]"
)
_OPENING = re.compile(  # signs before the next word, and the Dutch "'s" before "Avonds"
    r"""["'’“”„‘‚»«›‹(\[¿¡–—-]*+(?:(?<=['’‘])[stnk](?=\s[^\W\d_a-z]))?\s?"""
)
_WORD = re.compile(r"\w*+")
_LAST_WORD = re.compile(
    r"""
    (?: (?: (?<!\w) [^\W\d_] \. \s? )+ [^\W\d_]    # letters and stops: "z. B", "U.S"
      | [^\s"'“”„‘‚»«›‹(\[/–—-]* ) \Z
    """,
    re.VERBOSE,
)
_LETTERS_AND_STOPS = re.compile(r"(?:[^\W\d_]{1,2}\.)*[^\W\d_]")  # "J", "U.S", "Ph.D"
_NUMBER = re.compile(r"(\w*)(\s*)\b\d{1,2}\Z")
_CLAUSE = re.compile(r"(?<=[;:,])\s+|(?<=[、，；：])")
_SPACE = re.compile(r"\s+")
_THREE_LETTERS = re.compile(r"(?:\W*+\w){3}")
_LOOK_BACK = 40  # characters before a stop that are examined; the deciding words are shorter
_TINY = 16  # characters; a longer sentence always stands alone


def split_sentences(text: str) -> list[str]:
    """The sentences of a text. Joined, they are the text. Space belongs to the sentence before it.

    A sentence ends at a stop, together with the quotes and brackets that close after it, if space
    follows (`。` needs no space). It does not end there if the next word is in lower case, if the
    word before is an abbreviation, an initial or an ordinal (`am 3. Oktober`), or if the sentence
    goes on after the quotes and brackets (`「はい。」って`, `“好。”他说`). The end of a
    line always ends a sentence.
    """
    sentences: list[str] = []
    begin = 0
    for match in _STOP.finditer(text, len(text) - len(text.lstrip())):
        if match.end() < len(text) and _ends_sentence(text, begin, match):
            sentences.append(text[begin : match.end()])
            begin = match.end()
    return [*sentences, text[begin:]] if text else []


def split_long(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Pieces of the text for which `fits` is True. Joined, they are the text.

    A text that fits is one piece, any other is cut by `split_fitting`.
    """
    return [text] if text and fits(text) else split_fitting(text, fits)


def split_fitting(text: str, fits: Callable[[str], bool]) -> list[str]:
    """The sentences of the text, cut into pieces for which `fits` is True. Joined, the pieces are
    the text.

    A sentence with hardly any letters, such as the number of a list item, is joined to the next
    one. A sentence that does not fit is cut after a clause mark (`;` `:` `,`), else after a space,
    else between any two characters. A single character is a piece even if it does not fit. If
    `fits` holds for a text, it should hold for each beginning of the text. It is called a few
    times per piece.
    """
    pieces: list[str] = []
    waiting = ""
    for sentence in split_sentences(text):
        if waiting and not fits(waiting + sentence):
            pieces += _cut(waiting, fits)
            waiting = ""
        waiting += sentence
        if len(waiting) > _TINY or _THREE_LETTERS.match(waiting):
            pieces += _cut(waiting, fits)
            waiting = ""
    return pieces + _cut(waiting, fits) if waiting else pieces


def _ends_sentence(text: str, begin: int, match: re.Match[str]) -> bool:
    """Whether the stop `match` ends the sentence that starts at `begin`."""
    if "\n" in match[0]:
        return True
    if match["stop"] is None:
        return not (match["closing"] and _GOES_ON.match(text, match.end()))
    opening = _OPENING.match(text, match.end())
    word = _WORD.match(text, opening.end() if opening else match.end())
    following = word[0] if word else ""
    if following[:1].islower():
        return False
    if match["stop"] != ".":
        return True
    before = text[max(begin, match.start() - _LOOK_BACK) : match.start()]
    if number := _NUMBER.search(before):
        return not _is_ordinal(number, following)
    found = _LAST_WORD.search(before)
    last = re.sub(r"\s", "", found[0]) if found else ""
    if last.lower() in NEVER_LAST:
        return False
    if last.lower() in BEFORE_NUMBERS:
        return not following[:1].isdigit()
    is_cased = last.lower() != last.upper()  # a letter of a script without case is a word
    if is_cased and last.lower() not in OFTEN_LAST and _LETTERS_AND_STOPS.fullmatch(last):
        return last == "I" or following in OPENERS
    return True


def _is_ordinal(number: re.Match[str], following: str) -> bool:
    """Whether a number of one or two digits before a stop is an ordinal or numbers a list item."""
    if number.start() == 0 and not number[1]:
        return True
    if following[:1].isdigit() or following.lower() in AFTER_ORDINALS:
        return True
    return number[1].lower() in BEFORE_ORDINALS and following not in OPENERS


def _cut(text: str, fits: Callable[[str], bool]) -> list[str]:
    """The pieces of one sentence, each of which fits."""
    if fits(text):
        return [text]
    pieces: list[str] = []
    begin, size = 0, 64
    while begin < len(text):
        size = _reach(text, begin, size, fits)
        end = _good_end(text, begin, begin + size, fits)
        pieces.append(text[begin:end])
        begin = end
    return pieces


def _reach(text: str, begin: int, guess: int, fits: Callable[[str], bool]) -> int:
    """The number of characters from `begin` on that fit, to within an eighth; at least 1."""
    left = len(text) - begin
    low, high = 1, min(guess, left)
    while fits(text[begin : begin + high]):
        if high == left:
            return left
        low, high = high, min(2 * high, left)
    while high - low > 1 + low // 8:
        middle = (low + high) // 2
        if fits(text[begin : begin + middle]):
            low = middle
        else:
            high = middle
    return low


def _good_end(text: str, begin: int, end: int, fits: Callable[[str], bool]) -> int:
    """Where to cut text[begin:end]: after the last clause mark in its second half, else after the
    last space, else at `end`."""
    if end == len(text):
        return end
    for mark, earliest in ((_CLAUSE, (begin + end) // 2), (_SPACE, begin)):
        ends = [match.end() for match in mark.finditer(text, earliest, end)]
        if ends and begin < ends[-1] and fits(text[begin : ends[-1]]):
            return ends[-1]
    return end
