"""What a model without a decoder says about a text."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Prediction:
    """The most probable `label` of a text or pair, and the `probabilities` of all, highest first.

    `notes` are what its user should know about how it came about.
    """

    label: str
    probabilities: dict[str, float]
    notes: tuple[str, ...] = ()

    @property
    def probability(self) -> float:
        """That of `label`."""
        return self.probabilities[self.label]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"label": self.label, "probabilities": self.probabilities, "notes": [*self.notes]}


@dataclass(frozen=True, slots=True)
class TaggedWord:
    """A word, as white space separates them, with its most probable tag and where it is: the text's
    characters `begin` to `end`."""

    word: str
    tag: str
    probability: float
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Tagging:
    """The words of a text with their tags; `notes` as in `Prediction`."""

    words: tuple[TaggedWord, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
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
    """A piece that a mask may hide, its probability, and the text with it in the mask's place."""

    piece: str
    probability: float
    text: str
