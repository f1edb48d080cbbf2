"""Noise from typing: missing, added and wrong characters.

Each function takes both texts of a pair and a source of random numbers, and returns both texts. All
except `no_end_mark` change the source only.
"""

import unicodedata
from random import Random

from allyouneed.data.noise.case import Texts

WORDS_PER_ERROR = 8  # a text gets one typing error, and on average one more per 8 words
SHORTEST = 4  # letters; shorter words get no typing error
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
NEIGHBOURS = {
    letter: row[max(0, n - 1) : n] + row[n + 1 : n + 2]
    for row in ROWS
    for n, letter in enumerate(row)
}
SPELT_OUT = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}
)


def typing_errors(texts: Texts, chance: Random) -> Texts:
    """Mistypes a few words of the source: two letters swapped, a letter left out, doubled or
    replaced by its neighbour on the keyboard, or an apostrophe left out.

    A text of one word stays as it is: nothing beside "Save" could tell that "Cave" was meant.
    """
    source, target = texts
    words = source.split(" ")
    if len(words) == 1:
        return texts
    fit = [n for n, word in enumerate(words) if _may_be_mistyped(word)]
    wanted = 1 + sum(chance.random() < 1 / WORDS_PER_ERROR for _ in words)
    for n in chance.sample(fit, min(wanted, len(fit))):
        words[n] = mistyped(words[n], chance)
    return " ".join(words), target


def mistyped(word: str, chance: Random) -> str:
    """The word with one typing error, seldom in the first letter."""
    if "'" in word:
        return word.replace("'", "")
    place = chance.randrange(chance.random() < 0.8, len(word) - 1)
    before, letter, after = word[:place], word[place], word[place + 1 :]
    match chance.choice(("swap", "swap", "omit", "omit", "double", "neighbour")):
        case "swap" if letter != after[0]:
            return before + after[0] + letter + after[1:]
        case "omit":
            return before + after
        case "neighbour" if letter in NEIGHBOURS:
            return before + chance.choice(NEIGHBOURS[letter]) + after
        case _:
            return before + letter * 2 + after


def no_accents(texts: Texts, chance: Random) -> Texts:
    """Writes the source without umlauts and accents: ä as ae or a, ß as ss."""
    source, target = texts
    if chance.random() < 0.5:
        source = source.translate(SPELT_OUT)
    bare = unicodedata.normalize("NFD", source.replace("ß", "ss"))
    return unicodedata.normalize(
        "NFC", "".join(c for c in bare if not unicodedata.combining(c))
    ), target


def no_end_mark(texts: Texts) -> Texts:
    """Removes the full stop, question or exclamation mark that both sides end in."""
    source, target = texts
    if all(text[-1:] in set(".!?") and text[-2:-1] not in set(".!? ") for text in texts):
        return source[:-1], target[:-1]
    return texts


def doubled_spaces(texts: Texts, chance: Random) -> Texts:
    """Doubles some spaces of the source."""
    source, target = texts
    words = source.split(" ")
    spaces = ["  " if chance.random() < 0.3 else " " for _ in words[1:]]
    return words[0] + "".join(map(str.__add__, spaces, words[1:])), target


def _may_be_mistyped(word: str) -> bool:
    return len(word) >= SHORTEST and word.replace("'", "").isalpha() and word[1:].islower()
