"""How sure a translation is: what decoding has at hand, as signals for a calibration."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from textwrap import shorten
from typing import Any

from allyouneed.model_folder.confidence import Calibration, probability

LITTLE = 0.2
"""A confidence below this is told by a note. Of such translations of everyday sentences, more than
four in five are not acceptable."""
NAMED = 3  # sentences of little confidence that a note names
SHOWN = 40  # characters of such a sentence


@dataclass(frozen=True, slots=True)
class SentenceConfidence:
    """The confidence, 0 to 1, in the translation `text` of the sentence `source`, which has so many
    tokens."""

    source: str
    text: str
    confidence: float
    tokens: int

    def to_dict(self) -> dict[str, Any]:
        """The sentence, its translation and its confidence, for JSON."""
        return {"source": self.source, "text": self.text, "confidence": self.confidence}


def text_signals(
    log_probabilities: Sequence[float], source_tokens: int, source: str, target: str
) -> tuple[float, ...]:
    """The signals of a text's translation, in the order of `model_folder.confidence.TEXT`.

    They are, of the tokens' log-probabilities, the mean, the least, and the sum over the square
    root of their number; the mean of the probabilities; the logarithms of the number of tokens and
    of its ratio to the number of `source_tokens`; and the tokens per character of both texts, as
    strange words fall into many pieces.
    """
    count = len(log_probabilities)
    total = math.fsum(log_probabilities)
    return (
        total / count,
        min(log_probabilities),
        total / math.sqrt(count),
        math.fsum(map(math.exp, log_probabilities)) / count,
        math.log(count),
        math.log(count / source_tokens),
        source_tokens / (len(source) + 1),
        count / (len(target) + 1),
    )


def word_signals(
    log_probabilities: Sequence[float], pieces: Sequence[str], text_odds: float
) -> list[tuple[float, float, float]]:
    """For each word the signals in the order of `model_folder.confidence.WORD`: the mean and the
    least log-probability of its tokens, and the odds of the text. A word begins with a piece that
    begins with white space."""
    words: list[list[float]] = []
    for log_p, piece in zip(log_probabilities, pieces, strict=True):
        if not words or piece[:1].isspace():
            words.append([])
        words[-1].append(log_p)
    return [(math.fsum(one) / len(one), min(one), text_odds) for one in words]


def sureness(
    calibration: Calibration,
    log_probabilities: Sequence[float],
    pieces: Sequence[str],
    source_tokens: int,
    source: str,
    target: str,
    *,
    finished: bool,
) -> tuple[float, tuple[float, ...]]:
    """The confidence in the translation `target` and in each of its words, 0 to 1.

    `pieces` are the tokens of the translation as text; the last one is the end if the translation
    is `finished`.
    """
    signals = text_signals(log_probabilities, source_tokens, source, target)
    odds = calibration.text_odds(signals)
    count = len(pieces) - finished
    found = word_signals(log_probabilities[:count], pieces[:count], odds)
    words = tuple(probability(calibration.word_odds(one)) for one in found)
    if len(words) != len(target.split()):
        words = (probability(odds),) * len(target.split())
    return probability(odds), words


def confidence_of(sentences: Sequence[SentenceConfidence]) -> float | None:
    """The confidence of a text: the mean of its sentences, weighted by their numbers of tokens.
    None for a text without sentences."""
    total = sum(one.tokens for one in sentences)
    return math.fsum(one.confidence * one.tokens for one in sentences) / total if total else None


def words_of(parts: Iterable[Sequence[float]], target: str) -> tuple[float, ...]:
    """The confidences of the words of a text of several parts; none where they cannot be told
    apart, as where a word was cut."""
    words = tuple(word for part in parts for word in part)
    return words if len(words) == len(target.split()) else ()


def moved(words: Sequence[float], before: str, after: str) -> tuple[float, ...]:
    """The confidences of the words `before` as those `after` some were written anew: these are
    certain, as they are what was typed."""
    old, new = before.split(), after.split()
    if len(words) != len(old):
        return ()
    found = [1.0] * len(new)
    for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        found[block.b : block.b + block.size] = words[block.a : block.a + block.size]
    return tuple(found)


def doubts(sentences: Sequence[SentenceConfidence]) -> list[str]:
    """A note where there is little confidence in a text, or in some of its sentences."""
    confidence = confidence_of(sentences)
    if confidence is None:
        return []
    if confidence < LITTLE:
        told = (
            f"little confidence: {confidence:.2f}; check the translation, and whether the text is"
        )
        return [f"{told} in the source language and of a kind that the model knows"]
    doubtful = [one for one in sentences if one.confidence < LITTLE]
    if not doubtful:
        return []
    named = [
        f"{shorten(one.source, SHOWN, placeholder='…')!r} ({one.confidence:.2f})"
        for one in doubtful[:NAMED]
    ]
    more = [f"{len(doubtful) - NAMED} more"] if len(doubtful) > NAMED else []
    count = f"{len(doubtful)} of {len(sentences)} sentences"
    return [f"little confidence in {count}: {', '.join([*named, *more])}; check them"]


def without_doubts(notes: Iterable[str], sentences: Sequence[SentenceConfidence]) -> list[str]:
    """The notes of a part of a text without those of `doubts`, which the whole text has anew."""
    own = doubts(sentences)
    return [note for note in notes if note not in own]
