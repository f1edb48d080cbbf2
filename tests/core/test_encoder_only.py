from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from allyouneed.core.config import BERT, TransformerConfig
from allyouneed.core.encoder_only import EncoderOnly, build_encoder_only
from allyouneed.core.heads import ClassificationHead, NextSentenceHead, Pooler, TaggingHead
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ConfigError, ShapeError

TINY_BERT = replace(
    BERT,
    vocabulary=23,
    d_model=16,
    heads=4,
    d_ff=24,
    encoder_layers=2,
    dropout=0.0,
    attention_dropout=0.0,
    max_positions=32,
)
EVERYTHING = {"masked_words": True, "next_sentence": True, "labels": 3, "tags": 5}
Sentences = Callable[..., Tensor]
Loud = Callable[..., nn.Module]


def everything(config: TransformerConfig = TINY_BERT) -> EncoderOnly:
    return build_encoder_only(config, **EVERYTHING)  # type: ignore[arg-type]


def test_shapes_of_states_and_heads(sentences: Sentences) -> None:
    model = everything().eval()
    ids_BS = sentences([9, 4, 6])
    states_BSD, may_look_B11S = model(ids_BS, torch.zeros_like(ids_BS))
    assert states_BSD.shape == (3, 9, 16)
    assert torch.equal(may_look_B11S[:, 0, 0], ids_BS != 0)
    shapes = {name: tuple(head(states_BSD).shape) for name, head in model.heads.items()}
    assert shapes == {
        "masked_words": (3, 9, 23),
        "next_sentence": (3, 2),
        "labels": (3, 3),
        "tags": (3, 9, 5),
    }
    assert model.heads["masked_words"](states_BSD[ids_BS != 0]).shape == (19, 23)


def test_bert_base_has_its_published_size() -> None:
    with torch.device("meta"):
        model = build_encoder_only(BERT, pooler=True)
    assert sum(weight.numel() for weight in model.parameters()) == 109_482_240  # "110M"


def test_parameter_names_are_a_promise() -> None:
    model = everything(replace(TINY_BERT, encoder_layers=0))
    owned = [name for name in model.state_dict() if name not in model.tied_weights()]
    assert owned == [
        "encoder.embeddings.tokens.weight",
        "encoder.embeddings.positions.weight",
        "encoder.embeddings.segments.weight",
        "encoder.embeddings.norm.weight",
        "encoder.embeddings.norm.bias",
        "pooler.W.weight",
        "pooler.W.bias",
        "heads.masked_words.W.weight",
        "heads.masked_words.W.bias",
        "heads.masked_words.norm.weight",
        "heads.masked_words.norm.bias",
        "heads.masked_words.output.bias",
        "heads.next_sentence.W.weight",
        "heads.next_sentence.W.bias",
        "heads.labels.W.weight",
        "heads.labels.W.bias",
        "heads.tags.W.weight",
        "heads.tags.W.bias",
    ]


def test_what_is_shared_is_shared_in_computing_too(sentences: Sentences, loud: Loud) -> None:
    model = loud(everything())
    assert model.tied_weights() == {
        "heads.masked_words.output.weight": "encoder.embeddings.tokens.weight",
        "heads.next_sentence.pooler.W.weight": "pooler.W.weight",
        "heads.next_sentence.pooler.W.bias": "pooler.W.bias",
        "heads.labels.pooler.W.weight": "pooler.W.weight",
        "heads.labels.pooler.W.bias": "pooler.W.bias",
    }
    states_BSD = model(sentences([5])).states_BSD
    before = model.heads["masked_words"](states_BSD)
    with torch.no_grad():
        model.encoder.embeddings.tokens.weight[7] += 1.0
    after = model.heads["masked_words"](states_BSD)
    assert torch.equal((before != after).any(dim=1)[0].nonzero().flatten(), torch.tensor([7]))


def test_heads_are_their_formulas(loud: Loud) -> None:
    states_BSD = torch.randn(2, 4, 16, generator=torch.Generator().manual_seed(1))
    model = loud(everything())
    head, tokens = model.heads["masked_words"], model.encoder.embeddings.tokens.weight
    hidden = nn.functional.gelu(states_BSD @ head.W.weight.T + head.W.bias)
    hidden = nn.functional.layer_norm(hidden, (16,), head.norm.weight, head.norm.bias, 1e-12)
    assert_close(head(states_BSD), hidden @ tokens.T + head.output.bias)
    pooled = torch.tanh(states_BSD[:, 0] @ model.pooler.W.weight.T + model.pooler.W.bias)
    for name in ("labels", "next_sentence"):
        head = model.heads[name]
        assert_close(head(states_BSD), pooled @ head.W.weight.T + head.W.bias)
    bare = loud(ClassificationHead(16, 3))
    assert_close(bare(states_BSD), states_BSD[:, 0] @ bare.W.weight.T + bare.W.bias)
    tagging = loud(TaggingHead(16, 5))
    assert_close(tagging(states_BSD), states_BSD @ tagging.W.weight.T + tagging.W.bias)
    assert (NextSentenceHead.FOLLOWS, NextSentenceHead.ELSEWHERE) == (0, 1)


@pytest.mark.parametrize("head", [ClassificationHead(16, 3, dropout=0.5), TaggingHead(16, 5, 0.5)])
def test_heads_drop_while_training_alone(head: nn.Module) -> None:
    states_BSD = torch.ones(2, 3, 16)
    assert not torch.equal(head.train()(states_BSD), head(states_BSD))
    assert torch.equal(head.eval()(states_BSD), head(states_BSD))


def test_a_text_is_independent_of_its_neighbours(sentences: Sentences, loud: Loud) -> None:
    model = loud(everything())
    ids_BS = sentences([9, 4, 6])
    states_BSD = model(ids_BS).states_BSD
    for row, ids in zip(states_BSD, ids_BS, strict=True):
        alone = ids[ids != 0][None]
        assert_close(row[: alone.size(1)], model(alone).states_BSD[0])


def test_every_position_looks_both_ways(sentences: Sentences, loud: Loud) -> None:
    model = loud(everything())
    ids_BS = sentences([8])
    for changed in range(8):
        other = ids_BS.clone()
        other[0, changed] = (other[0, changed] + 1) % 20 + 3
        moved = (model(other).states_BSD - model(ids_BS).states_BSD).abs().amax(dim=2)[0]
        assert (moved > 1e-4).all()


def test_segments_matter_and_default_to_the_first(sentences: Sentences, loud: Loud) -> None:
    model = loud(everything())
    ids_BS = sentences([8])
    first = torch.zeros_like(ids_BS)
    assert torch.equal(model(ids_BS).states_BSD, model(ids_BS, first).states_BSD)
    assert not torch.allclose(model(ids_BS).states_BSD, model(ids_BS, first + 1).states_BSD)


def test_sinusoids_and_no_segments_are_a_choice(sentences: Sentences) -> None:
    model = everything(replace(TINY_BERT, positions="sinusoidal", segments=0, bias=False)).eval()
    assert model(sentences([5])).states_BSD.isfinite().all()
    with pytest.raises(ShapeError, match="have no segments"):
        model(sentences([5]), torch.zeros(1, 5, dtype=torch.int64))


def test_attention_knows_its_name_and_config_its_layers(config: TransformerConfig) -> None:
    model = build_encoder_only(config, tags=2)
    assert model.encoder.layers[1].self_attention.name == "encoder.layers.1.self_attention"
    assert model.config == replace(config, decoder_layers=0)
    assert set(model.heads) == {"tags"}
    assert model.pooler is None


@pytest.mark.parametrize(
    ("heads", "pooler"),
    [
        ({}, False),
        ({"masked_words": True}, False),
        ({"labels": 2}, True),
        ({"next_sentence": True}, True),
        ({"labels": 2, "pooler": False}, False),
        ({"pooler": True}, True),
    ],
)
def test_there_is_a_pooler_where_a_head_looks_through_it(
    heads: dict[str, int], pooler: bool
) -> None:
    model = build_encoder_only(TINY_BERT, **heads)  # type: ignore[arg-type]
    assert isinstance(model.pooler, Pooler) == pooler


def test_what_cannot_be_built_is_refused() -> None:
    with pytest.raises(ConfigError, match="labels=0 must be at least 1; or leave"):
        build_encoder_only(TINY_BERT, labels=0)
    with pytest.raises(ConfigError, match="tags=0 must be at least 1; or leave"):
        build_encoder_only(TINY_BERT, tags=0)
    split = replace(TINY_BERT, source_vocabulary=9, shared_embeddings="none")
    with pytest.raises(ConfigError, match="source_vocabulary=9 does not apply to an encoder"):
        build_encoder_only(split)


def test_a_translator_tells_no_segments_apart(config: TransformerConfig) -> None:
    with pytest.raises(ConfigError, match="segments=2 needs an encoder without a decoder; leave"):
        Transformer(replace(config, segments=2))


def test_it_learns_to_fill_in_what_was_masked() -> None:
    """The word after the first decides the hidden one: found by looking both ways."""
    torch.manual_seed(0)
    model = build_encoder_only(replace(TINY_BERT, d_model=32, d_ff=64), masked_words=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(60):
        ids_BS = torch.randint(4, 23, (32, 6))
        targets = ids_BS[:, 4].clone()
        ids_BS[:, 2] = 3  # the mask
        loss = nn.functional.cross_entropy(
            model.heads["masked_words"](model(ids_BS).states_BSD[:, 2]), targets
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.5
