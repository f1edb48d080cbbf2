"""Noise that writes English words as abbreviations and short forms, of which most corpora have few.

The words mean nothing in other languages, so texts in other languages stay as they are.
"""

import re
from random import Random

from allyouneed.data.noise.case import Texts

_UNIT = r"(?:[kcmd]?m|k?g|%|°|miles|kilomet|met|minutes|hours|days|weeks|months|years|people)"
_OF_STATES = (
    r"(?:president|government|company|army|economy|troops|soldiers|senators?|states?|dollars?"
    r"|embassy|court|elections?|police|banks?|market|university|citizens?|officials?|forces)"
)
_MONTH = r"(Jan|Feb|Aug|Sept|Oct|Nov|Dec)(?:r?uary|ust|ober|ember)"
_RULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\bfor example,? (?=[a-z])", ("e.g. ",)),
    (r"(, )that is,? (?=[a-z])", (r"\1i.e. ",)),
    (r",? and so on(?:(?=[,)])|\.?$)", (", etc.",)),
    (rf"\b(?:about|approximately|around) (?=\d[\d,.]* ?{_UNIT})", ("approx. ", "ca. ")),
    (r"\b(?:a maximum of|at most) (?=\d)", ("max. ",)),
    (r"\bat least (?=\d)", ("min. ",)),
    (rf"\b{_MONTH} (?=\d)", (r"\1. ",)),
    (rf"(?<=\d ){_MONTH}\b(?=[ ,])", (r"\1.",)),
    (r"\b([Ff])igure (?=\d)", (r"\1ig. ",)),
    (r"\bpage (?=\d)", ("p. ",)),
    (r"\bpages (?=\d)", ("pp. ",)),
    (r"\b([Nn])umber (?=\d)", (r"\1o. ",)),
    (r"\bversus\b", ("vs.", "vs")),
    (r"(?<=\d )hours\b", ("hrs", "h")),
    (r"(?<=\d )minutes\b", ("min.", "min")),
    (r"\bDoctor (?=[A-Z])", ("Dr. ", "Dr ")),
    (r"\bProfessor (?=[A-Z])", ("Prof. ", "Prof ")),
    (r"\bSaint (?=[A-Z])", ("St. ", "St ")),
    (r"\b(M(?:rs?|s))\. (?=[A-Z])", (r"\1 ",)),
    (r"\bthe United States(?! of)\b", ("the U.S.", "the US", "the USA")),
    (r"\bthe United Kingdom\b", ("the U.K.", "the UK")),
    (rf"\ban American (?={_OF_STATES}\b)", ("a U.S. ", "a US ")),
    (rf"\bAmerican (?={_OF_STATES}\b)", ("U.S. ", "US ")),
    (r"(['’](?:m|re|s) )going to (?=[a-z])", (r"\1gonna ",)),
)
SHORT_FORMS = tuple((re.compile(pattern), short) for pattern, short in _RULES)
_ANY = re.compile("|".join(pattern for pattern, _ in _RULES))


def abbreviations(texts: Texts, chance: Random) -> Texts:
    """Writes one kind of words of the source in their short form, wherever they stand: "for
    example" as "e.g.", "January 5" as "Jan. 5"."""
    source, target = texts
    if _ANY.search(source) is None:
        return texts
    fit = [(words, short) for words, short in SHORT_FORMS if words.search(source)]
    words, short = chance.choice(fit)
    return words.sub(chance.choice(short), source), target
