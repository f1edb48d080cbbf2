"""The results of a model without a decoder."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Prediction:
    """The most probable `label` of a text or pair, and the `probabilities` of all, highest first.

    `notes` tell the user what was unusual, such as a text that was cut into parts.
    """

    label: str
    probabilities: dict[str, float]
    notes: tuple[str, ...] = ()

    @property
    def probability(self) -> float:
        """The probability of `label`."""
        return self.probabilities[self.label]

    def to_dict(self) -> dict[str, Any]:
        """The same values as a dictionary, for JSON."""
        return {"label": self.label, "probabilities": self.probabilities, "notes": [*self.notes]}


@dataclass(frozen=True, slots=True)
class TaggedWord:
    """A word with its most probable tag. The word is characters `begin` to `end` of the text."""

    word: str
    tag: str
    probability: float
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Tagging:
    """The words of a text with their tags. `notes` are like those of `Prediction`."""

    words: tuple[TaggedWord, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The same values as a dictionary, for JSON."""
        words = [
            {
                "word": word.word,
                "tag": word.tag,
                "probability": word.probability,
                "span": [word.begin, word.end],
            }
            for word in self.words
        ]
        return {"words": words, "notes": [*self.notes]}


@dataclass(frozen=True, slots=True)
class Filling:
    """A piece for a mask, its probability, and the text with the piece in the mask's place."""

    piece: str
    probability: float
    text: str
