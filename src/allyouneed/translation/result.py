"""What translating and scoring give back."""

import math
from dataclasses import dataclass
from typing import Any

from allyouneed.decoding.links import Alignment, pharaoh
from allyouneed.translation.confidence import SentenceConfidence
from allyouneed.translation.terms.use import TermUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How probable the tokens of a translation are to the model, the end token counted.

    `token_log_probabilities` are natural logarithms, one for each of `tokens`.
    """

    tokens: tuple[str, ...]
    token_log_probabilities: tuple[float, ...]

    @property
    def log_probability(self) -> float:
        """Of the whole translation, in nats."""
        return math.fsum(self.token_log_probabilities)

    @property
    def average_log_likelihood(self) -> float:
        """H, in nats per token; 0 where there is no token."""
        return self.log_probability / len(self.tokens) if self.tokens else 0.0

    @property
    def probability(self) -> float:
        """exp(H), the geometric mean of the tokens' probabilities."""
        return math.exp(self.average_log_likelihood)

    def to_dict(self) -> dict[str, Any]:
        """All of it by name, as JSON can hold it."""
        return {
            "log_probability": self.log_probability,
            "average_log_likelihood": self.average_log_likelihood,
            "probability": self.probability,
            "tokens": list(self.tokens),
            "token_log_probabilities": list(self.token_log_probabilities),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation(Score):
    """One translated text and its score.

    `source` is what was given. `tokens` are those of all parts that the text was translated in,
    each part's end token among them; a blank text has none.
    `alternatives` are the n best, this one first, where more than one was asked for.
    `alignment` holds pairs (source word, target word), counted from 0, where words are what white
    space separates; `pharaoh` prints it. It is None unless asked for, and for alternatives.
    `confidence`, 0 to 1, is the probability that a reader accepts the translation, and
    `word_confidences` the probability that each word of `text` (what white space separates) is
    right; they are None and empty where the model's folder has no calibration (`allyouneed
    calibrate`). `sentence_confidences` has the confidence of each sentence, or other part, that the
    model translated by itself; `confidence` is their mean by token.
    In a text with an address or other protected span, a name or a number stood in its place for the
    model: `tokens` and all scores are of that, and its words have the confidence 1. `alignment`
    counts the words of `source` and `text` there, too.
    `notes` say what was done to the text beyond translating it. `terms` say what became of the
    terms of a glossary that the text holds, in order.
    """

    source: str
    text: str
    alternatives: tuple["Translation", ...] = ()
    alignment: Alignment | None = None
    notes: tuple[str, ...] = ()
    terms: tuple[TermUse, ...] = ()
    confidence: float | None = None
    sentence_confidences: tuple[SentenceConfidence, ...] = ()
    word_confidences: tuple[float, ...] = ()

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """All of it by name, as JSON can hold it; the alignment in Pharaoh format."""
        return {
            "source": self.source,
            "text": self.text,
            **Score.to_dict(self),
            "confidence": self.confidence,
            "sentence_confidences": [one.to_dict() for one in self.sentence_confidences],
            "word_confidences": list(self.word_confidences),
            "alignment": None if self.alignment is None else pharaoh(self.alignment),
            "notes": list(self.notes),
            "terms": [use.to_dict() for use in self.terms],
            "alternatives": [alternative.to_dict() for alternative in self.alternatives],
        }
