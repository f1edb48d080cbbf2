"""IBM Model 1: a made-up language whose dictionary has to be found, and the formula written out."""

import random
from collections import defaultdict

import numpy as np
import pytest

from allyouneed.engine import lexical_translation
from allyouneed.engine.lexical_translation import (
    LexicalTranslation,
    TokenPair,
    learn_lexical_translation,
)
from allyouneed.errors import DataError

VOCABULARY = 60
WORDS = range(5, 25)
EVERYWHERE = 50  # stands in every translation, and translates nothing
DICTIONARY = {word: word + 25 for word in WORDS}


def made_pairs(count: int, seed: int = 0) -> list[TokenPair]:
    """Sentences of 3 to 6 words, translated word by word in another order, and one word more."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(count):
        source = rng.choices(WORDS, k=rng.randint(3, 6))
        target = [DICTIONARY[word] for word in source] + [EVERYWHERE]
        rng.shuffle(target)
        pairs.append((source, target))
    return pairs


def table(found: LexicalTranslation) -> dict[tuple[int, int], float]:
    keys = zip(found.sources_K.tolist(), found.targets_K.tolist(), strict=True)
    return dict(zip(keys, found.probabilities_K.tolist(), strict=True))


def written_out(pairs: list[TokenPair], rounds: int) -> dict[tuple[int, int], float]:
    """Brown et al. 1993, Model 1, token by token."""
    t: dict[tuple[int, int], float] = defaultdict(lambda: 1.0)
    for _ in range(rounds):
        counts: dict[tuple[int, int], float] = defaultdict(float)
        totals: dict[int, float] = defaultdict(float)
        for source, target in pairs:
            words = [*source, VOCABULARY]
            for e in target:
                whole = sum(t[f, e] for f in words)
                for f in words:
                    counts[f, e] += t[f, e] / whole
                    totals[f] += t[f, e] / whole
        t = defaultdict(float, {(f, e): count / totals[f] for (f, e), count in counts.items()})
    return dict(t)


def test_the_dictionary_is_found() -> None:
    found = learn_lexical_translation(made_pairs(300), VOCABULARY)
    best = found.ranks_K == 0
    learnt = dict(zip(found.sources_K[best].tolist(), found.targets_K[best].tolist(), strict=True))
    assert learnt == DICTIONARY | {VOCABULARY: EVERYWHERE}
    assert found.probabilities_K[best].min() > 0.5


@pytest.mark.parametrize("links_at_once", [1, 100, 10**6])
def test_it_is_the_formula_however_it_is_cut(
    monkeypatch: pytest.MonkeyPatch, links_at_once: int
) -> None:
    monkeypatch.setattr(lexical_translation, "LINKS_AT_ONCE", links_at_once)
    pairs = [*made_pairs(40), ([7, 7, 8], [32]), ([], [33, 33]), ([9], [])]
    found = learn_lexical_translation(pairs, VOCABULARY, rounds=3)
    assert table(found) == pytest.approx(written_out(pairs, 3), rel=1e-4, abs=1e-7)


def test_probabilities_are_sorted_and_add_up_and_counts_are_those_of_the_targets() -> None:
    pairs = made_pairs(50)
    found = learn_lexical_translation(pairs, VOCABULARY)
    sums = np.bincount(found.sources_K, weights=found.probabilities_K)
    assert sums[np.unique(found.sources_K)] == pytest.approx(1)
    worse = np.diff(found.probabilities_K) <= 0
    assert (worse | (np.diff(found.sources_K) > 0)).all()
    seen = np.bincount([id_ for _, target in pairs for id_ in target])
    assert np.bincount(found.targets_K, weights=found.counts_K) == pytest.approx(seen)


def test_of_too_many_links_pairs_are_taken_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [([word], [DICTIONARY[word]]) for word in WORDS]  # 2 links each
    monkeypatch.setattr(lexical_translation, "MOST_LINKS", 20)
    found = learn_lexical_translation(pairs, VOCABULARY)
    assert found.pairs == 10
    assert set(found.sources_K.tolist()) == {*list(WORDS)[::2], VOCABULARY}


def test_every_round_is_reported() -> None:
    heard: list[tuple[int, int]] = []
    learn_lexical_translation(
        made_pairs(2),
        VOCABULARY,
        rounds=2,
        progress=lambda done, total: heard.append((done, total)),
    )
    assert heard == [(1, 2), (2, 2)]


@pytest.mark.parametrize("pairs", [[], [([5, 6], [])]])
def test_nothing_to_learn_from(pairs: list[TokenPair]) -> None:
    with pytest.raises(DataError, match="no pairs with a translation"):
        learn_lexical_translation(pairs, VOCABULARY)
