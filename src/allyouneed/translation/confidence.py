"""How sure a translation is: what decoding has at hand, as signals for a calibration."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from allyouneed.model_folder.confidence import Calibration, probability
from allyouneed.text.language_names import name_of

LITTLE = 0.2
"""A confidence below this is told by a note. Of such translations of everyday sentences, more than
four in five are not acceptable."""


@dataclass(frozen=True, slots=True)
class Sureness:
    """The confidence of a text, 0 to 1, and of each of its words (none where they are not known).

    `tokens` is how much it counts beside that of other parts of a text.
    """

    text: float
    words: tuple[float, ...]
    tokens: int


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
) -> Sureness:
    """How sure the translation `target` is; `pieces` are its tokens as text, the last of them the
    end if it is `finished`."""
    signals = text_signals(log_probabilities, source_tokens, source, target)
    odds = calibration.text_odds(signals)
    count = len(pieces) - finished
    found = word_signals(log_probabilities[:count], pieces[:count], odds)
    words = tuple(probability(calibration.word_odds(one)) for one in found)
    if len(words) != len(target.split()):
        words = (probability(odds),) * len(target.split())
    return Sureness(probability(odds), words, len(log_probabilities))


def mean_of(parts: Iterable[tuple[float | None, int]]) -> float | None:
    """The confidence of a text of several parts, each given with its number of tokens: the mean by
    token; None where no part has one."""
    known = [(one, count) for one, count in parts if one is not None]
    total = sum(count for _, count in known)
    return math.fsum(one * count for one, count in known) / total if total else None


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


def doubted(confidence: float | None, source: str = "") -> list[str]:
    """A note where there is little confidence; `source` is the code of the source language."""
    if confidence is None or confidence >= LITTLE:
        return []
    language = name_of(source) or "the source language"
    told = f"little confidence: {confidence:.2f}; check the translation, and whether the text is in"
    return [f"{told} {language} and of a kind that the model knows"]
