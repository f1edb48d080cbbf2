"""Tiny random Marian models: the same logits both ways, the same words by greedy search."""

import runpy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, MarianConfig, MarianMTModel

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.length_penalty import Average
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import ConfigError, ModelFolderError, ShapeError
from allyouneed.interop.huggingface import from_marian, to_marian
from allyouneed.interop.huggingface_folder import export_huggingface
from allyouneed.loading import load
from allyouneed.model_folder.folder import open_model_folder, save_model_folder

PAD, END, VOCABULARY = 30, 0, 31
MARIAN: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "max_position_embeddings": 20,
    "activation_function": "swish",
    "scale_embedding": True,
    "pad_token_id": PAD,
    "eos_token_id": END,
    "decoder_start_token_id": PAD,
    "attn_implementation": "eager",
}
KINDS: dict[str, dict[str, Any]] = {
    "as they come": {},
    "relu unscaled": {"activation_function": "relu", "scale_embedding": False},
    "gelu": {"activation_function": "gelu"},
    "sides apart": {
        "share_encoder_decoder_embeddings": False,
        "decoder_vocab_size": 35,
    },
    "nothing shared": {
        "share_encoder_decoder_embeddings": False,
        "decoder_vocab_size": VOCABULARY,
        "tie_word_embeddings": False,
    },
    "output apart": {"tie_word_embeddings": False},
}
OURS = TransformerConfig(
    vocabulary=VOCABULARY,
    d_model=16,
    heads=4,
    d_ff=24,
    encoder_layers=3,
    decoder_layers=2,
    max_positions=20,
)


def randomise(model: torch.nn.Module, seed: int = 0, gain: float = 1.3) -> None:
    """Far from first values: no bias is zero, no attention flat, no norm at one."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in [*model.named_parameters(), *model.named_buffers()]:
            noise = torch.randn(weight.shape, generator=generator)
            if "position" in name:
                continue
            if weight.dim() > 1 and weight.size(0) > 1:
                words = any(part in name for part in ("embed", "shared", "lm_head", "output"))
                weight.copy_(noise * (2.0 if words else gain) * weight.size(-1) ** -0.5)
            else:
                weight.copy_(noise * 0.3 + (1 if "norm.weight" in name else 0))
    model.eval()


def marian(**changes: Any) -> MarianMTModel:
    model = MarianMTModel(MarianConfig(**MARIAN | changes))
    randomise(model)
    return model


def batch(pad: int, *, start: int, vocabulary: int = VOCABULARY - 1) -> tuple[Tensor, Tensor]:
    """Three sources of different lengths and three targets, padded on the right."""
    generator = torch.Generator().manual_seed(2)
    source_BS, target_BT = torch.randint(3, vocabulary, (2, 3, 7), generator=generator)
    target_BT[:, 0] = start
    for ids, lengths in ((source_BS, (7, 3, 5)), (target_BT, (4, 7, 6))):
        for row, length in zip(ids, lengths, strict=True):
            row[length:] = pad
    return source_BS, target_BT


@torch.no_grad()
def their_logits(theirs: MarianMTModel, source_BS: Tensor, target_BT: Tensor) -> Tensor:
    seen_BS = (source_BS != theirs.config.pad_token_id).long()
    logits: Tensor = theirs(source_BS, attention_mask=seen_BS, decoder_input_ids=target_BT).logits
    return logits


def assert_same_logits(ours: Transformer, theirs: MarianMTModel) -> None:
    source_BS, target_BT = batch(ours.config.pad, start=ours.config.start)
    expected_BTV = their_logits(theirs, source_BS, target_BT)
    assert expected_BTV.std() >= 1
    # positions behind the end are nobody's: Marian gives them some logits, and we may others
    real_BT = torch.tensor([4, 7, 6])[:, None] > torch.arange(7)
    with torch.no_grad():
        logits_BTV = ours.eval()(source_BS, target_BT)
    assert_close(logits_BTV[real_BT], expected_BTV[real_BT], rtol=1e-5, atol=1e-5)


@torch.no_grad()
def greedy(model: Transformer, source_BS: Tensor, steps: int) -> list[list[int]]:
    cache = model.start(model.encode(source_BS), hypotheses=1, max_length=steps)
    ids_B1 = torch.full((len(source_BS), 1), model.config.start)
    words = []
    for _ in range(steps):
        ids_B1 = model.step(ids_B1, cache)[:, 0].argmax(-1, keepdim=True)
        words.append(ids_B1)
    rows = torch.cat(words, dim=1).tolist()
    end = model.config.end
    return [row[: row.index(end) + 1] if end in row else row for row in rows]


@torch.no_grad()
def their_greedy(theirs: MarianMTModel, source_BS: Tensor, steps: int) -> list[list[int]]:
    """By `generate`, with its own cache; without what follows the end."""
    seen_BS = (source_BS != theirs.config.pad_token_id).long()
    theirs.generation_config.forced_eos_token_id = None
    rows = theirs.generate(
        source_BS, attention_mask=seen_BS, max_new_tokens=steps, num_beams=1, do_sample=False
    )[:, 1:].tolist()
    end = theirs.config.eos_token_id
    return [row[: row.index(end) + 1] if end in row else row for row in rows]


@pytest.mark.parametrize("kind", KINDS)
def test_marian_becomes_ours(kind: str) -> None:
    theirs = marian(**KINDS[kind])
    ours = from_marian(theirs.state_dict(), theirs.config.to_dict())
    assert_same_logits(ours, theirs)


def test_what_is_adopted_keeps_its_habits() -> None:
    theirs = marian()
    ours = from_marian(theirs, theirs.config.to_dict())
    assert (ours.config.pad, ours.config.start, ours.config.end) == (PAD, PAD, END)
    assert ours.config.positions == "stored"
    assert ours.config.activation == "silu"
    assert ours.config.residual == "post-norm"
    assert (ours.config.encoder_layers, ours.config.decoder_layers) == (2, 3)
    table = ours.encoder.embeddings.positions.table
    assert table[0].tolist() == [0.0] * 8 + [1.0] * 8  # sines and cosines in halves
    assert_close(ours.output.bias, theirs.final_logits_bias[0])
    assert ours.output.weight is ours.encoder.embeddings.tokens.weight


def test_adopting_leaves_their_weights_alone() -> None:
    theirs = marian()
    before = {name: weight.clone() for name, weight in theirs.state_dict().items()}
    ours = from_marian(theirs, theirs.config.to_dict())
    with torch.no_grad():
        for weight in ours.parameters():
            weight.zero_()
    assert all(torch.equal(before[name], weight) for name, weight in theirs.state_dict().items())


@pytest.mark.parametrize("seed", [0, 2, 4])
def test_the_same_words_by_greedy_search(seed: int) -> None:
    # untied and of one quiet layer: other random models say one word over and over
    theirs = marian(tie_word_embeddings=False, decoder_layers=1)
    randomise(theirs, seed, gain=0.7)
    ours = from_marian(theirs, theirs.config.to_dict()).eval()
    source_BS, _ = batch(PAD, start=PAD)
    words = greedy(ours, source_BS, steps=12)
    assert words == their_greedy(theirs, source_BS, steps=12)
    assert len({word for row in words for word in row}) >= 5
    assert words[1] == greedy(ours, source_BS[1:2, :3], steps=12)[0]  # as when it is alone


def test_weights_that_their_files_leave_out() -> None:
    """`save_pretrained` writes shared weights once, and no positions."""
    theirs = marian()
    state = theirs.state_dict()
    for name in (
        "lm_head.weight",
        "model.encoder.embed_tokens.weight",
        "model.decoder.embed_tokens.weight",
        "model.encoder.embed_positions.weight",
        "model.decoder.embed_positions.weight",
    ):
        del state[name]
    assert_same_logits(from_marian(state, theirs.config.to_dict()), theirs)
    del state["final_logits_bias"]
    theirs.final_logits_bias.zero_()
    assert_same_logits(from_marian(state, theirs.config.to_dict()), theirs)


def test_half_precision_weights_are_adopted_in_float32() -> None:
    theirs = marian().half().float()
    state = {name: weight.half() for name, weight in theirs.state_dict().items()}
    ours = from_marian(state, theirs.config.to_dict())
    assert ours.output.weight.dtype == torch.float32
    assert torch.equal(ours.output.weight, theirs.lm_head.weight)


def become_marian(ours: Transformer) -> MarianMTModel:
    config, state = to_marian(ours)
    theirs = MarianMTModel(MarianConfig(**config, attn_implementation="eager"))
    theirs.load_state_dict(state)  # strict: every name, every shape
    return theirs.eval()


OUR_KINDS: dict[str, dict[str, Any]] = {
    "the paper": {},
    "no bias": {"bias": False},
    "output bias": {"output_bias": True},
    "gelu unscaled": {"activation": "gelu", "scale_embeddings": False},
    "silu": {"activation": "silu"},
    "starts with end": {"start": 2},
    "starts with pad": {"start": 0},
    "output": {"shared_embeddings": "output", "source_vocabulary": 33},
    "none": {"shared_embeddings": "none"},
}


@pytest.mark.parametrize("kind", OUR_KINDS)
def test_ours_becomes_marian(kind: str) -> None:
    ours = Transformer(replace(OURS, **OUR_KINDS[kind]))
    randomise(ours)
    assert_same_logits(ours, become_marian(ours))


@pytest.mark.parametrize("seed", [1, 4])
def test_it_says_the_same_words_as_marian(seed: int) -> None:
    ours = Transformer(replace(OURS, shared_embeddings="none", decoder_layers=1))
    randomise(ours, seed, gain=0.5)
    source_BS, _ = batch(0, start=1)
    words = greedy(ours, source_BS, steps=12)
    assert words == their_greedy(become_marian(ours), source_BS, steps=12)
    assert len({word for row in words for word in row}) >= 5


def test_ours_becomes_marian_and_ours_again() -> None:
    ours = Transformer(OURS)
    randomise(ours)
    config, state = to_marian(ours)
    again = from_marian(state, config).eval()
    assert again.config == replace(OURS, positions="stored", output_bias=True)
    source_BS, target_BT = batch(0, start=1)
    assert_close(again(source_BS, target_BT), ours(source_BS, target_BT), rtol=1e-5, atol=1e-5)


def test_marian_becomes_ours_and_marian_again() -> None:
    theirs = marian()
    config, state = to_marian(from_marian(theirs, theirs.config.to_dict()))
    assert all(
        theirs.config.to_dict()[name] == value for name, value in config.items() if name in MARIAN
    )
    before = theirs.state_dict()
    assert state.keys() == before.keys()
    assert all(torch.equal(state[name], before[name]) for name in before)


def test_saved_and_loaded_by_transformers(tmp_path: Any) -> None:
    ours = Transformer(OURS)
    randomise(ours)
    become_marian(ours).save_pretrained(tmp_path)
    assert_same_logits(ours, MarianMTModel.from_pretrained(tmp_path))


@pytest.mark.parametrize("sharing", ["all", "output", "none"])
def test_exported_folder_is_loaded_by_transformers(
    sharing: str, small_model: Any, small_tokenizer: Any, tmp_path: Path
) -> None:
    ours = small_model(shared_embeddings=sharing, output_bias=True)
    save_model_folder(tmp_path / "ours", ours, small_tokenizer)
    export_huggingface(open_model_folder(tmp_path / "ours"), tmp_path / "theirs")
    theirs, report = MarianMTModel.from_pretrained(tmp_path / "theirs", output_loading_info=True)
    assert not any(report.values())
    assert_same_logits(ours, theirs)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "theirs")
    for text in ("A man rides a bike.", " Ein  Mann\n"):
        assert tokenizer(text).input_ids == small_tokenizer.encode(text).ids
        assert tokenizer.decode(tokenizer(text).input_ids, skip_special_tokens=True) == text
    assert (tokenizer.pad_token_id, tokenizer.eos_token_id) == (0, 2)


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundled") / "theirs"
    export_huggingface(open_model_folder("en-de"), path)
    return path


def test_exported_readme_translates(
    bundled: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    readme = (bundled / "README.md").read_text("utf-8")
    (tmp_path / "program.py").write_text(readme.split("```python\n")[1].split("```")[0], "utf-8")
    monkeypatch.chdir(bundled)
    runpy.run_path(str(tmp_path / "program.py"))
    assert capsys.readouterr().out == "Guten Morgen!\n"


@pytest.mark.parametrize("beam", [1, 4])
def test_bundled_model_says_the_same_in_transformers(
    beam: int, bundled: Path, real_sentences: list[str]
) -> None:
    """With one length penalty on both sides, by `generate` as its own file sets it."""
    tokenizer = AutoTokenizer.from_pretrained(bundled)
    theirs = AutoModelForSeq2SeqLM.from_pretrained(bundled).eval()
    sources = tokenizer(real_sentences, return_tensors="pt", padding=True)
    found = theirs.generate(**sources, num_beams=beam, length_penalty=1.0)
    options = BeamOptions(beam=beam, length_penalty=Average())
    ours = load("en-de", engine="core")(real_sentences, options=options, protect=False)
    said = tokenizer.batch_decode(found, skip_special_tokens=True)
    assert [text.strip() for text in said] == [one.text for one in ours]
    assert ours[0].text == "Wo ist der Bahnhof?"


def test_weights_that_are_no_numbers(
    small_model: Any, small_tokenizer: Any, tmp_path: Path
) -> None:
    spoilt = small_model()
    spoilt.encoder.layers[0].self_attention.W_K.weight.data[1, 2] = torch.inf
    save_model_folder(tmp_path / "model", spoilt, small_tokenizer)
    with pytest.raises(
        ModelFolderError, match=r"encoder\.layers\.0\.self_attention\.W_K\.weight holds NaN"
    ):
        export_huggingface(open_model_folder(tmp_path / "model"), tmp_path / "theirs")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_shared_weights_come_as_one_tensor() -> None:
    _, state = to_marian(Transformer(OURS))
    names = ("lm_head.weight", "model.shared.weight", "model.encoder.embed_tokens.weight")
    assert len({state[name].data_ptr() for name in names}) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"residual": "pre-norm"}, "residual='pre-norm' has no room in Marian, only 'post-norm'"),
        ({"norm": "rms"}, "norm='rms' has no room in Marian, only 'layer' has"),
        ({"norm_epsilon": 1e-6}, "norm_epsilon=1e-06 has no room in Marian, only 1e-05 has"),
        ({"normalise_embeddings": True}, "normalise_embeddings=True has no room in Marian"),
        ({"activation": "swiglu"}, "activation='swiglu' has no room in Marian"),
        ({"positions": "learned"}, "positions='learned' of this model have no room in Marian"),
        ({"positions": "rotary"}, "positions='rotary' of this model have no room in Marian"),
        ({"positions": "none"}, "positions='none' of this model have no room in Marian"),
        ({"positions": "stored"}, "positions='stored' of this model have no room in Marian"),
        ({"decoder": "ssru"}, "decoder='ssru' has no room in Marian, only 'self-attention' has"),
        ({"head_width": 6}, "4 heads of width 6 have no room in Marian; together they must be as"),
    ],
    ids=str,
)
def test_what_marian_has_no_room_for(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        to_marian(Transformer(replace(OURS, **changes)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "bart"}, "model_type='bart' is not 'marian'"),
        ({"normalize_before": True}, "normalize_before=True"),
        ({"activation_function": "gelu_new"}, "activation_function='gelu_new' is not one of relu,"),
        ({"decoder_attention_heads": 2}, "encoder_attention_heads=4 and decoder_attention_heads=2"),
        ({"decoder_ffn_dim": 8}, "encoder_ffn_dim=24 and decoder_ffn_dim=8 have to be the same"),
        ({"eos_token_id": [0, 1]}, r"eos_token_id=\[0, 1\] is no whole number"),
        ({"d_model": None}, "d_model=None is no whole number; is this the config of a Marian"),
    ],
    ids=str,
)
def test_configs_that_cannot_be_adopted(changes: Mapping[str, Any], message: str) -> None:
    theirs = marian()
    with pytest.raises(ConfigError, match=message):
        from_marian(theirs, theirs.config.to_dict() | dict(changes))


def test_weights_that_cannot_be_adopted() -> None:
    theirs = marian()
    config, state = theirs.config.to_dict(), theirs.state_dict()
    extra = {"model.encoder.layernorm_embedding.weight": torch.ones(16)}
    with pytest.raises(
        ConfigError, match=r"'model.encoder.layernorm_embedding.weight' is no weight"
    ):
        from_marian(state | extra, config)
    with pytest.raises(ConfigError, match=r"'model.decoder.layers.2.fc1.bias' is missing"):
        from_marian(
            {k: v for k, v in state.items() if k != "model.decoder.layers.2.fc1.bias"}, config
        )
    shorter = {"model.encoder.layers.0.fc2.bias": torch.ones(15)}
    with pytest.raises(
        ShapeError, match=r"fc2.bias' has the shape \(15,\); with this config it is \(16,\)"
    ):
        from_marian(state | shorter, config)


def test_everything_that_does_not_fit_is_listed() -> None:
    theirs = marian()
    config, state = theirs.config.to_dict(), theirs.state_dict()
    strange = {f"strange.{n}": torch.ones(1) for n in range(7)}
    short = {name: w for name, w in state.items() if "encoder.layers.0.fc1" not in name}
    with pytest.raises(ConfigError) as refused:
        from_marian(short | strange, config)
    said = str(refused.value)
    assert said.count("is no weight of a Marian model") == 7
    assert "'model.encoder.layers.0.fc1.bias' is missing" in said
    assert said.endswith("; and 1 more")
    with pytest.raises(ShapeError) as refused_shapes:
        from_marian(state, {**config, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8})
    assert "fc1.bias' has the shape (24,); with this config it is (8,)" in str(refused_shapes.value)
    assert str(refused_shapes.value).endswith("; and 7 more")


def test_giving_leaves_our_weights_alone() -> None:
    ours = Transformer(replace(OURS, output_bias=True))
    randomise(ours)
    before = {name: weight.clone() for name, weight in ours.state_dict().items()}
    for weight in to_marian(ours)[1].values():
        weight.zero_()
    assert all(torch.equal(before[name], weight) for name, weight in ours.state_dict().items())
