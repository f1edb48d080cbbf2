"""The translations of the lines of a text, joined to the translation of the text."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TypedDict

from allyouneed.decoding.links import Alignment
from allyouneed.translation.confidence import (
    confidence_of,
    doubts,
    without_doubts,
    words_of,
)
from allyouneed.translation.result import Translation
from allyouneed.translation.terms.use import TermUse
from allyouneed.translation.words import WordCounter


def joined(
    source: str, parts: Sequence[Translation], ends: Sequence[str], notes: Sequence[str] = ()
) -> Translation:
    """The translation of `source` from the translations of its parts, in order.

    `ends` holds what follows each part, in the source and in the translation alike. `notes` come
    before the notes of the parts; the note on sentences of little confidence is about the whole.
    The result has an alignment if every part has one, and no alternatives.
    """
    whole = "".join(part.text + end for part, end in zip(parts, ends, strict=True))
    terms: list[TermUse] = []
    begin = length = 0  # of the part in the source, and of the translation so far
    for part, end in zip(parts, ends, strict=True):
        terms += (use.moved(begin, length) for use in part.terms)
        begin += len(part.source) + len(end)
        length += len(part.text) + len(end)
    sentences = tuple(one for part in parts for one in part.sentence_confidences)
    own = [without_doubts(part.notes, part.sentence_confidences) for part in parts]
    return Translation(
        source=source,
        text=whole,
        **scored_tokens(parts),
        alignment=_joined_alignment(parts, ends),
        notes=(*dict.fromkeys(chain(notes, *own)), *doubts(sentences)),
        terms=tuple(terms),
        confidence=confidence_of(sentences),
        sentence_confidences=sentences,
        word_confidences=words_of((part.word_confidences for part in parts), whole),
    )


class ScoredTokens(TypedDict):
    """The fields of `Score`, as its keywords."""

    tokens: tuple[str, ...]
    token_log_probabilities: tuple[float, ...]


def scored_tokens(parts: Iterable[Translation]) -> ScoredTokens:
    """The tokens of all parts, in order, with their log-probabilities."""
    both = [(one.tokens, one.token_log_probabilities) for one in parts]
    return {
        "tokens": tuple(chain.from_iterable(tokens for tokens, _ in both)),
        "token_log_probabilities": tuple(chain.from_iterable(scores for _, scores in both)),
    }


def _joined_alignment(parts: Sequence[Translation], ends: Sequence[str]) -> Alignment | None:
    """The alignments of the parts as one, its words counted through the whole text."""
    source, target = WordCounter(), WordCounter()
    links: list[tuple[int, int]] = []
    for part, end in zip(parts, ends, strict=True):
        if part.alignment is None:
            return None
        links += ((source.next + i, target.next + j) for i, j in part.alignment)
        source.add(part.source + end)
        target.add(part.text + end)
    return tuple(links)
