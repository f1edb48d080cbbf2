"""What has no place in the paper's Transformer is listed, all at once."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from allyouneed.errors import ConfigError, DataError
from allyouneed.interop.fairseq import adopt, import_fairseq
from allyouneed.interop.fairseq_checkpoint import FairseqCheckpoint, read_checkpoint
from allyouneed.interop.fairseq_shape import notes_on

GOLDEN = Path(__file__).with_name("fairseq")
SIZES = (104, 104)


@pytest.fixture
def checkpoint() -> FairseqCheckpoint:
    return read_checkpoint(GOLDEN / "post-norm.pt")


def complaints(checkpoint: FairseqCheckpoint, sizes: tuple[int, int] = SIZES) -> list[str]:
    """What does not fit, without the line that says whose it is."""
    with pytest.raises(ConfigError) as refused:
        adopt(checkpoint, sizes)
    said, *listed = str(refused.value).split("\n  - ")
    assert "post-norm.pt (arch=transformer) does not fit" in said
    return listed


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"decoder_embed_dim": 16}, "decoder_embed_dim=16: both sides need the same width"),
        ({"decoder_ffn_embed_dim": 5}, "encoder_ffn_embed_dim=12 and decoder_ffn_embed_dim=5"),
        ({"decoder_attention_heads": 4}, "decoder_attention_heads=4: both sides need the same"),
        ({"decoder_normalize_before": True}, "place of the layer norms"),
        ({"decoder_output_dim": 4}, "decoder_output_dim=4: a projection of the decoder's output"),
        ({"activation_fn": "tanh"}, "activation_fn=tanh: only relu, gelu, swish are here"),
        ({"adaptive_softmax_cutoff": [10, 20]}, "adaptive_softmax_cutoff=[10, 20]: an adaptive"),
        ({"no_cross_attention": True}, "no_cross_attention=True: no cross-attention"),
        ({"encoder_layers_to_keep": "0,1"}, "encoder_layers_to_keep=0,1: layers left out after"),
        ({"encoder_layers": "2"}, "encoder_layers='2' is no whole number"),
        ({"dropout": "much"}, "its options are not of the kinds that fairseq writes"),
        ({"encoder_attention_heads": 3, "decoder_attention_heads": 3}, "heads=3 does not divide"),
        ({"encoder_layers": 3}, "missing weights: encoder.layers.2.self_attn.q_proj.weight,"),
        ({"decoder_layers": 0}, "unknown weights: decoder.layers.0.encoder_attn.k_proj.bias,"),
        ({"encoder_learned_pos": True}, "missing weights: encoder.embed_positions.weight"),
    ],
)
def test_an_option_that_does_not_fit(
    checkpoint: FairseqCheckpoint, settings: dict[str, object], expected: str
) -> None:
    changed = replace(checkpoint, settings=checkpoint.settings | settings)
    assert any(expected in complaint for complaint in complaints(changed))


def test_everything_is_listed_at_once(checkpoint: FairseqCheckpoint) -> None:
    settings = {"activation_fn": "tanh", "scale_fc": True, "decoder_embed_dim": 4}
    weights = checkpoint.weights | {"encoder.gate": torch.ones(1), "encoder.more": torch.ones(1)}
    changed = replace(checkpoint, settings=checkpoint.settings | settings, weights=weights)
    assert [complaint.split(":")[0] for complaint in complaints(changed)] == [
        "encoder_embed_dim=8 and decoder_embed_dim=4",
        "decoder_input_dim=8",
        "decoder_output_dim=8",
        "activation_fn=tanh",
        "scale_fc=True",
        "unknown weights",
    ]
    assert complaints(changed)[-1] == "unknown weights: encoder.gate, encoder.more"


def test_dictionaries_of_another_model(checkpoint: FairseqCheckpoint) -> None:
    assert complaints(checkpoint, (96, 96)) == [
        (
            "encoder.embed_tokens.weight has the shape (104, 8), where the options and "
            "dictionaries say (96, 8)"
        )
    ]
    assert (
        "source_vocabulary=96 needs separate source embeddings"
        in complaints(checkpoint, (96, 104))[0]
    )


def test_weights_that_are_said_to_be_one_and_differ(checkpoint: FairseqCheckpoint) -> None:
    weights = dict(checkpoint.weights)
    weights["decoder.output_projection.weight"] = torch.zeros(104, 8)
    assert complaints(replace(checkpoint, weights=weights)) == [
        (
            "decoder.output_projection.weight and encoder.embed_tokens.weight differ, and the "
            "options say that they are one"
        )
    ]


def test_a_pre_norm_stack_needs_its_norm(checkpoint: FairseqCheckpoint) -> None:
    settings = {"encoder_normalize_before": True, "decoder_normalize_before": True}
    changed = replace(checkpoint, settings=checkpoint.settings | settings)
    assert complaints(changed) == [
        (
            "missing weights: encoder.layer_norm.weight, encoder.layer_norm.bias, "
            "decoder.layer_norm.weight and 1 more"
        )
    ]


def test_what_is_for_training_only_is_noted(checkpoint: FairseqCheckpoint) -> None:
    settings = {"encoder_layerdrop": 0.2, "max_target_positions": 40}
    changed = replace(checkpoint, settings=checkpoint.settings | settings)
    assert adopt(changed, SIZES).config.max_positions == 40
    assert notes_on(changed.settings) == [
        "encoder_layerdrop=0.2 is for training only and left out",
        "sources of up to 64 tokens and translations of up to 40: 40 for both",
    ]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"tokenizer": "nltk"}, "tokenizer=nltk: only moses and space are here"),
        ({"bpe": "sentencepiece"}, "bpe=sentencepiece: only subword_nmt and fastbpe are here"),
    ],
)
def test_text_rules_that_are_not_here(
    settings: dict[str, object],
    expected: str,
    checkpoint: FairseqCheckpoint,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed = replace(checkpoint, settings=checkpoint.settings | settings)
    monkeypatch.setattr("allyouneed.interop.fairseq.read_checkpoint", lambda path: changed)
    with pytest.raises(ConfigError, match=expected):
        import_fairseq(
            GOLDEN / "post-norm.pt",
            tmp_path / "new",
            dictionaries=GOLDEN / "joined",
            codes=GOLDEN / "codes",
            note=print,
        )
    assert not (tmp_path / "new").exists()


def test_pieces_need_codes(tmp_path: Path) -> None:
    alone = tmp_path / "model.pt"
    alone.write_bytes((GOLDEN / "post-norm.pt").read_bytes())
    for place in (GOLDEN / "joined", GOLDEN / "joined" / "dict.en.txt"):
        with pytest.raises(DataError, match="the pieces of its dictionary end in @@"):
            import_fairseq(alone, tmp_path / "new", dictionaries=place, note=print)
    with pytest.raises(DataError, match="nothing cannot be read"):
        import_fairseq(
            alone,
            tmp_path / "new",
            dictionaries=GOLDEN / "joined",
            codes=tmp_path / "nothing",
            note=print,
        )
