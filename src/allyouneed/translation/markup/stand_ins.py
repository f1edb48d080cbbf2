"""Words that stand in a sentence for what a model cannot carry, so that it sees a sentence."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from allyouneed.text.capitals import in_capitals
from allyouneed.translation.markup.rewriting import Rewriting

Span = tuple[int, int]

# Models copy names of people and places, and numbers, where they garble addresses and brackets.
# Each try takes other words; a model that learnt from other texts may know the one or the other.
NAMES = ("Tom", "Berlin", "Boston", "Anna", "Paris", "London", "Peter", "Mary", "Maria", "Max")
NUMBERS = ("99", "98", "97", "96", "95", "94", "93", "92", "89", "88")
AS_IT_IS: tuple[str, ...] = ()
_TOUCH = re.compile(r"\w\w")
_NUMBER = re.compile(r"\d[\d.,:/-]*")
TRIES = 3


def words_for(literals: Sequence[str], number: int) -> list[Sequence[str]]:
    """For each literal of a sentence the words that may stand for it in a try, counted from 0.

    Another number stands for a number, a name for all else. Amounts, which models often copy
    ("5 kg"), are tried as they are first.
    """
    if all(one[:1].isdigit() and not _NUMBER.fullmatch(one) for one in literals):
        return [(AS_IT_IS, NAMES, NUMBERS)[number]] * len(literals)
    names, numbers = ((NAMES, NUMBERS), (NUMBERS, NAMES), (AS_IT_IS, AS_IT_IS))[number]
    return [numbers if _NUMBER.fullmatch(one) else names for one in literals]


@dataclass(frozen=True, slots=True)
class Asked:
    """A sentence as the model sees it, and what stands in it for each literal, in order.

    `apart` says whether a space was put before or after a word that would touch another one.
    """

    rewriting: Rewriting
    words: tuple[str, ...]
    apart: tuple[tuple[bool, bool], ...]

    @property
    def text(self) -> str:
        """What the model is given."""
        return self.rewriting.text


def asked(sentence: str, literals: Sequence[Span], pools: Sequence[Sequence[str]]) -> Asked:
    """The sentence with a word of its pool in place of each literal, and its white space as single
    spaces.

    Words that the sentence has already are not used; where they run out, literals stay. In a
    sentence in capitals the words are in capitals too.
    """
    used: set[str] = set()
    standing = []
    around = Rewriting(sentence, [(*span, " ") for span in literals]).text
    for (begin, end), pool in zip(literals, pools, strict=True):
        free = (word for word in pool if word not in sentence and word not in used)
        word = next(free, None)
        used.add(word or "")
        written = word.upper() if word and in_capitals(around) else word
        standing.append(sentence[begin:end] if written is None else written)
    changes = [
        (*span, " ")
        for span in (match.span() for match in re.finditer(r"\s+", sentence))
        if sentence[slice(*span)] != " " and not any(b <= span[0] < e for b, e in literals)
    ]
    apart = []
    for (begin, end), word in zip(literals, standing, strict=True):
        before = bool(_TOUCH.match(sentence[max(begin - 1, 0) : begin] + word[:1]))
        after = bool(_TOUCH.match(word[-1:] + sentence[end : end + 1]))
        changes.append((begin, end, " " * before + word + " " * after))
        apart.append((before, after))
    return Asked(Rewriting(sentence, sorted(changes)), tuple(standing), tuple(apart))


def found(asked: Asked, translation: str) -> list[Span | None]:
    """Where each of the words stands in a translation: None for one that is not there as often as
    it should be. An ending that a name takes ("Toms") belongs to it, as do spaces that were put
    around it."""
    places = places_of(asked.words, translation)
    used = 0
    for begin, end, n in sorted((*place, n) for n, place in enumerate(places) if place):
        before, after = asked.apart[n]
        if before and begin > used and translation[begin - 1].isspace():
            begin -= 1
        if after and translation[end : end + 1].isspace():
            end += 1
        places[n], used = (begin, end), end
    return places


def places_of(words: Sequence[str], translation: str) -> list[Span | None]:
    """Where each of the words stands, apart from other words, if it is there often enough."""
    places: dict[str, list[Span]] = {}
    for word in set(words):
        ending = r"(?:['’]?[sS])?" if word.title() in NAMES else ""
        edge = r"(?<!\w)" if word[:1].isalnum() else ""
        close = r"(?!\w)" if word[-1:].isalnum() else ""
        pattern = re.compile(edge + re.escape(word) + ending + close)
        matches = [match.span() for match in pattern.finditer(translation)]
        places[word] = matches if len(matches) == list(words).count(word) else []
    return [places[word].pop(0) if places[word] else None for word in words]
