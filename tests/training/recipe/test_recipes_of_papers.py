"""The recipes of published models: their values, a dry run, and 20 updates on made-up text."""

from pathlib import Path
from typing import Any

import pytest
import torch

from allyouneed.core.config import BASE, BIG
from allyouneed.core.transformer import Transformer
from allyouneed.data.batches import BatchSampler
from allyouneed.errors import DataError
from allyouneed.training.gradient import Gradient
from allyouneed.training.objective import Objective
from allyouneed.training.optimizer import make_optimizer
from allyouneed.training.preparation import prepare
from allyouneed.training.recipe.toml_file import Recipe, load_recipe
from allyouneed.training.schedule import learning_rate
from allyouneed.training.tasks.translate import Translate
from allyouneed.training.workers import ALONE

# The text, the vocabulary and the batches are small; the shape is the recipe's.
SMALL = (
    'data.train=[{made="copy", pairs=60, seed=1}]',
    'data.valid=[{made="copy", pairs=4, seed=2}]',
    "vocabulary.size=280",
    "training.batch_tokens=64",
    "training.accumulate=1",
    "data.filters.max_ratio=3.0",
)
THINNER = ("model.encoder_layers=1", "model.decoder_layers=1")


def parameters(recipe: Recipe) -> int:
    with torch.device("meta"):
        model = Transformer(recipe.model.config(recipe.vocabulary.size))
    return sum(weight.numel() for weight in model.parameters())


@pytest.mark.parametrize(
    ("name", "shape", "millions", "steps", "averaged"),
    [("wmt14-base", BASE, 65, 100_000, 5), ("wmt14-big", BIG, 213, 300_000, 20)],
)
def test_table_3(name: str, shape: Any, millions: int, steps: int, averaged: int) -> None:
    recipe = load_recipe(name)
    config = recipe.model.config(37_000)
    for key in ("encoder_layers", "decoder_layers", "d_model", "d_ff", "heads", "dropout"):
        assert getattr(config, key) == getattr(shape, key)
    assert (config.residual, config.shared_embeddings) == ("post-norm", "all")
    assert parameters(recipe) / 1e6 == pytest.approx(millions, rel=0.04)
    training = recipe.training
    assert training.batch_tokens * training.accumulate == 25_000
    assert (training.steps, training.average_last) == (steps, averaged)
    assert training.label_smoothing == 0.1
    assert (recipe.schedule.name, recipe.schedule.warmup) == ("noam", 4000)
    assert (recipe.optimizer.betas, recipe.optimizer.epsilon) == ((0.9, 0.98), 1e-9)
    peak = max(learning_rate(recipe.schedule, step, config.d_model) for step in (3999, 4000, 4001))
    assert peak == pytest.approx((config.d_model * 4000) ** -0.5)


def test_the_shape_of_iwslt14() -> None:
    config = load_recipe("iwslt14").model.config(10_000)
    assert (config.d_model, config.d_ff, config.heads, config.dropout) == (512, 1024, 4, 0.3)
    assert (config.encoder_layers, config.decoder_layers) == (6, 6)
    assert parameters(load_recipe("iwslt14")) / 1e6 == pytest.approx(36.7, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "updates", "thinner"),
    # the big model is as wide as it is, and one layer deep: its updates take seconds otherwise
    [("wmt14-base", 20, ()), ("wmt14-big", 8, THINNER), ("iwslt14", 20, ())],
)
def test_updates_on_made_up_text(
    tmp_path: Path, name: str, updates: int, thinner: tuple[str, ...]
) -> None:
    recipe = load_recipe(name, [*SMALL, *thinner])
    material = prepare(recipe, tmp_path, lambda text: None)
    model = material.new_model(recipe.seed)
    objective = Objective(model, recipe.training, torch.device("cpu"))
    gradient = Gradient(recipe, Translate(recipe, material), objective, ALONE, lambda text: None)
    optimizer = make_optimizer(recipe.optimizer, model)
    batches = BatchSampler(material.train, recipe.training.batch_tokens, 1).epoch_batches(0)
    losses = []
    for step in range(1, updates + 1):
        losses.append(gradient.of(batches[:1], step, 0).loss)
        for group in optimizer.param_groups:  # as after an eighth of the warm-up
            group["lr"] = learning_rate(recipe.schedule, 500 + step, model.config.d_model)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("name", ["wmt14-base", "wmt14-big", "iwslt14"])
def test_data_that_is_not_there_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=rf"{name[:5]}.*no such file"):
        prepare(load_recipe(name), tmp_path, lambda text: None)
