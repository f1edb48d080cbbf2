"""Posteriors against a sum over all alignments."""

import itertools

import numpy as np
import pytest

from allyouneed.data.alignment.jumps import NULL, JumpCounts, Jumps, distances, posteriors


def by_enumeration(lexical_TS: np.ndarray, null_T: np.ndarray, jumps: Jumps) -> np.ndarray:
    """State s < S: the target word comes from source word s; S + s: from none, the last was s."""
    target, source = lexical_TS.shape
    move, first = jumps.matrix(source), jumps.first(source)
    found, total = np.zeros((target, source)), 0.0
    for states in itertools.product(range(2 * source), repeat=target):
        chance, place = 1.0, None
        for t, state in enumerate(states):
            word = state < source
            if word:
                step = first[state] if place is None else move[place, state]
                chance *= (1 - NULL) * step * lexical_TS[t, state]
            elif place is None:
                chance *= NULL * first[state - source] * null_T[t]
            else:
                chance *= NULL * (state - source == place) * null_T[t]
            place = state % source
        total += chance
        for t, state in enumerate(states):
            if state < source:
                found[t, state] += chance
    return found / total


def test_posteriors_are_those_of_all_alignments_together() -> None:
    rng = np.random.default_rng(1)
    lexical = rng.random((2, 3, 2)).astype(np.float32)
    null = rng.random((2, 3)).astype(np.float32)
    jumps = Jumps(rng.random(25), rng.random(13))
    found = posteriors(lexical, null, np.array([3, 2]), jumps)
    assert found[0] == pytest.approx(by_enumeration(lexical[0], null[0], jumps), abs=1e-5)
    assert found[1, :2] == pytest.approx(
        by_enumeration(lexical[1, :2], null[1, :2], jumps), abs=1e-5
    )
    assert not found[1, 2].any()  # no third word


def test_jumps_are_counted() -> None:
    """Words that can come from one source word alone make one jump forward each."""
    lexical = np.full((1, 4, 4), 1e-9, dtype=np.float32)
    lexical[0, range(4), range(4)] = 1.0
    counts = JumpCounts()
    posteriors(lexical, np.full((1, 4), 1e-12, np.float32), np.array([4]), Jumps.at_first(), counts)
    jumps = counts.jumps()
    forward = distances(2)[0, 1]
    assert jumps.steps[forward] > 0.98
    assert jumps.starts[0] > 0.98


def test_rows_of_jumps_sum_up_to_one() -> None:
    for width in (1, 2, 40):
        assert Jumps.at_first().matrix(width).sum(axis=1) == pytest.approx(np.ones(width), rel=1e-5)
        assert Jumps.at_first().first(width).sum() == pytest.approx(1, rel=1e-5)
