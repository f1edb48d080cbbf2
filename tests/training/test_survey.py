"""What a plan of a run says of its corpora, against what the run then finds in them."""

from pathlib import Path
from typing import Any

import pytest

from allyouneed.data.batches import BatchSampler
from allyouneed.data.corpus import Corpus
from allyouneed.data.filters import Filters
from allyouneed.errors import DataError
from allyouneed.training import survey as survey_module
from allyouneed.training.corpora import corpora_of
from allyouneed.training.preparation import prepare
from allyouneed.training.survey import Survey, sample, survey, texts

MADE = 'data.train=[{made="copy", pairs=3000, seed=1}, {made="reverse", pairs=300, seed=2}]'


def surveyed(runs: Any, *overrides: str) -> tuple[Survey, Any, Any]:
    """The survey, the material of the same recipe, and the recipe."""
    recipe = runs.recipe(*overrides)
    material = prepare(recipe, runs.root / "run", lambda text: None)
    tables = [corpora_of(recipe, section) for section in recipe.data.train]
    samples = [[sample(corpus, lambda *news: None) for corpus in table] for table in tables]
    filters = recipe.data.filters.filters()
    return survey(recipe, samples, material.tokenizer, filters), material, recipe


def found(material: Any, recipe: Any) -> tuple[int, int]:
    """(batches, target tokens) of an epoch as it is trained on."""
    sampler = BatchSampler(material.train, recipe.training.batch_tokens, 0, material.weights)
    batches = sampler.epoch_batches(0)
    lengths = material.train.lengths()[1]
    return len(batches), sum(int(lengths[batch].sum()) for batch in batches)


@pytest.mark.parametrize("more", [(), ("data.temperature=4", "data.train.1.weight=2.5")])
def test_small_corpora_are_known_exactly(runs: Any, more: tuple[str, ...]) -> None:
    told, material, recipe = surveyed(runs, MADE, "data.filters.drop_duplicates=false", *more)
    batches, tokens = found(material, recipe)
    assert (told.pairs, told.kept) == (3300, len(material.train))
    assert told.epoch_batches == pytest.approx(batches, rel=0.01)
    assert told.epoch_tokens == pytest.approx(tokens, rel=0.01)
    assert sum(rows for rows, _, _ in told.batches) == pytest.approx(3300, rel=0.01)


def test_large_corpora_are_known_by_a_sample(runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_module, "SAMPLE", 200)
    changes = ("data.filters.max_tokens=14", "data.temperature=4", "training.batch_tokens=128")
    told, material, recipe = surveyed(runs, MADE, *changes)
    assert sum(rows for rows, _, _ in told.batches) < 700
    batches, tokens = found(material, recipe)
    assert told.pairs == 3300
    assert told.kept == pytest.approx(len(material.train), rel=0.1)
    assert told.epoch_batches == pytest.approx(batches, rel=0.1)
    assert told.epoch_tokens == pytest.approx(tokens, rel=0.1)


def test_copies_with_noise_count_as_pairs(runs: Any) -> None:
    noise = ("noise.copies=3", "noise.capitals=0.2", "data.filters.drop_duplicates=false")
    told, material, recipe = surveyed(runs, MADE, *noise)
    assert told.pairs == told.kept == len(material.train) == 9900
    assert told.epoch_tokens == pytest.approx(found(material, recipe)[1], rel=0.01)


def test_a_sample_is_spread_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_module, "SAMPLE", 100)
    one = sample(Corpus(made="copy", pairs=1050), lambda *news: None)
    assert one.read == 1050
    assert [pair.line for pair in one.pairs] == list(range(1, 1051, 8))
    assert sum(1 for _ in texts([one])) == 2 * len(one.pairs)


def test_what_cannot_be_trained_on(runs: Any, tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("a\tb\n" * 3 + "a " * 40 + "\tb\n")
    recipe = runs.recipe(f'data.train=[{{source = "{path}"}}]', "training.batch_tokens=20")
    tokenizer = survey_module.Tokenizer.train(["a b"] * 9, 270)
    samples = [[sample(Corpus(path), lambda *news: None)]]
    with pytest.raises(DataError, match=r"pairs\.tsv:4: a pair of .* batch_tokens=20"):
        survey(recipe, samples, tokenizer, Filters(max_ratio=100))
    with pytest.raises(
        DataError, match=r"pairs\.tsv: no pair is left; read 4 pairs; too short: 4 \("
    ):
        survey(recipe, samples, tokenizer, Filters(min_tokens=200))
    warmer = runs.recipe(f'data.train=[{{source = "{path}"}}]', "data.temperature=2")
    with pytest.raises(DataError, match=r"pairs\.tsv: no pair is left"):
        survey(warmer, samples, tokenizer, Filters(min_tokens=200))
