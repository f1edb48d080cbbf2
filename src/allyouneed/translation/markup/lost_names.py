"""Finds the names of a text that its translation lacks: addresses, files, identifiers, people.
Signs such as emoji count as names.

Models copy most names, and the sentence around a name is translated best if the model sees it. Only
a name that a translation lacks is worth a second try, in which another word stands for it. Names
are found by their form: a street with its number, "Mr." before a word, capitals within a word.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from allyouneed.text.persons import persons
from allyouneed.text.tongues.known import TONGUES
from allyouneed.text.tongues.tongue import BIG, WORD

_FILES = (
    r"csv|docx?|epub|exe|gif|gz|html?|ini|jar|jpe?g|js|json|log|md|mp[34]|odt|pdf|php|png|po|pptx?|py|"
    r"rb|rtf|sh|sql|svg|toml|ts|tsv|txt|xlsx?|xml|ya?ml|zip"
)
_SITES = r"com|org|net|edu|gov|info|io|eu|de|at|ch|uk"
_IDENTIFIERS = (
    rf"(?<![\w.@/-])[\w-]{{2,}}(?:\.[\w-]{{2,}})*\.(?:{_FILES}|{_SITES})(?![\w-])",
    r"(?<![\w.@/-])[A-Za-z][\w-]+(?:\.[A-Za-z][\w-]+){2,}(?![\w-])",  # com.example.App
    r"(?<![\w.])\w*[A-Za-z\d]_\w*[A-Za-z\d](?:\(\))?",  # get_user()
    r"(?<![\w-])[A-Za-z]*[a-z][A-Z][A-Za-z\d]*(?:\(\))?(?!\w)",  # NullPointerException
)
# Emoji, arrows and signs of mathematics.
_SYMBOLS = r"(?:[\u2190-\u2bff\U0001f000-\U0001faff][\ufe0f\u200d\U0001f3fb-\U0001f3ff]*)+|§"
_FOUND = r"[^\W\d_][._][^\W_]|[a-z][A-Z]|\d|[§\u2190-\U0001faff]"
"""One of these is in all names, but for those of people and foreign ones."""


@cache
def name_patterns(language: str) -> tuple[str, ...]:
    """The patterns of names in texts of a language, given by its code."""
    own = TONGUES[language].names
    word = rf"{BIG}{WORD}(?<!['’]s)"  # not the "'s" of "Mr. Smith's car"
    name = rf"(?!(?:{own.offices})(?!\w)){word}"
    more = rf"(?:\s{word})*"
    titles, introductions = map(_behind, (own.titles, own.introductions))
    people = rf"{titles}{name}{'' if own.nouns_have_capitals else more}|{introductions}{name}{more}"
    foreign = rf"(?<!\w)(?=[\w-]*[{own.foreign}]){BIG}{WORD}"
    return (
        *_streets(language),
        *_IDENTIFIERS,
        _SYMBOLS,
        people,
        *([foreign + ("" if own.nouns_have_capitals else more)] if own.foreign else ()),
    )


def _streets(language: str) -> tuple[str, ...]:
    """The patterns of streets: in English those of all countries, else English ones, too."""
    tongues = TONGUES.values() if language == "en" else (TONGUES[language], TONGUES["en"])
    return tuple(one for tongue in tongues for one in tongue.names.streets)


def _behind(words: Sequence[str]) -> str:
    """The pattern of a place behind one of some words."""
    behind = "|".join(rf"(?<=\b{one}\s)" for one in words)
    return f"(?:{behind})"


@cache
def _any(language: str) -> re.Pattern[str]:
    return re.compile("|".join(name_patterns(language)))


@cache
def _signs(language: str) -> re.Pattern[str]:
    """The pattern of what is in all texts with names."""
    own = TONGUES[language].names
    foreign = [f"[{own.foreign}]"] if own.foreign else []
    return re.compile("|".join([_FOUND, *own.titles, *own.introductions, *foreign]))


def names(text: str, language: str) -> Iterator[str]:
    """The names in a text of a language, given by its code; none if its words are not known. A name
    that is found in two ways may come twice."""
    if language not in TONGUES:
        return
    if _signs(language).search(text):
        for match in _any(language).finditer(text):
            yield match[0]
    if not TONGUES[language].names.nouns_have_capitals:
        yield from persons(text)


def has_name(text: str, language: str) -> bool:
    """Whether a text has a name that `lost_names` looks for."""
    return next(names(text, language), None) is not None


def lost_names(source: str, target: str, languages: tuple[str, str]) -> list[str]:
    """The names of a source that its translation lacks. `languages` are the codes of source and
    target. A word may stand there in small letters, as "Rosé" does in English, and with another
    ending in a language that declines names."""
    found = list(names(source, languages[0]))
    if not found:
        return []
    written = _plain(target)
    declined = languages[1] in TONGUES and TONGUES[languages[1]].names.declined
    return [
        one
        for one in dict.fromkeys(found)
        if _plain(one) not in written
        and not (one.isalpha() and one.lower() in written)
        and not (declined and all(_stem(word) in written for word in one.split()))
    ]


def _stem(word: str) -> str:
    """What stays of a name in all cases: "Kowalsk" of "Kowalski"."""
    return word[: max(3, len(word) - 2)]


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").split())
