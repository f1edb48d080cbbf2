"""Moses' rules to split a text into words and to join words (Koehn et al. 2007), by `sacremoses`.

Signs become words of their own. Some signs are written as escapes: `&apos;` for an apostrophe,
`@-@` for a hyphen between letters.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from allyouneed.errors import UsageError

ESCAPES = {
    "&amp;": "&",
    "&#124;": "|",
    "&lt;": "<",
    "&gt;": ">",
    "&apos;": "'",
    "&quot;": '"',
    "&#91;": "[",
    "&#93;": "]",
}
HYPHEN = "@-@"
SKIPPED = 8  # at most so many characters of the text, such as white space, lie between two words
_UNIT = re.compile("|".join(map(re.escape, ESCAPES)) + "|.", re.DOTALL)

Place = list[int]
"""For each character of a word, the index of the text's character that it stands for."""


@dataclass(frozen=True, slots=True)
class Moses:
    """The rules of one language.

    `escapes` writes signs as escapes. `hyphens` cuts words at their hyphens and writes a hyphen
    as `@-@`.

    Raises:
        UsageError: the package `sacremoses` is not installed.
    """

    language: str
    escapes: bool = True
    hyphens: bool = True
    _cut: Any = field(init=False, repr=False, compare=False)
    _join: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            sacremoses = import_module("sacremoses")
        except ImportError as error:
            raise UsageError(
                f"this model needs Moses' text rules, which are not installed ({error}); "
                "install them with: pip install 'allyouneed[moses]'"
            ) from error
        object.__setattr__(self, "_cut", sacremoses.MosesTokenizer(self.language))
        object.__setattr__(self, "_join", sacremoses.MosesDetokenizer(self.language))

    def words(self, text: str) -> list[str]:
        """The words and signs of a text."""
        found: list[str] = self._cut.tokenize(
            text, aggressive_dash_splits=self.hyphens, escape=self.escapes
        )
        return found

    def text(self, words: Sequence[str]) -> str:
        """The words and signs joined to a text."""
        joined: str = self._join.detokenize(list(words))
        return joined

    def places(self, words: Sequence[str], text: str, *, escapes: bool) -> list[Place]:
        """For each word the places of its characters in `text`, which the words were cut from or
        joined to. `escapes` says whether the words contain escapes.

        A character that the rules have changed is not in the text. It gets the place of the next
        character that is.
        """
        found: list[Place] = []
        at = 0
        for word in words:
            place: Place = []
            for spelt, character in _units(word, escapes):
                here = text.find(character, at, at + SKIPPED + len(character))
                place += [min(max(here, at), max(len(text) - 1, 0))] * len(spelt)
                at = here + 1 if here >= 0 else at
            found.append(place)
        return found


@dataclass(frozen=True, slots=True)
class Spaces:
    """The rules of a text whose words and signs are separated by spaces already."""

    escapes: bool = False

    def words(self, text: str) -> list[str]:
        """The words of a text."""
        return text.split()

    def text(self, words: Sequence[str]) -> str:
        """The words with a space between them."""
        return " ".join(words)

    def places(self, words: Sequence[str], text: str, *, escapes: bool) -> list[Place]:
        """For each word the places of its characters in `text`."""
        found: list[Place] = []
        at = 0
        for word in words:
            at = text.index(word, at)
            found.append(list(range(at, at + len(word))))
            at += len(word)
        return found


def _units(word: str, escapes: bool) -> list[tuple[str, str]]:
    """For each character of a word: (its spelling in the word, the character that it means)."""
    if word == HYPHEN:
        return [(HYPHEN, "-")]
    if not escapes:
        return [(character, character) for character in word]
    return [(unit, ESCAPES.get(unit, unit)) for unit in _UNIT.findall(word)]
