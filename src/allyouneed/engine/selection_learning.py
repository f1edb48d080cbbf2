"""Learns a vocabulary selection from pairs of sentences, and measures how well it fits.

V vocabulary · K distinct links, as in `lexical_translation`
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np

from allyouneed.engine.lexical_translation import (
    LexicalTranslation,
    TokenPair,
    learn_lexical_translation,
)
from allyouneed.errors import DataError
from allyouneed.model_folder.vocabulary_selection import VocabularySelection, indispensable
from allyouneed.text.tokenizer import Tokenizer

CANDIDATES = 100
FREQUENT = 100
LEAST_PROBABLE = 1e-5
"""Targets of smaller probability are never candidates, even if a source id has few of them."""

HELD_OUT_EVERY = 100
PAIRS_AT_ONCE = 10_000

TextPair = tuple[str, str]
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class Coverage:
    """How well a selection fits pairs of sentences.

    `selected` is the mean number of ids selected for a sentence. `covered` is the share of target
    tokens, end tokens included, that their sentence's selection contains.
    """

    sentences: int
    selected: float
    covered: float


@dataclass(frozen=True)
class LearnedSelection:
    """A selection, and figures about the pairs it was learned from.

    `pairs` is the number of pairs learned from; `left_out` counts the pairs left out, by reason.
    `held_out` says how well the selection fits every 100th pair; these pairs are not learned from.
    It is None if there are fewer than 100 pairs.
    """

    selection: VocabularySelection
    pairs: int
    left_out: Mapping[str, int]
    held_out: Coverage | None


def learn_vocabulary_selection(
    pairs: Iterable[TextPair],
    tokenizer: Tokenizer,
    longest: int,
    candidates: int = CANDIDATES,
    progress: Progress = lambda stage, done, total: None,
) -> LearnedSelection:
    """Learns from sentences and their translations the target ids that each source id can need.

    Pairs with an empty side, or with more than `longest` tokens on a side, are left out.
    `progress(stage, done, total)` is called with the stages "reading", counted in pairs, and
    "learning", counted in rounds.

    Raises:
        DataError: there are no pairs.
    """
    held_out: list[TokenPair] = []
    left_out: Counter[str] = Counter()
    given = 0

    def words() -> Iterator[TokenPair]:
        nonlocal given
        for number, (source, target) in enumerate(tokenised(pairs, tokenizer), start=1):
            if number % PAIRS_AT_ONCE == 0:
                progress("reading", number, None)
            if min(len(source), len(target)) == 1:  # the end
                left_out["empty"] += 1
            elif max(len(source), len(target)) > longest:
                left_out[f"longer than {longest} tokens"] += 1
            elif number % HELD_OUT_EVERY == 0:
                held_out.append((source, target))
            else:
                given += 1
                yield source[:-1], target[:-1]

    def learning(done: int, total: int) -> None:
        progress("learning", done, total)

    lexical = learn_lexical_translation(words(), len(tokenizer), progress=learning)
    if given > lexical.pairs:
        left_out["more than can be learned from at once"] = given - lexical.pairs
    return LearnedSelection(
        selection := likeliest(lexical, tokenizer, candidates),
        lexical.pairs,
        left_out,
        coverage(selection, held_out) if held_out else None,
    )


def tokenised(
    pairs: Iterable[TextPair], tokenizer: Tokenizer
) -> Iterator[tuple[list[int], list[int]]]:
    """Both sides of each pair as ids that end in `end`, without white space around the texts."""
    remaining = iter(pairs)
    while chunk := list(islice(remaining, PAIRS_AT_ONCE)):
        sides = (tokenizer.encode_ids([pair[n].strip() for pair in chunk]) for n in (0, 1))
        yield from zip(*sides, strict=True)


def likeliest(
    lexical: LexicalTranslation, tokenizer: Tokenizer, candidates: int = CANDIDATES
) -> VocabularySelection:
    """The selection of each source id's `candidates` most probable translations. Every sentence
    also gets the 100 most frequent target ids, the special ids and the single bytes."""
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


def coverage(selection: VocabularySelection, pairs: Iterable[TokenPair]) -> Coverage:
    """Measures a selection on pairs of token ids that end in `end`.

    Raises:
        DataError: there are no pairs.
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
