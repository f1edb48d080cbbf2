"""Model folders of an encoder without a decoder."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open

from allyouneed.core.encoder_only import EncoderOnly
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ConfigError, ModelFolderError
from allyouneed.model_folder.config import Heads
from allyouneed.model_folder.folder import open_model_folder, save_model_folder
from allyouneed.model_folder.traits import Traits
from allyouneed.text.encoder_tokenizer import EncoderTokenizer
from allyouneed.text.tokenizer import Tokenizer

HEADS = Heads(labels=("bad", "good"), pooler=True)


def change(folder: Path, **values: Any) -> None:
    document = json.loads((folder / "config.json").read_text())
    document["heads"] |= values
    (folder / "config.json").write_text(json.dumps(document))


def test_what_was_saved_is_opened(encoder_folder: Path, small_encoder: Any) -> None:
    folder = open_model_folder(encoder_folder)
    model, same = folder.load_encoder(), small_encoder()
    assert folder.heads == Heads(
        masked_words=True,
        next_sentence=True,
        labels=("bad", "good", "so-so"),
        tags=("O", "NAME"),
        pooler=True,
    )
    assert not model.training
    assert folder.config == same.config
    ours, theirs = model.state_dict(), same.state_dict()
    assert list(ours) == list(theirs)
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert isinstance(folder.tokenizer, EncoderTokenizer)


def test_of_what_is_shared_the_file_holds_one(encoder_folder: Path, small_encoder: Any) -> None:
    with safe_open(encoder_folder / "model.safetensors", "numpy") as file:
        held = set(file.keys())
    model = small_encoder()
    assert held == model.state_dict().keys() - model.tied_weights().keys()
    assert "heads.masked_words.output.weight" not in held


def test_heads_without_any(
    small_encoder: Callable[..., EncoderOnly], encoder_tokenizer: EncoderTokenizer, tmp_path: Path
) -> None:
    save_model_folder(
        tmp_path / "bare", small_encoder(Heads()), encoder_tokenizer, Traits(heads=Heads())
    )
    folder = open_model_folder(tmp_path / "bare")
    assert folder.heads == Heads()
    assert list(folder.load_encoder().heads) == []


def test_a_folder_says_what_it_is_not(encoder_folder: Path, model_folder: Path) -> None:
    encoder, translator = open_model_folder(encoder_folder), open_model_folder(model_folder)
    assert translator.heads is None
    with pytest.raises(ModelFolderError, match=r"encoder holds an encoder.*cannot translate; use"):
        encoder.load_model()
    with pytest.raises(ModelFolderError, match="cannot translate"):
        encoder.load_arrays()
    with pytest.raises(
        ModelFolderError, match=r"model with a decoder, not an encoder .*allyouneed translate`"
    ):
        translator.load_encoder()


def test_a_translator_with_segments_is_none(model_folder: Path) -> None:
    document = json.loads((model_folder / "config.json").read_text())
    document["model"]["segments"] = 2
    (model_folder / "config.json").write_text(json.dumps(document))
    folder = open_model_folder(model_folder)
    for load in (folder.load_model, folder.load_arrays):
        with pytest.raises(ModelFolderError, match=r"model.segments=2, but a translation model"):
            load()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"label": ["a"]}, r"config.json: unknown key heads.label; did you mean heads.labels\?"),
        ({"labels": 3}, "heads.labels=3 must be a list"),
        ({"masked_words": 1}, "heads.masked_words=1 must be true or false"),
        (
            {"labels": ["a", "b", "a"]},
            r'heads.labels=\["a", "b", "a"\]: "a" must be a text that is not',
        ),
        (
            {"tags": ["O", 1]},
            r'heads.tags=\["O", 1\]: 1 must be a text that is not empty',
        ),
        ({"tags": ["O", ""]}, '"" must be a text that is not empty'),
    ],
)
def test_heads_that_cannot_be_are_named(
    encoder_folder: Path, values: dict[str, Any], message: str
) -> None:
    change(encoder_folder, **values)
    with pytest.raises(ModelFolderError, match=message):
        open_model_folder(encoder_folder)


def test_heads_and_weights_of_two_models_are_told(encoder_folder: Path) -> None:
    change(encoder_folder, labels=["bad", "good"])
    with pytest.raises(ModelFolderError, match=r"heads.labels.W.weight has the shape \(3, 16\)"):
        open_model_folder(encoder_folder).load_encoder()
    change(encoder_folder, labels=[])
    with pytest.raises(ModelFolderError, match=r"has the unknown heads.labels.W.bias"):
        open_model_folder(encoder_folder).load_encoder()


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        (None, "an encoder without a decoder needs `heads`"),
        (replace(HEADS, labels=("bad", "good", "so-so")), "heads.labels.W.weight has the shape"),
        (replace(HEADS, labels=()), "has the unknown heads.labels.W.bias"),
        (replace(HEADS, masked_words=True), "it lacks heads.masked_words"),
    ],
)
def test_heads_that_the_model_has_not_are_not_saved(
    small_encoder: Callable[..., EncoderOnly],
    encoder_tokenizer: EncoderTokenizer,
    heads: Heads | None,
    message: str,
    tmp_path: Path,
) -> None:
    model = small_encoder(HEADS)
    with pytest.raises(ModelFolderError, match=message):
        save_model_folder(tmp_path / "new", model, encoder_tokenizer, Traits(heads=heads))
    assert list(tmp_path.iterdir()) == []


def test_a_translator_has_no_heads(
    small_model: Callable[..., Transformer], small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    with pytest.raises(ModelFolderError, match="a model with a decoder has no heads"):
        save_model_folder(tmp_path / "new", small_model(), small_tokenizer, Traits(heads=HEADS))


def test_names_of_labels_are_checked_when_made() -> None:
    with pytest.raises(ConfigError, match=r'"x" must be a text that is not empty and occurs once'):
        Heads(labels=("x", "x"))
