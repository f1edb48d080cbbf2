"""BERT models of `transformers` become ours and back: the same numbers."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch.testing import assert_close
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer, BertConfig, BertTokenizer

import allyouneed
from allyouneed.core.encoder_only import EncoderOnly, build_encoder_only
from allyouneed.errors import ConfigError, ModelFolderError, ShapeError, UsageError
from allyouneed.interop.bert import from_bert, to_bert
from allyouneed.interop.bert_folder import export_bert, import_bert
from allyouneed.model_folder.config import Heads
from allyouneed.model_folder.folder import ModelFolder, open_model_folder, save_model_folder
from allyouneed.model_folder.traits import Traits
from allyouneed.text.encoder_tokenizer import EncoderTokenizer
from allyouneed.text.word_piece import WordPiece

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["the", "man", "rides", "a", "bike", "dog", "sleeps", "##s", ".", ",", "é", "e", "to"]
VOCABULARY = {piece: id for id, piece in enumerate([*SPECIAL, *WORDS])}
SHAPE: dict[str, Any] = {
    "vocab_size": len(VOCABULARY),
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "max_position_embeddings": 32,
}
PAIR = ("The man rides a bike.", "a dog sleeps, to the mans")
CLASSES = {
    "BertModel": {},
    "BertForMaskedLM": {"masked_words": True},
    "BertForNextSentencePrediction": {"next_sentence": True},
    "BertForPreTraining": {"masked_words": True, "next_sentence": True},
    "BertForSequenceClassification": {"labels": ("no", "yes", "perhaps")},
    "BertForTokenClassification": {"tags": ("O", "B", "I")},
}
LOGITS = {
    "masked_words": ("logits", "prediction_logits"),
    "next_sentence": ("logits", "seq_relationship_logits"),
    "labels": ("logits",),
    "tags": ("logits",),
}
Note = Callable[[str], None]


@pytest.fixture(autouse=True)
def quiet() -> None:
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()


def silent(said: str) -> None:
    pytest.fail(f"nothing was to be noted: {said}")


def loud(model: torch.nn.Module) -> torch.nn.Module:
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator) * 0.4)
    return model.eval()


def their_folder(path: Path, name: str = "BertForMaskedLM", **changes: Any) -> torch.nn.Module:
    """A model of that class with random weights, saved with its tokenizer."""
    names = CLASSES[name].get("labels") or CLASSES[name].get("tags") or ()
    labels = {"id2label": dict(enumerate(names)), "label2id": {n: i for i, n in enumerate(names)}}
    config = BertConfig(**SHAPE | (labels if names else {}) | changes)
    model = loud(getattr(transformers, name)(config))
    model.save_pretrained(path)
    BertTokenizer(vocab=VOCABULARY).save_pretrained(path)
    return model


@torch.no_grad()
def compare(ours: EncoderOnly, theirs: torch.nn.Module, inputs: dict[str, torch.Tensor]) -> None:
    """States and, where there are heads, logits."""
    found = theirs(**inputs, output_hidden_states=True)
    seen = inputs["attention_mask"].bool()
    states_BSD = ours(inputs["input_ids"], inputs["token_type_ids"]).states_BSD
    assert_close(states_BSD[seen], found.hidden_states[-1][seen], atol=1e-5, rtol=0)
    for name, head in ours.heads.items():
        expected = next(found[key] for key in reversed(LOGITS[name]) if key in found)
        logits = head(states_BSD)
        whole = seen if logits.dim() == 3 else slice(None)
        assert_close(logits[whole], expected[whole], atol=1e-5, rtol=0)
    if ours.pooler is not None and "pooler_output" in found:
        assert_close(ours.pooler(states_BSD), found.pooler_output, atol=1e-5, rtol=0)


def inputs_of(path: Path) -> dict[str, torch.Tensor]:
    tokenizer = AutoTokenizer.from_pretrained(path)
    return dict(tokenizer([PAIR, ("dog", "a")], padding=True, return_tensors="pt"))


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("seed", ["safetensors", "pickle"])
def test_theirs_becomes_ours_and_theirs_again(name: str, seed: str, tmp_path: Path) -> None:
    theirs = their_folder(tmp_path / "theirs", name)
    if seed == "pickle":
        weights = load_file(tmp_path / "theirs" / "model.safetensors")
        torch.save(weights, tmp_path / "theirs" / "pytorch_model.bin")
        (tmp_path / "theirs" / "model.safetensors").unlink()
    inputs = inputs_of(tmp_path / "theirs")
    folder = import_bert(tmp_path / "theirs", tmp_path / "ours", note=silent)
    pooled = name not in ("BertForMaskedLM", "BertForTokenClassification")
    assert folder.heads == replace(Heads(**CLASSES[name]), pooler=pooled)
    compare(folder.load_encoder(), theirs, inputs)

    export_bert(folder, tmp_path / "back")
    again = getattr(transformers, name).from_pretrained(tmp_path / "back")
    before, after = theirs.state_dict(), again.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[key], after[key]) for key in before)
    assert again.config.id2label == theirs.config.id2label
    assert json.loads((tmp_path / "back" / "config.json").read_text())["architectures"] == [name]
    compare(folder.load_encoder(), again, inputs_of(tmp_path / "back"))


def test_auto_classes_load_what_is_exported(tmp_path: Path) -> None:
    their_folder(tmp_path / "theirs", "BertForPreTraining")
    folder = import_bert(tmp_path / "theirs", tmp_path / "ours", note=silent)
    export_bert(folder, tmp_path / "back")
    inputs, ours = inputs_of(tmp_path / "back"), folder.load_encoder()
    with torch.no_grad():
        states_BSD = ours(inputs["input_ids"], inputs["token_type_ids"]).states_BSD
        plain = AutoModel.from_pretrained(tmp_path / "back")(**inputs)
        masked = AutoModelForMaskedLM.from_pretrained(tmp_path / "back")(**inputs)
    seen = inputs["attention_mask"].bool()
    assert_close(plain.last_hidden_state[seen], states_BSD[seen], atol=1e-5, rtol=0)
    logits = ours.heads["masked_words"](states_BSD)
    assert_close(masked.logits[seen], logits[seen], atol=1e-5, rtol=0)


def test_the_front_door_says_the_same(tmp_path: Path) -> None:
    theirs = their_folder(tmp_path / "theirs", "BertForSequenceClassification")
    import_bert(tmp_path / "theirs", tmp_path / "ours", note=silent)
    model = allyouneed.load(tmp_path / "ours")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "theirs")
    with torch.no_grad():
        logits = theirs(**tokenizer([PAIR], return_tensors="pt")).logits[0]
    expected = dict(zip(("no", "yes", "perhaps"), logits.softmax(0).tolist(), strict=True))
    assert model.predict(PAIR).probabilities == pytest.approx(expected, abs=1e-5)


def test_masks_are_filled_as_by_theirs(tmp_path: Path) -> None:
    theirs = their_folder(tmp_path / "theirs")
    import_bert(tmp_path / "theirs", tmp_path / "ours", note=silent)
    text = "The [MASK] rides a bike."
    (found,) = allyouneed.load(tmp_path / "ours").fill(text, top=3)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "theirs")
    filler = transformers.pipeline("fill-mask", model=theirs, tokenizer=tokenizer, top_k=18)
    expected = [one for one in filler(text) if one["token"] > 4][:3]
    assert [one.piece for one in found] == [one["token_str"] for one in expected]
    assert [one.probability for one in found] == pytest.approx([one["score"] for one in expected])


OWN = [
    (Heads(masked_words=True), {}),
    (Heads(labels=("a", "b"), pooler=True), {"segments": 0, "positions": "sinusoidal"}),
    (Heads(tags=("a", "b")), {"activation": "relu", "norm_epsilon": 1e-5, "segments": 3}),
]


@pytest.mark.parametrize(("heads", "changes"), OWN, ids=["masked", "labels", "tags"])
def test_a_model_of_our_own_is_loaded_by_theirs(
    heads: Heads,
    changes: dict[str, Any],
    small_encoder: Callable[..., EncoderOnly],
    encoder_tokenizer: EncoderTokenizer,
    tmp_path: Path,
) -> None:
    ours = small_encoder(heads, **changes)
    save_model_folder(tmp_path / "ours", ours, encoder_tokenizer, Traits(heads=heads))
    export_bert(open_model_folder(tmp_path / "ours"), tmp_path / "theirs")
    named = json.loads((tmp_path / "theirs" / "config.json").read_text())["architectures"][0]
    theirs = getattr(transformers, named).from_pretrained(tmp_path / "theirs").double()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "theirs")
    text = "A man rides a bike."
    inputs = tokenizer([text], return_tensors="pt")
    assert inputs["input_ids"][0].tolist() == [1, *encoder_tokenizer.encode(text).ids]
    states = {"input_ids": inputs["input_ids"], "attention_mask": inputs["attention_mask"]}
    segments_BS = None if ours.config.segments == 0 else inputs["token_type_ids"]
    with torch.no_grad():
        states_BSD = ours.double()(inputs["input_ids"], segments_BS).states_BSD
        (head,) = ours.heads.values()
        assert_close(theirs(**states).logits, head(states_BSD), atol=1e-9, rtol=0)
    back = import_bert(tmp_path / "theirs", tmp_path / "again", note=silent)
    assert back.heads == heads
    assert back.tokenizer.fingerprint() == encoder_tokenizer.fingerprint()
    [pair] = tokenizer([PAIR])["token_type_ids"]
    first, second = encoder_tokenizer.encode_ids([*PAIR])
    assert pair == [0] * (1 + len(first)) + [1] * len(second)


def test_masks_before_punctuation_are_the_same_in_their_tokenizer(
    small_encoder: Callable[..., EncoderOnly], encoder_tokenizer: EncoderTokenizer, tmp_path: Path
) -> None:
    heads = Heads(masked_words=True)
    save_model_folder(
        tmp_path / "ours", small_encoder(heads), encoder_tokenizer, Traits(heads=heads)
    )
    export_bert(open_model_folder(tmp_path / "ours"), tmp_path / "theirs")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "theirs")
    text = "A man rides a [MASK]"
    assert tokenizer(text)["input_ids"] == [1, *encoder_tokenizer.encode_masked(text)]


def test_a_vocabulary_of_lines_is_read(tmp_path: Path) -> None:
    their_folder(tmp_path / "theirs")
    with_json = import_bert(tmp_path / "theirs", tmp_path / "one", note=silent).tokenizer
    (tmp_path / "theirs" / "tokenizer.json").unlink()
    (tmp_path / "theirs" / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    settings = {"do_lower_case": False, "mask_token": {"content": "[MASK]"}}
    for written in ({}, settings):
        (tmp_path / "theirs" / "tokenizer_config.json").write_text(json.dumps(written))
        into = tmp_path / f"lines-{len(written)}"
        tokenizer = import_bert(tmp_path / "theirs", into, note=silent).tokenizer
        assert isinstance(tokenizer, WordPiece)
        assert tokenizer.settings["lowercase"] == (written == {})
        assert (tokenizer.fingerprint() == with_json.fingerprint()) == (written == {})


def test_names_of_the_first_release_are_read(tmp_path: Path) -> None:
    theirs = their_folder(tmp_path / "theirs")
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("Norm.bias", "Norm.beta"): w
        for name, w in theirs.state_dict().items()
    }
    old["bert.embeddings.position_ids"] = torch.arange(32)[None]
    model, heads = from_bert(old, theirs.config.to_dict(), start=2, end=3)
    assert heads == Heads(masked_words=True)
    compare(model, theirs, inputs_of(tmp_path / "theirs"))


def drop(name: str) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    return lambda weights, _: weights.pop(name)


def add(name: str, value: torch.Tensor) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    return lambda weights, _: weights.update({name: value})


def say(name: str, value: Any) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    return lambda _, config: config.update({name: value})


TYPES = "bert.embeddings.token_type_embeddings.weight"


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (say("model_type", "roberta"), ConfigError, "model_type='roberta' is not 'bert'"),
        (say("hidden_act", "gelu_new"), ConfigError, "hidden_act='gelu_new' is not one of gelu"),
        (say("position_embedding_type", "relative_key"), ConfigError, "is not 'absolute'"),
        (say("is_decoder", True), ConfigError, "is_decoder=True is not False"),
        (say("vocab_size", None), ConfigError, "vocab_size=None is no whole number"),
        (say("hidden_size", 12), ShapeError, r"has the shape \(18, 16\); with this config it is"),
        (drop(TYPES), ConfigError, f"'{TYPES}' is missing"),
        (add("bert.x", torch.zeros(1)), ConfigError, "'bert.x' is no weight of a BERT model"),
        (add("cls.predictions.decoder.bias", torch.ones(18)), ConfigError, "is not tied to them"),
    ],
)
def test_what_does_not_fit_is_named(
    change: Callable[[dict[str, Any], dict[str, Any]], None],
    error: type[Exception],
    message: str,
    tmp_path: Path,
) -> None:
    path = tmp_path / "theirs"
    their_folder(path)
    weights = load_file(path / "model.safetensors")
    config = json.loads((path / "config.json").read_text())
    change(weights, config)
    save_file(weights, path / "model.safetensors")
    (path / "config.json").write_text(json.dumps(config))
    with pytest.raises(error, match=f"theirs: .*{message}"):
        import_bert(path, tmp_path / "ours", note=silent)
    assert not (tmp_path / "ours").exists()


def test_several_labels_at_once_are_not_predicted(tmp_path: Path) -> None:
    their_folder(
        tmp_path / "theirs",
        "BertForSequenceClassification",
        problem_type="multi_label_classification",
    )
    with pytest.raises(ConfigError, match="problem_type='multi_label_classification': only one"):
        import_bert(tmp_path / "theirs", tmp_path / "ours", note=silent)


def test_a_number_is_no_label(tmp_path: Path) -> None:
    their_folder(tmp_path / "theirs", "BertForSequenceClassification", num_labels=1)
    with pytest.raises(ConfigError, match="num_labels=1: the model gives a number, not a label"):
        import_bert(tmp_path / "theirs", tmp_path / "ours", note=silent)


def test_another_dropout_of_the_head_is_noted(tmp_path: Path) -> None:
    their_folder(tmp_path / "theirs", "BertForSequenceClassification", classifier_dropout=0.3)
    said: list[str] = []
    import_bert(tmp_path / "theirs", tmp_path / "ours", note=said.append)
    assert said == ["classifier_dropout=0.3 is not used: training applies dropout to the head too"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"tokenizer.json": None}, "has no vocabulary; it must have tokenizer.json or vocab.txt"),
        ({"tokenizer.json": "{}"}, "its tokenizer cannot be used: 'model' is missing"),
        (
            {"tokenizer.json": '{"model": {"type": "Unigram"}}'},
            "model is 'Unigram', not 'WordPiece'",
        ),
        (
            {"tokenizer.json": None, "vocab.txt": "\n".join([*SPECIAL, "a"])},
            "its vocabulary has 6 pieces, but config.json says vocab_size=18",
        ),
        ({"tokenizer.json": None, "vocab.txt": "a\na\n"}, "has the same piece twice"),
        ({"model.safetensors": None, "pytorch_model.bin": "x"}, "pytorch_model.bin"),
        ({"config.json": None}, "config.json is no JSON"),
    ],
)
def test_files_that_cannot_be_used_are_named(
    files: dict[str, str | None], message: str, tmp_path: Path
) -> None:
    their_folder(tmp_path / "theirs")
    for name, content in files.items():
        (tmp_path / "theirs" / name).unlink(missing_ok=True)
        if content is not None:
            (tmp_path / "theirs" / name).write_text(content)
    with pytest.raises(ModelFolderError, match=message):
        import_bert(tmp_path / "theirs", tmp_path / "ours", note=silent)


ROOMLESS: list[tuple[dict[str, Any], Heads, str]] = [
    ({"residual": "pre-norm"}, Heads(), "residual='pre-norm' has no room in BERT, only"),
    ({"scale_embeddings": True}, Heads(), "scale_embeddings=True has no room in BERT"),
    ({"normalise_embeddings": False}, Heads(), "normalise_embeddings=False has no room"),
    ({"activation": "swiglu"}, Heads(), "activation='swiglu' has no room in BERT"),
    ({"positions": "rotary"}, Heads(), "positions='rotary' have no room in BERT"),
    ({"head_width": 4}, Heads(), "2 heads of width 4 have no room in BERT"),
    ({}, Heads(masked_words=True, tags=("a",)), "labels or tags beside other heads have no room"),
    ({}, Heads(labels=("a", "b")), "labels of texts without a pooler have no room"),
]


@pytest.mark.parametrize(("changes", "heads", "message"), ROOMLESS, ids=lambda v: str(v)[:30])
def test_what_bert_has_no_room_for_is_named(
    changes: dict[str, Any],
    heads: Heads,
    message: str,
    small_encoder: Callable[..., EncoderOnly],
) -> None:
    model = build_encoder_only(replace(small_encoder().config, **changes), **heads.parts())
    with pytest.raises(ConfigError, match=message):
        to_bert(model, heads)


def test_a_folder_in_use_is_left(encoder_folder: Path, model_folder: Path, tmp_path: Path) -> None:
    their_folder(tmp_path / "theirs")
    with pytest.raises(UsageError, match="is there already"):
        import_bert(tmp_path / "theirs", encoder_folder, note=silent)
    folder = open_model_folder(encoder_folder)
    with pytest.raises(ModelFolderError, match="holds a model with a decoder"):
        export_bert(open_model_folder(model_folder), tmp_path / "new")
    assert isinstance(folder, ModelFolder)
    assert asdict(folder.config)["decoder_layers"] == 0


def test_the_readme_of_an_export_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    their_folder(tmp_path / "theirs", "BertForTokenClassification")
    folder = import_bert(tmp_path / "theirs", tmp_path / "ours", note=silent)
    export_bert(folder, tmp_path / "back")
    program = (tmp_path / "back" / "README.md").read_text().split("```")[1].removeprefix("python")
    monkeypatch.chdir(tmp_path / "back")
    names: dict[str, Any] = {}
    exec(program, names)
    assert names["found"].logits.shape[-1] == 3
    assert "tags of words (O, B, I)" in (folder.path / "README.md").read_text()


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        ("tokenizer_config.json", {"pad_token": {}}, "'content' is missing"),
        ("tokenizer.json", {"normalizer": "lower"}, "has no attribute 'get'"),
    ],
)
def test_a_tokenizer_of_odd_values_is_refused(
    file: str, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "theirs"
    their_folder(path)
    contents = json.loads((path / file).read_text("utf-8"))
    (path / file).write_text(json.dumps(contents | changes))
    with pytest.raises(ModelFolderError, match=f"its tokenizer cannot be used: .*{message}"):
        import_bert(path, tmp_path / "ours", note=silent)
