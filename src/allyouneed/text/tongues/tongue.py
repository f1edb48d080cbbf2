"""The words of one language that the rules for texts look for, as one value.

A new language is a file beside this one, its row in `known.py`, and a table of the lines with
which its letters begin and end (`LANGUAGE.letters.toml`). Each class below names the module whose
rules read it. Patterns are regular expressions that ignore case. A gap within a pattern has at most
100 characters, so that a search takes linear time. The classes are named tuples,
because Python makes nine dataclasses in 5 ms and nine named tuples in 1 ms.
"""

from collections.abc import Mapping
from typing import NamedTuple

BIG, WORD = r"[A-Z\u00c0-\u00deĄĆĘŁŃŚŹŻ]", r"[\w'’-]*\w"
"""Patterns of a capital letter and of the rest of a name; of names alone, case counts."""
HOUSE_NUMBER = r"\d{1,4}(?:\s?[a-zA-Z](?![\w'’]))?(?:\s?-\s?\d{1,4})?(?!\w|[.,]\d)"


class Negation(NamedTuple):
    """Patterns of negations (`text.negation`): words that negate, places at which they do not, and
    other words that a translation may say a negation with, such as "impossible" and "hardly"."""

    words: str
    idle: str
    half: str


class Numbers(NamedTuple):
    """Patterns of what number words contain (`text.numerals`): those for 0 to 9, one pattern each,
    and those for larger numbers. `powers` are patterns of whole words for 10^6, 10^9 and 10^12
    (`text.powers`)."""

    ones: tuple[str, ...]
    larger: str
    powers: tuple[str, str, str]


class Sums(NamedTuple):
    """How sums of money are written (`text.sums`): the marks of decimals and of thousands, and the
    order of number and sign, as in "NUMBER SIGN"."""

    decimal: str
    thousands: str
    form: str


class Clock(NamedTuple):
    """Times of the clock (`text.clock`, `text.numerals`).

    `hours` are patterns of the words for one to twelve o'clock, with spaces between. `times` and
    `more_times` are patterns of a time in words, in which HOUR stands for an hour. The first or the
    last word of their group "part" is a key of `minutes`, which gives the minutes after that hour.
    Each time has one of `signs`. `before_hour` and `after_hour` are patterns of what stands around
    an hour in digits, and `told` is one of words that tell a time.
    """

    hours: str
    times: str
    minutes: Mapping[str, int]
    signs: tuple[str, ...]
    told: str
    before_hour: str = ""
    after_hour: str = ""
    more_times: str = ""


class Stops(NamedTuple):
    """Words beside full stops, with spaces between; `text.abbreviations` explains each field."""

    never_last: str = ""
    before_numbers: str = ""
    often_last: str = ""
    before_ordinals: str = ""
    after_ordinals: str = ""
    openers: str = ""


class LetterStyle(NamedTuple):
    """How letters are written (`text.letters`): "and" between names, a pattern of words that begin
    a line and no name, the mark behind an opening line, and the mark behind a closing line.

    `other_and` is another "and", for names that begin with the pattern `before`.
    """

    and_: str
    no_names: str
    after_opening: str = ","
    after_closing: str = ","
    other_and: str = ""
    before: str = ""


class SpeechStyle(NamedTuple):
    """How direct speech is written (`translation.speech`): words that may stand for speech, each at
    the place of its translations, the mark before speech, and whether a full stop stands behind
    the closing quote."""

    stand_ins: tuple[str, str, str]
    mark_before: str = ","
    stop_outside: bool = False


class Names(NamedTuple):
    """Patterns of names (`translation.markup.lost_names`): words before the name of a person, such
    as "Mr." and "My name is", titles that are no names, and streets with their numbers. `foreign`
    are letters that the language has in names alone. `declined`: names have cases."""

    titles: tuple[str, ...]
    introductions: tuple[str, ...]
    offices: str
    streets: tuple[str, ...] = ()
    foreign: str = ""
    nouns_have_capitals: bool = False
    declined: bool = False


class Enumeration(NamedTuple):
    """Patterns of enumerations (`text.enumeration`): "and" or "or" before the last part, and the
    number of commas before which a sentence has no enumeration."""

    and_: str
    commas: int


class ShortForms(NamedTuple):
    """Abbreviations, and words as in chats, each with the words that it stands for
    (`text.short_forms`). They are in small letters, without a full stop at the end.

    Those of `before_words` have a full stop and are never the last word of a sentence. Those of
    `before_numbers` and `after_numbers` stand beside digits.
    """

    anywhere: Mapping[str, str]
    before_words: Mapping[str, str]
    before_numbers: Mapping[str, str]
    after_numbers: Mapping[str, str]


class Tongue(NamedTuple):
    """The words of one language.

    `stressed` are words that people write in capitals to stress them, as in "Do NOT open". None of
    them is also an abbreviation. `small` are articles, prepositions, pronouns and the like, with
    spaces between (`translation.markup.tag_words`).
    """

    negation: Negation
    numbers: Numbers
    sums: Sums
    clock: Clock
    stops: Stops
    letters: LetterStyle
    speech: SpeechStyle
    names: Names
    enumeration: Enumeration
    stressed: str
    small: str
    short_forms: ShortForms | None = None
