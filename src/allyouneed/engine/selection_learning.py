"""From lexical translations to a vocabulary selection, and how well it fits pairs of sentences.

V vocabulary · K distinct links, as in `lexical_translation`
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from allyouneed.engine.lexical_translation import LexicalTranslation, TokenPair
from allyouneed.engine.vocabulary_selection import VocabularySelection, indispensable
from allyouneed.errors import DataError
from allyouneed.text.tokenizer import Tokenizer

CANDIDATES = 100
FREQUENT = 100
LEAST_PROBABLE = 1e-5
"""What EM drives to nothing is no candidate, however few a source id has."""


def likeliest(
    lexical: LexicalTranslation, tokenizer: Tokenizer, candidates: int = CANDIDATES
) -> VocabularySelection:
    """Each source id's `candidates` most probable translations. For any sentence: the 100 target
    ids that were seen most often, the special ids and the single bytes."""
    vocabulary = lexical.vocabulary
    kept_K = (
        (lexical.ranks_K < candidates)
        & (lexical.probabilities_K > LEAST_PROBABLE)
        & (lexical.sources_K < vocabulary)
    )
    offsets = np.searchsorted(lexical.sources_K[kept_K], np.arange(vocabulary + 1))
    seen_V = np.bincount(lexical.targets_K, weights=lexical.counts_K, minlength=vocabulary)
    frequent = np.argsort(-seen_V, kind="stable")[:FREQUENT]
    return VocabularySelection(
        offsets.astype(np.int64),
        lexical.targets_K[kept_K].astype(np.int32),
        np.union1d(frequent, indispensable(tokenizer)).astype(np.int32),
    )


@dataclass(frozen=True, slots=True)
class Coverage:
    """How well a selection fits pairs of sentences.

    `selected` is the mean number of ids selected for a sentence, `covered` the share of the
    target tokens, ends included, that the selection of their own sentence contains.
    """

    sentences: int
    selected: float
    covered: float


def coverage(selection: VocabularySelection, pairs: Iterable[TokenPair]) -> Coverage:
    """Measures a selection on pairs of token ids that it was not learned from.

    Raises:
        DataError: no pairs.
    """
    sentences = selected = tokens = covered = 0
    for source, target in pairs:
        ids = selection.ids([source])
        sentences += 1
        selected += len(ids)
        tokens += len(target)
        covered += int(np.isin(target, ids).sum())
    if not tokens:
        raise DataError("there are no pairs to measure the selection on")
    return Coverage(sentences, selected / sentences, covered / tokens)
