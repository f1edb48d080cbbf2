"""It must learn, and learn the same way twice."""

from typing import Any

import pytest

from allyouneed.data.synthetic import made_pairs
from allyouneed.loading import load
from allyouneed.training.run import train


def test_the_same_seed_gives_the_same_run(runs: Any) -> None:
    for name, seed in (("one", 1), ("two", 1), ("other", 2)):
        runs.start(name, f"seed={seed}")
    assert runs.losses("one") == runs.losses("two")
    assert runs.weights("one") == runs.weights("two")
    other = runs.losses("other")
    assert all(loss != other[step] for step, loss in runs.losses("one").items())


@pytest.mark.slow
def test_it_learns_to_reverse_letters(runs: Any) -> None:
    result = train("reverse", runs.root / "run", overrides=["validation.sentences=0"])
    pairs = list(made_pairs("reverse", 300, seed=3))
    found = load(result.model)([pair.source for pair in pairs], beam=1)
    right = sum(text.text == pair.target for text, pair in zip(found, pairs, strict=True))
    assert right / len(pairs) >= 0.98
