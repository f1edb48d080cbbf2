"""Words that stand in a sentence for its literals, because a model copies words reliably."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from allyouneed.text.atoms import UNSPACED
from allyouneed.text.capitals import in_capitals
from allyouneed.text.sums import SIGN, SPACE
from allyouneed.translation.lost import NUMBER
from allyouneed.translation.markup.rewriting import Rewriting

Span = tuple[int, int]

# Models copy names of people and places, and numbers, where they garble addresses and brackets.
# Each try takes other words; a model that learnt from other texts may know the one or the other.
NAMES = ("Tom", "Berlin", "Boston", "Anna", "Paris", "London", "Peter", "Mary", "Maria", "Max")
NUMBERS = ("99", "98", "97", "96", "95", "94", "93", "92", "89", "88")
AS_IT_IS: tuple[str, ...] = ()
_LETTER = rf"[^\W{UNSPACED}]"  # of a script whose words are parted by spaces
_OPENERS = tuple("%$#@&\\")  # with a letter behind, each of these signs begins a literal
_LETTERS = re.compile(f"{_LETTER}*")
_NUMBER = re.compile(
    rf"(?:{SIGN}{SPACE}?)?\d(?:{SPACE}?[\d.,:/-])*(?:{SPACE}?{SIGN})?"  # also a sum of money
    r"|%(?:\d+\$)?[-+0-9]*l{0,2}[dinu]|%L?n|#"  # or what a program replaces by a number
    r"|(?:[$%#]?\{|%\()(?:count|number|num|n|total|amount|quantity)(?:\}|\)[ds])"
)
TRIES = 3


def words_for(literals: Sequence[str], number: int) -> list[Sequence[str]]:
    """For each literal of a sentence the words that may stand for it in a try, counted from 0.

    A number stands for a number, a sum of money or a placeholder of a number, and a name for
    anything else. Amounts and formulas, which models often copy ("5 kg", "CO2"), are tried as they
    are first.
    """
    if all(map(_is_copied, literals)):
        return [(AS_IT_IS, NAMES, NUMBERS)[number]] * len(literals)
    names, numbers = ((NAMES, NUMBERS), (NUMBERS, NAMES), (AS_IT_IS, AS_IT_IS))[number]
    return [numbers if _NUMBER.fullmatch(one) else names for one in literals]


def _is_copied(literal: str) -> bool:
    """Whether a literal is an amount or a word with digits, which a model often copies."""
    if literal[:1].isdigit():
        return not _NUMBER.fullmatch(literal)
    return literal.isalnum() and any(map(str.isdigit, literal))


@dataclass(frozen=True, slots=True)
class _StandIn:
    """The word that the model sees in the place of one literal: another word, or the literal
    itself.

    `before` and `after` are the letters that the literal touches on that side, if the word would
    run together with them: a space parts them from it.
    """

    word: str
    replaced: bool
    before: str = ""
    after: str = ""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Finds the word in a translation, apart from other words. A name may have taken an ending
        there ("Toms"), or capitals. A letter behind "%KEY%" would make another literal of it, as
        "%s"."""
        edge = f"(?<!{_LETTER})" if self.word[:1].isalnum() else ""
        opens = self.word[-1:] in _OPENERS and not self.word[:1].isdigit()  # but "5%ige"
        close = f"(?!{_LETTER})" if opens or self.word[-1:].isalnum() else ""
        ending = r"(?:['’]?s)?" if self.replaced and self.word.isalpha() else ""
        how = re.IGNORECASE if self.replaced else re.NOFLAG
        return re.compile(edge + re.escape(self.word) + ending + close, how)


@dataclass(frozen=True, slots=True)
class Asked:
    """A sentence as the model sees it.

    `stand_ins` has an entry for each literal, in order. `around` is the text around the literals.
    """

    rewriting: Rewriting
    stand_ins: tuple[_StandIn, ...]
    around: str

    @property
    def text(self) -> str:
        """The text that the model gets."""
        return self.rewriting.text

    def found(self, translation: str) -> list[Span] | None:
        """The place of each literal's word in a translation, with the space on a side where it
        stands beside the same letters as in the sentence.

        None if a word does not stand there as often as in the sentence, or if it also stands within
        another word: then something would be left of it when the literal is put back.
        """
        places = _places([(one.word, one.pattern) for one in self.stand_ins], translation)
        found: dict[int, Span] = {}
        rest, used = "", 0
        for place, n in sorted((place, n) for n, place in enumerate(places) if place):
            begin, end = place
            one = self.stand_ins[n]
            if begin < used:  # two words share a sign
                return None
            if one.before and begin > used and translation[begin - 1].isspace():
                begin -= _letters_before(translation, begin - 1) == one.before
            if one.after and translation[end : end + 1].isspace():
                end += _letters_after(translation, end + 1) == one.after
            rest += translation[used:begin] + "\n"
            found[n], used = (begin, end), end
        rest, around = (rest + translation[used:]).casefold(), self.around.casefold()
        words = {one.word.casefold() for one in self.stand_ins}
        left = any(rest.count(word) > around.count(word) for word in words)
        if left or len(found) < len(self.stand_ins):
            return None
        return [found[n] for n in range(len(found))]

    def as_typed(self, literals: Sequence[str]) -> Callable[[str], str]:
        """A function that changes a note: each literal as it was typed replaces the word that stood
        for it."""
        words = {}
        for one, typed in zip(self.stand_ins, literals, strict=True):
            words[repr(one.word)] = repr(typed)
            words[f"{NUMBER} {one.word}"] = f"{NUMBER} {typed}"

        def named(note: str) -> str:
            for word, typed in words.items():
                note = note.replace(word, typed)
            return note

        return named


def asked(sentence: str, literals: Sequence[Span], pools: Sequence[Sequence[str]]) -> Asked:
    """The sentence with each literal replaced by a word of its pool, and with single spaces.

    A word that the sentence contains already, in capitals or small letters, is not used. A literal
    stays if no word remains for it. In a sentence in capitals the words are in capitals too.
    """
    around = Rewriting(sentence, [(*span, "\n") for span in literals]).text
    loud, folded = in_capitals(around), sentence.casefold()
    changes = _single_spaces(sentence, literals)
    used: set[str] = set()
    standing = []
    for (begin, end), pool in zip(literals, pools, strict=True):
        name = next((one for one in pool if one not in used and one.casefold() not in folded), "")
        used.add(name)
        word = (name.upper() if loud else name) or sentence[begin:end]
        before = _letters_before(sentence, begin) if word[:1].isalnum() else ""
        after = _letters_after(sentence, end) if word[-1:].isalnum() else ""
        changes.append((begin, end, " " * bool(before) + word + " " * bool(after)))
        standing.append(_StandIn(word, bool(name), before, after))
    return Asked(Rewriting(sentence, sorted(changes)), tuple(standing), around)


def without(sentence: str, literals: Sequence[Span]) -> Rewriting:
    """The sentence without its literals, with single spaces."""
    gaps: list[Span] = []
    for begin, end in literals:
        last = gaps[-1][1] if gaps else 0
        while begin > last and sentence[begin - 1].isspace():
            begin -= 1
        if gaps and begin == last:
            begin = gaps.pop()[0]
        while begin == 0 and sentence[end : end + 1].isspace():
            end += 1
        gaps.append((begin, end))
    changes = _single_spaces(sentence, gaps)
    for begin, end in gaps:
        touch = begin > 0 and _LETTERS.fullmatch(sentence[begin - 1]) and sentence[end : end + 1]
        changes.append((begin, end, " " if touch and _LETTERS.fullmatch(touch) else ""))
    return Rewriting(sentence, sorted(changes))


def _single_spaces(sentence: str, apart: Sequence[Span]) -> list[tuple[int, int, str]]:
    """Changes that make each row of white space one space, but for those that begin in `apart`."""
    return [
        (*span, " ")
        for span in (match.span() for match in re.finditer(r"\s+", sentence))
        if sentence[slice(*span)] != " " and not any(b <= span[0] < e for b, e in apart)
    ]


def places_of(literals: Sequence[str], text: str) -> list[Span | None]:
    """The place of each literal in a text, apart from other words; None for those that the text
    does not contain equally often."""
    standing = [_StandIn(one, replaced=False) for one in literals]
    return _places([(one.word, one.pattern) for one in standing], text)


def _places(words: Sequence[tuple[str, re.Pattern[str]]], text: str) -> list[Span | None]:
    """The place of each word, found by its pattern; equal words are found in order."""
    places: dict[str, list[Span]] = {}
    count = [word for word, _ in words].count
    for word, pattern in dict(words).items():
        matches = [match.span() for match in pattern.finditer(text)]
        places[word] = matches if len(matches) == count(word) else []
    return [places[word].pop(0) if places[word] else None for word, _ in words]


def _letters_before(text: str, end: int) -> str:
    """The letters and digits right before a place, in small letters."""
    begin = end
    while begin and _LETTERS.fullmatch(text[begin - 1]):
        begin -= 1
    return text[begin:end].casefold()


def _letters_after(text: str, begin: int) -> str:
    """The letters and digits right after a place, in small letters."""
    found = _LETTERS.match(text, begin)
    return found[0].casefold() if found else ""
