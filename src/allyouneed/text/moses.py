"""Text as Moses' scripts cut and join it (Koehn et al. 2007), by the package `sacremoses`.

Signs are set apart from words; some are written as escapes: `&apos;` for an apostrophe, `@-@` for a
hyphen between letters.
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
SKIPPED = 8  # characters that may be missing from the words at one place, such as white space
_UNIT = re.compile("|".join(map(re.escape, ESCAPES)) + "|.", re.DOTALL)

Place = list[int]
"""For each character of a word, the number of the text's character that it stands for."""


@dataclass(frozen=True, slots=True)
class Moses:
    """The rules for one language. `escapes`: signs are written as escapes; `hyphens`: words are cut
    at their hyphens, `@-@` standing for one.

    Raises:
        UsageError: the package is not installed.
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
                f"this model's text needs Moses' rules, and they are not installed here ({error}); "
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
        """Words and signs as people write them."""
        joined: str = self._join.detokenize(list(words))
        return joined

    def places(self, words: Sequence[str], text: str, *, escapes: bool) -> list[Place]:
        """Where the words' characters stand in the text that they were cut from or joined to;
        `escapes` says whether words are written with escapes that the text has not.

        A character that is not there, since the rules have changed it, gets the place of the next.
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
    """Text whose words and signs are set apart by spaces already."""

    escapes: bool = False

    def words(self, text: str) -> list[str]:
        """The words of a text."""
        return text.split()

    def text(self, words: Sequence[str]) -> str:
        """Words with a space between them."""
        return " ".join(words)

    def places(self, words: Sequence[str], text: str, *, escapes: bool) -> list[Place]:
        """Where the words' characters stand in the text."""
        found: list[Place] = []
        at = 0
        for word in words:
            at = text.index(word, at)
            found.append(list(range(at, at + len(word))))
            at += len(word)
        return found


def _units(word: str, escapes: bool) -> list[tuple[str, str]]:
    """(as the word spells it, the character that it stands for) of each character."""
    if word == HYPHEN:
        return [(HYPHEN, "-")]
    if not escapes:
        return [(character, character) for character in word]
    return [(unit, ESCAPES.get(unit, unit)) for unit in _UNIT.findall(word)]
