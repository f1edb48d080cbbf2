"""The results of translating and scoring."""

import math
from dataclasses import dataclass
from typing import Any

from allyouneed.decoding.links import Alignment, CharacterLinks, pharaoh
from allyouneed.translation.confidence import SentenceConfidence
from allyouneed.translation.terms.use import TermUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The log-probabilities of the tokens of a translation under the model, end token included.

    `token_log_probabilities` are natural logarithms, one for each of `tokens`.
    """

    tokens: tuple[str, ...]
    token_log_probabilities: tuple[float, ...]

    @property
    def log_probability(self) -> float:
        """The log-probability of the whole translation, in nats."""
        return math.fsum(self.token_log_probabilities)

    @property
    def average_log_likelihood(self) -> float:
        """H, the mean log-probability per token, in nats; 0 if there is no token."""
        return self.log_probability / len(self.tokens) if self.tokens else 0.0

    @property
    def probability(self) -> float:
        """exp(H), the geometric mean of the tokens' probabilities."""
        return math.exp(self.average_log_likelihood)

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, with values that JSON can hold."""
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

    `source` is the text as it was given. `tokens` are the tokens of all its parts, with the end
    token of each part. A blank text has none, and neither has a text that is not translated, such
    as a link by itself.
    `alternatives` are the n best translations, this one first, if the call asks for several.
    `alignment` holds pairs (source word, target word), counted from 0; white space separates words.
    `pharaoh` prints it. It is None if the call does not ask for it, and for alternatives.
    `character_links` say more where a text has a script without spaces: they are pairs of places
    (begin, end) in `source` and `text`.
    `confidence`, 0 to 1, is the probability that a reader accepts the translation, and
    `word_confidences` the probability that each word of `text` (what white space separates) is
    right; they are None and empty if the model's folder has no calibration (`allyouneed
    calibrate`). `sentence_confidences` has the confidence of each sentence, or other part, that the
    model translated by itself; `confidence` is their mean by token.
    If the text has an address or another protected span, the model sees a name or a number in its
    place. `tokens` and all scores then belong to the text that the model saw. The words of the span
    have the confidence 1. `alignment` counts the words of `source` and `text` in any case.
    `notes` say what else was done to the text, and what the user should check. `terms` has an entry
    for each term of the glossary in the text, in order.
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
    character_links: CharacterLinks = ()

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, with values that JSON can hold; the alignment in Pharaoh format."""
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
