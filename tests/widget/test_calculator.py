"""The calculator's steps follow from one another by the paper's formulas, and are the model's."""

import math

import numpy as np
import pytest
import torch

from allyouneed.core.transformer import Transformer
from allyouneed.errors import UsageError
from allyouneed.insight.capture import capture
from allyouneed.insight.intervene import intervene
from allyouneed.insight.names import attentions
from allyouneed.widget.calculator import STEPS, calculate

SOURCE, TARGET = [5, 6, 7, 8, 2], [9, 10, 11, 2]


@pytest.fixture(params=["post-norm", "pre-norm"])
def model(small_model, request: pytest.FixtureRequest) -> Transformer:
    return small_model(encoder_layers=2, decoder_layers=2, residual=request.param)


def softmax(scores: np.ndarray) -> np.ndarray:
    return np.exp(scores) / np.exp(scores).sum()


@pytest.mark.parametrize(
    "module",
    [
        "encoder.layers.1.self_attention",
        "decoder.layers.1.self_attention",
        "decoder.layers.0.cross_attention",
    ],
)
def test_each_step_follows_from_the_ones_before(model: Transformer, module: str) -> None:
    query, head, near = 2, 1, {"atol": 1e-5, "rtol": 1e-4}
    found = calculate(model, SOURCE, TARGET, module, head, query).arrays
    assert list(found) == list(STEPS)
    np.testing.assert_allclose(found["products"], found["keys"] @ found["q"], **near)
    np.testing.assert_allclose(found["scaled"], found["products"] / math.sqrt(8), **near)
    masked = np.where(found["mask"] > 0, found["scaled"], -np.inf)
    np.testing.assert_allclose(found["weights"], softmax(masked), **near)
    np.testing.assert_allclose(found["sum"], found["weights"] @ found["values"], **near)
    causal = module == "decoder.layers.1.self_attention"
    assert found["mask"].tolist() == ([1, 1, 1, 0] if causal else [1] * 5)
    W_O = attentions(model)[module].W_O
    heads = [calculate(model, SOURCE, TARGET, module, h, query).arrays["output"] for h in (0, 1)]
    np.testing.assert_allclose(sum(heads) + W_O.bias.detach().numpy(), found["attention"], **near)


def test_the_numbers_are_the_models_own(model: Transformer) -> None:
    module = "decoder.layers.1.cross_attention"
    with capture(model, residuals=True) as tape, torch.no_grad():
        model(torch.tensor([SOURCE]), torch.tensor([[1, *TARGET[:-1]]]))
    found = calculate(model, SOURCE, TARGET, module, 0, 3).arrays
    torch.testing.assert_close(torch.tensor(found["weights"]), tape[module][0, 0, 3])
    behind = tape.residuals[module][0, 3]
    last = "norm" if model.config.residual == "post-norm" else "residual"
    torch.testing.assert_close(torch.tensor(found[last]), behind)
    before = tape.residuals["decoder.layers.1.self_attention"][0, 3]
    torch.testing.assert_close(torch.tensor(found["residual"] - found["attention"]), before)


def test_an_intervention_is_seen(model: Transformer) -> None:
    module = "decoder.layers.0.cross_attention"
    with intervene(model, switch_off=[f"{module}[1]"]):
        found = calculate(model, SOURCE, TARGET, module, 1, 0).arrays
    assert not found["weights"].any()
    assert found["products"].any()


def test_words_and_shapes(model: Transformer) -> None:
    told = calculate(model, SOURCE, TARGET, "decoder.layers.0.cross_attention", 0, 0).json
    assert [step["name"] for step in told["steps"]] == list(STEPS)
    assert told["shapes"]["keys"] == [5, 8]
    assert told["shapes"]["W_O"] == [16, 16]
    formula = told["steps"][-1]["formula"]
    assert formula == ("LayerNorm(x)" if model.config.residual == "pre-norm" else STEPS["norm"][1])


@pytest.mark.parametrize(
    ("module", "head", "query", "words"),
    [
        ("decoder.layers.9.cross_attention", 0, 0, "there is no"),
        ("decoder.layers.0.cross_attention", 2, 0, "heads 0 … 1, not 2"),
        ("decoder.layers.0.cross_attention", 0, 4, "queries 0 … 3, not 4"),
    ],
)
def test_what_is_not_there(model: Transformer, module: str, head: int, query: int, words) -> None:
    with pytest.raises(UsageError, match=words):
        calculate(model, SOURCE, TARGET, module, head, query)
