"""The confidence in a translation: a calibration turns signals from decoding into a probability."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from textwrap import shorten
from typing import Any

from allyouneed.model_folder.confidence import Calibration, probability

LITTLE = 0.35
"""A translation with a confidence below this limit gets a note. Of the bundled models' translations
of held-out everyday sentences, news and captions, 89 to 91 % with such a note are not acceptable
(chrF below 55), and they are 58 to 72 % of all unacceptable translations of news."""
LITTLE_OF_ONE = 0.5
"""The same for a text of one word: the words that the bundled models know are above it."""
MOST_WITH_FAULT = LITTLE
"""The most confidence in a translation with a known fault, such as a lost number. The model may be
sure of such a translation, but few readers would accept it. Its fault has a note of its own."""
LITTLE_OF_WORD = 0.1
"""Words with a confidence below this limit are told, too. Of such words in the translations of
1,800 held-out everyday sentences, one in 9 is in the reference."""
_MARKS = "\"'“”„‚‘’«»()[].,;:!?…-–"
NAMED = 3  # sentences or words of little confidence that a note names
SHOWN = 40  # characters of such a sentence


@dataclass(frozen=True, slots=True)
class SentenceConfidence:
    """The confidence, 0 to 1, in `text` as the translation of the sentence `source`.

    `tokens` is the number of tokens of `text`. `doubtful` are its words of little confidence.
    """

    source: str
    text: str
    confidence: float
    tokens: int
    doubtful: tuple[str, ...] = ()

    @property
    def is_little(self) -> bool:
        """Whether the sentence gets a note."""
        return self.confidence < (LITTLE_OF_ONE if len(self.source.split()) == 1 else LITTLE)

    def to_dict(self) -> dict[str, Any]:
        """The sentence, its translation and its confidence, for JSON."""
        return {"source": self.source, "text": self.text, "confidence": self.confidence}


def text_signals(
    log_probabilities: Sequence[float],
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    source: str,
    target: str,
) -> tuple[float, ...]:
    """The signals of a text's translation, in the order of `model_folder.confidence.TEXT`.

    From the log-probabilities of the tokens: their mean, their minimum, their sum divided by the
    square root of their number, and the mean of the probabilities. From the lengths: the logarithm
    of the number of tokens, the logarithm of its ratio to the number of source tokens, and the
    tokens per character of source and target. Rare words are split into many pieces, so a high
    number of tokens per character is a sign of doubt. From the ids: the mean and the maximum of
    their logarithms in the source, and their mean in the target. Vocabularies list frequent pieces
    first, so a high id is a sign of a rare word.
    """
    count, source_tokens = len(log_probabilities), len(source_ids)
    rare = [math.log1p(id) for id in source_ids[:-1]] or [0.0]
    written = [math.log1p(id) for id in target_ids[:-1]] or [0.0]
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
        math.fsum(rare) / len(rare),
        max(rare),
        math.fsum(written) / len(written),
    )


def word_signals(
    log_probabilities: Sequence[float], pieces: Sequence[str], text_odds: float
) -> list[tuple[float, float, float]]:
    """The signals of each word, in the order of `model_folder.confidence.WORD`: the mean and the
    minimum of the log-probabilities of its tokens, and the odds of the text. A piece that begins
    with white space begins a word."""
    words = _by_word(log_probabilities, pieces)
    return [(math.fsum(one) / len(one), min(one), text_odds) for one in words]


def _by_word(log_probabilities: Sequence[float], pieces: Sequence[str]) -> list[list[float]]:
    """The log-probabilities of each word's tokens."""
    words: list[list[float]] = []
    for log_p, piece in zip(log_probabilities, pieces, strict=True):
        if not words or piece[:1].isspace():
            words.append([])
        words[-1].append(log_p)
    return words


def _as_the_others(words: Sequence[Sequence[float]], numbers: Collection[int]) -> list[float]:
    """The log-probabilities of the tokens of all words, one after the other. A token of one of the
    words with these `numbers` gets the mean of the other words' tokens, or 0 without others."""
    others = [log_p for n, word in enumerate(words) if n not in numbers for log_p in word]
    mean = math.fsum(others) / len(others) if others else 0.0
    return [mean if n in numbers else log_p for n, word in enumerate(words) for log_p in word]


def sureness(
    calibration: Calibration,
    log_probabilities: Sequence[float],
    pieces: Sequence[str],
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    source: str,
    target: str,
    terms: Collection[int] = (),
    *,
    finished: bool,
) -> tuple[float, tuple[float, ...]]:
    """The confidence in the translation `target` and in each of its words, 0 to 1.

    `pieces` are the tokens of the translation as text; the last one is the end if the translation
    is `finished`. The confidence in the translation of one word is not above that in its own words,
    because the calibration learned from sentences.

    `terms` are the numbers of the words of `target` that a glossary demands. The model may find
    them unlikely, but the user wants them, so they count like the other words on average.
    """
    own = len(pieces) - finished  # without the end
    if terms:
        by_word = _by_word(log_probabilities[:own], pieces[:own])
        if len(by_word) == len(target.split()):
            log_probabilities = [*_as_the_others(by_word, terms), *log_probabilities[own:]]
    signals = text_signals(log_probabilities, source_ids, target_ids, source, target)
    odds = calibration.text_odds(signals)
    found = word_signals(log_probabilities[:own], pieces[:own], odds)
    words = tuple(probability(calibration.word_odds(one)) for one in found)
    if len(words) != len(target.split()):
        words = (probability(odds),) * len(target.split())
    whole = probability(odds)
    return min(whole, *words) if words and len(source.split()) == 1 else whole, words


def doubtful_words(words: Sequence[float], text: str) -> tuple[str, ...]:
    """The words of a text of little confidence, without their marks, from their confidences."""
    found = text.split()
    if len(found) != len(words):
        return ()
    pairs = zip(found, words, strict=True)
    bare = (word.strip(_MARKS) for word, one in pairs if one < LITTLE_OF_WORD)
    return tuple(dict.fromkeys(filter(None, bare)))


def confidence_of(sentences: Sequence[SentenceConfidence]) -> float | None:
    """The confidence of a text: the mean of its sentences, weighted by their numbers of tokens.
    None for a text without sentences."""
    total = sum(one.tokens for one in sentences)
    return math.fsum(one.confidence * one.tokens for one in sentences) / total if total else None


def words_of(parts: Iterable[Sequence[float]], target: str) -> tuple[float, ...]:
    """The confidences of the words of `target`, from those of the words of its parts. Empty if the
    counts differ, as they do when a part ends within a word."""
    words = tuple(word for part in parts for word in part)
    return words if len(words) == len(target.split()) else ()


def moved(words: Sequence[float], before: str, after: str) -> tuple[float, ...]:
    """The confidences of the words of `after`, which is `before` with some words replaced by text
    from the source. Words from the source have confidence 1."""
    old, new = before.split(), after.split()
    if len(words) != len(old):
        return ()
    found = [1.0] * len(new)
    for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        found[block.b : block.b + block.size] = words[block.a : block.a + block.size]
    return tuple(found)


def doubts(sentences: Sequence[SentenceConfidence]) -> list[str]:
    """Notes if the confidence in a text, in some of its sentences or in words is too little."""
    confidence = confidence_of(sentences)
    if confidence is None:
        return []
    doubtful = [one for one in sentences if one.is_little]
    if confidence < LITTLE or (doubtful and len(sentences) == 1):
        told = (
            f"little confidence: {confidence:.2f}; check the translation, and whether the text is"
        )
        return [f"{told} in the source language and of a kind that the model knows"]
    notes = []
    if doubtful:
        shown = [
            f"{shorten(one.source, SHOWN, placeholder='…')!r} ({one.confidence:.2f})"
            for one in doubtful
        ]
        count = f"{len(doubtful)} of {len(sentences)} sentences"
        notes.append(f"little confidence in {count}: {_few(shown)}; check them")
    words = {word for one in sentences if not one.is_little for word in one.doubtful}
    if words:
        what, them = ("the word", "it") if len(words) == 1 else ("the words", "them")
        named = _few(sorted(map(repr, words)))
        notes.append(f"little confidence in {what} {named}; check {them}")
    return notes


def _few(shown: Sequence[str]) -> str:
    more = [f"{len(shown) - NAMED} more"] if len(shown) > NAMED else []
    return ", ".join([*shown[:NAMED], *more])


def without_doubts(notes: Iterable[str], sentences: Sequence[SentenceConfidence]) -> list[str]:
    """The notes of a part of a text, without the note of `doubts` about that part. The whole text
    gets a note of its own."""
    own = doubts(sentences)
    return [note for note in notes if note not in own]
