"""The whole model: names, shapes, shared weights, first values."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ShapeError

Loud = Callable[..., nn.Module]
Sentences = Callable[..., Tensor]
GOLDEN = Path(__file__).parent / "golden" / "names-v1.txt"

NAMED: dict[str, dict[str, Any]] = {
    "all": {},
    "output": {"shared_embeddings": "output", "source_vocabulary": 19},
    "none": {"shared_embeddings": "none", "output_bias": True},
    "no bias": {"bias": False},
    "pre-norm rms swiglu rotary": {
        "residual": "pre-norm",
        "norm": "rms",
        "activation": "swiglu",
        "positions": "rotary",
    },
    "learned": {"positions": "learned", "normalise_embeddings": True},
    "stored": {"positions": "stored"},
    "ssru": {"decoder": "ssru"},
}


def golden() -> dict[str, list[str]]:
    blocks = GOLDEN.read_text(encoding="utf-8").strip().split("\n\n")
    return {block.split("\n")[0].strip("[]"): block.split("\n")[1:] for block in blocks}


@pytest.mark.parametrize("kind", NAMED)
def test_parameter_names_are_a_promise(config: TransformerConfig, kind: str) -> None:
    model = Transformer(replace(config, encoder_layers=1, decoder_layers=1, **NAMED[kind]))
    assert sorted(model.state_dict()) == golden()[kind]


def test_the_promise_has_no_other_kinds() -> None:
    assert list(golden()) == list(NAMED)


SHARED = {
    "all": {
        "decoder.embeddings.tokens.weight": "encoder.embeddings.tokens.weight",
        "output.weight": "encoder.embeddings.tokens.weight",
    },
    "output": {"output.weight": "decoder.embeddings.tokens.weight"},
    "none": {},
}


@pytest.mark.parametrize("kind", SHARED)
def test_shared_weights_are_one_tensor(config: TransformerConfig, kind: str) -> None:
    model = Transformer(replace(config, shared_embeddings=kind))
    assert model.tied_weights() == SHARED[kind]
    names = ["encoder.embeddings.tokens", "decoder.embeddings.tokens", "output"]
    for copy in (model, deepcopy(model), model.double()):
        matrices = [copy.get_parameter(f"{name}.weight") for name in names]
        assert len({id(matrix) for matrix in matrices}) == 3 - len(SHARED[kind])
        for name, owner in SHARED[kind].items():
            assert copy.get_parameter(name) is copy.get_parameter(owner)


def test_sides_may_have_vocabularies_of_their_own(config: TransformerConfig) -> None:
    model = Transformer(replace(config, source_vocabulary=41, shared_embeddings="output"))
    assert model.encoder.embeddings.tokens.weight.shape == (41, 16)
    assert model.decoder.embeddings.tokens.weight.shape == (23, 16)
    assert model(torch.tensor([[40, 2]]), torch.tensor([[1, 22]])).shape == (1, 2, 23)


def test_first_values() -> None:
    torch.manual_seed(0)
    config = TransformerConfig(
        vocabulary=500,
        d_model=64,
        heads=4,
        d_ff=256,
        encoder_layers=1,
        decoder_layers=1,
        shared_embeddings="none",
        positions="learned",
        output_bias=True,
    )
    model = Transformer(config)
    for side in (model.encoder, model.decoder):
        for table in (side.embeddings.tokens, side.embeddings.positions):
            assert table.weight.std().item() == pytest.approx(64**-0.5, rel=0.02)
            assert abs(table.weight.mean().item()) < 5 * 64**-0.5 / (500 * 64) ** 0.5
    ids_BT = torch.randint(0, 500, (4, 50))
    tokens = model.encoder.embeddings.tokens(ids_BT) * model.encoder.embeddings.scale
    assert tokens.std().item() == pytest.approx(1.0, rel=0.03)
    for name, part in model.named_modules():
        if isinstance(part, nn.Linear):
            limit = (6 / (part.in_features + part.out_features)) ** 0.5  # Glorot & Bengio
            assert 0.98 * limit < part.weight.abs().max() <= limit, name
            assert part.weight.std().item() == pytest.approx(limit / 3**0.5, rel=0.05), name
            assert part.bias is None or (part.bias == 0).all()
        if isinstance(part, nn.LayerNorm):
            assert (part.weight == 1).all()
            assert (part.bias == 0).all()


def test_a_shared_matrix_begins_as_an_embedding() -> None:
    torch.manual_seed(0)
    config = TransformerConfig(
        vocabulary=2000, d_model=64, heads=4, d_ff=64, encoder_layers=1, decoder_layers=1
    )
    assert Transformer(config).output.weight.std().item() == pytest.approx(1 / 8, rel=0.02)


def test_the_seed_decides_the_first_values(config: TransformerConfig) -> None:
    models = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        models.append(Transformer(config).state_dict())
    assert all(torch.equal(models[0][name], models[1][name]) for name in models[0])
    assert not torch.equal(models[0]["output.weight"], models[2]["output.weight"])


@pytest.mark.parametrize("kind", NAMED)
def test_every_parameter_learns(
    config: TransformerConfig, loud: Loud, sentences: Sentences, kind: str
) -> None:
    model = loud(Transformer(replace(config, **NAMED[kind])))
    source_BS, target_BT = sentences([7, 3], vocabulary=19), sentences([5, 6], vocabulary=19)
    log_probabilities = model(source_BS, target_BT).log_softmax(-1)
    (-log_probabilities[..., 3]).mean().backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.isfinite().all(), name
        # b_K moves all keys by one vector, which changes no softmax unless keys are rotated
        rotated = model.config.positions == "rotary" and "self_attention" in name
        if rotated or not name.endswith("W_K.bias"):
            assert weight.grad.abs().max() > 1e-6, name


def test_dropout_acts_while_training_and_only_then(
    config: TransformerConfig, sentences: Sentences
) -> None:
    model = Transformer(replace(config, dropout=0.1))
    source_BS, target_BT = sentences([7, 3]), sentences([5, 6])
    assert not torch.equal(model(source_BS, target_BT), model(source_BS, target_BT))
    model.eval()
    assert torch.equal(model(source_BS, target_BT), model(source_BS, target_BT))


@pytest.mark.parametrize("rate", ["dropout", "attention_dropout", "activation_dropout"])
def test_each_rate_reaches_its_place(
    config: TransformerConfig, sentences: Sentences, rate: str
) -> None:
    model = Transformer(replace(config, **{rate: 0.25}))  # type: ignore[arg-type]
    rates = {name: part.rate for name, part in model.named_modules() if hasattr(part, "rate")}
    suffix = {
        "dropout": ("embeddings.dropout", "residual.dropout"),
        "attention_dropout": ("attention.dropout",),
        "activation_dropout": ("feed_forward.activation.1",),
    }[rate]
    assert any(name.endswith(suffix) for name in rates)
    assert all(value == (0.25 if name.endswith(suffix) else 0) for name, value in rates.items())


@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_epsilon_and_scale_reach_their_places(config: TransformerConfig, norm: str) -> None:
    changes: dict[str, Any] = {"norm": norm, "norm_epsilon": 0.01, "normalise_embeddings": True}
    model = Transformer(replace(config, residual="pre-norm", scale_embeddings=False, **changes))
    epsilons = [part.eps for part in model.modules() if hasattr(part, "eps")]
    assert epsilons == [0.01] * (2 * 2 + 2 * 3 + 2 + 2)  # sub-layers, final norms, embeddings
    assert model.encoder.embeddings.scale == model.decoder.embeddings.scale == 1
    assert Transformer(config).decoder.embeddings.scale == 4


def test_dropout_before_the_activation(config: TransformerConfig) -> None:
    parts = {"activation_dropout": 0.25, "activation": "gelu"}
    for before, kinds in ((False, ["GELU", "Dropout"]), (True, ["Dropout", "GELU"])):
        model = Transformer(replace(config, dropout_before_activation=before, **parts))
        activation = model.encoder.layers[0].feed_forward.activation
        assert [type(part).__name__ for part in activation] == kinds


def test_too_many_tokens_are_an_error(config: TransformerConfig, sentences: Sentences) -> None:
    model = Transformer(config)
    with pytest.raises(ShapeError, match="33 tokens do not fit into max_positions=32"):
        model(sentences([33]), sentences([4]))
    with pytest.raises(ShapeError, match="40 tokens do not fit into max_positions=32"):
        model(sentences([3]), sentences([40]))


@pytest.fixture(scope="module")
def notebook() -> Transformer:
    """As one document has it: d_model 512, four heads, six layers, vocabulary 2000."""
    return Transformer(TransformerConfig(vocabulary=2000, heads=4)).eval()


@torch.no_grad()
def test_every_shape_of_the_notebook(notebook: Transformer) -> None:
    generator = torch.Generator().manual_seed(0)
    shape = (3, 6, 512)
    source_BS, target_BT = torch.randint(3, 2000, (2, 3, 6), generator=generator)
    embeddings = notebook.encoder.embeddings
    encoder_layer, decoder_layer = notebook.encoder.layers[0], notebook.decoder.layers[0]
    x = torch.rand(shape, generator=generator)

    assert embeddings.tokens(source_BS).shape == shape
    assert embeddings(source_BS).shape == shape
    assert embeddings.positions.table.shape == (1024, 512)
    assert encoder_layer.feed_forward_residual.norm(x).shape == shape
    assert encoder_layer.self_attention(x, x).shape == shape
    assert encoder_layer.feed_forward(x).shape == shape
    assert encoder_layer.self_attention_residual(x, encoder_layer.feed_forward).shape == shape
    assert encoder_layer(x).shape == shape
    memory = notebook.encode(source_BS)
    assert memory.states_BSD.shape == shape
    assert memory.may_look_B11S.shape == (3, 1, 1, 6)
    assert decoder_layer(x, memory).shape == shape
    assert notebook.decode(target_BT, memory).shape == shape
    assert len(notebook.encoder.layers) == len(notebook.decoder.layers) == 6
    assert notebook(source_BS, target_BT).shape == (3, 6, 2000)


@torch.no_grad()
def test_positions_are_a_buffer_that_moves_with_the_model(notebook: Transformer) -> None:
    # One document's `pe.cuda()` throws its result away; a buffer follows the model by itself.
    embeddings = deepcopy(notebook.encoder.embeddings).to("meta")
    assert embeddings.positions.table.device.type == "meta"
    assert not any("positions" in name for name in notebook.state_dict())


@torch.no_grad()
def test_encode_decode_and_output_are_the_whole(
    config: TransformerConfig, loud: Loud, sentences: Sentences
) -> None:
    model = cast(Transformer, loud(Transformer(config)))
    source_BS, target_BT = sentences([7, 3]), sentences([5, 6])
    states_BTD = model.decode(target_BT, model.encode(source_BS))
    assert_close(model.output(states_BTD), model(source_BS, target_BT))
