"""What a user gets for bad input: one line that says what is wrong, where, and what to do."""

import json
import os
import pickle
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.errors import AllYouNeedError, ModelFolderError, UsageError
from allyouneed.loading import load
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation.segments import Segmenter
from allyouneed.translation.translator import Translator

QUICK = BeamOptions(beam=1, max_length=40)


def complaint(call: Callable[[], object], kind: type[AllYouNeedError] = ModelFolderError) -> str:
    """The error of a call, which must be of that very kind and one line long."""
    with pytest.raises(AllYouNeedError) as error:
        call()
    assert type(error.value) is kind
    message = str(error.value)
    assert message.isprintable()
    return message


# Model folders


def edit_config(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        change(config)
        (folder / "config.json").write_text(json.dumps(config))

    return edit


def in_model(**values: object) -> Callable[[Path], None]:
    return edit_config(lambda config: config["model"].update(values))


def at_top(**values: object) -> Callable[[Path], None]:
    return edit_config(lambda config: config.update(values))


def edit_weights(change: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        change(weights)
        save_file(weights, folder / "model.safetensors")

    return edit


def write(file: str, content: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / file).write_bytes(content) and None


def cut(file: str, *, keep: int) -> Callable[[Path], None]:
    return lambda folder: write(file, (folder / file).read_bytes()[:keep])(folder)


def remove(file: str) -> Callable[[Path], None]:
    return lambda folder: (folder / file).unlink()


def other_tokenizer(folder: Path) -> None:
    Tokenizer.train(["nothing but this"], 270).save(folder / "tokenizer.json")


TOKENS = "encoder.embeddings.tokens.weight"
BROKEN = {
    "no config": (remove("config.json"), "is not a model folder: config.json is missing"),
    "empty config": (write("config.json", b""), "config.json is not JSON .*copy it again"),
    "cut config": (cut("config.json", keep=50), "config.json is not JSON .*copy it again"),
    "config in Latin-1": (write("config.json", b'{"\xe4": 1}'), "config.json is not JSON"),
    "deep config": (write("config.json", b"[" * 100_000), "config.json is not JSON"),
    "list as config": (
        write("config.json", b"[]"),
        "not of the format 'allyouneed'.*allyouneed import",
    ),
    "other toolkit": (
        write("config.json", b'{"model_type": "marian"}'),
        "config.json is not of the format 'allyouneed'; import models of other toolkits",
    ),
    "newer format": (
        at_top(format_version=2, colour="red"),
        r"format version 2; this allyouneed reads up to 1: upgrade it with pip install -U",
    ),
    "no version": (at_top(format_version=None), "format_version=null must be 1 or more"),
    "version 0": (at_top(format_version=0), "format_version=0 must be 1 or more"),
    "unknown key": (at_top(trained_lenght=3), "unknown key trained_lenght; did you mean trained_l"),
    "unknown model key": (in_model(d_modle=8), r"unknown key model.d_modle; did you mean model.d_"),
    "strange key": (in_model(zzz=1), r"unknown key model.zzz; leave it out"),
    "no model": (at_top(model=None), "model=null must be a table"),
    "text for a number": (in_model(d_ff="8"), 'model.d_ff="8" must be a whole number'),
    "fraction": (in_model(heads=2.5), r"model.heads=2.5 must be a whole number"),
    "truth for a number": (in_model(heads=True), r"model.heads=true must be a whole number"),
    "number for a truth": (in_model(bias=1), "model.bias=1 must be true or false"),
    "null width": (in_model(d_model=None), "model.d_model=null must be a whole number"),
    "head width": (in_model(head_width="x"), 'head_width="x" must be a whole number or null'),
    "trained length 0": (at_top(trained_length=0), "trained_length=0 must be 2 or more, or null"),
    "no trained length": (
        at_top(trained_length=-5),
        "trained_length=-5 must be 2 or more, or null",
    ),
    "trained length": (at_top(trained_length="40"), 'trained_length="40" must be a whole number'),
    "heads": (in_model(heads=3), "config.json: heads=3 does not divide d_model=16.*15 or 18"),
    "choice": (in_model(residual="mid-norm"), "residual='mid-norm' is not one of 'post-norm', 'pr"),
    "no memory": (in_model(d_ff=10**15), "does not fit its config: .*d_ff=10+ and .* weights, and"),
    "no number": (in_model(d_ff=10**30), "does not fit its config: .*d_ff=10+ and .* weights, and"),
    "other width": (
        in_model(d_ff=32),
        (
            r"model.safetensors does not fit its config: \S+ has the shape \(24, 16\), the config "
            r"needs \(32, 16\); config and weights must come from one model"
        ),
    ),
    "more layers": (in_model(encoder_layers=2), r"it lacks encoder.layers.1.\S+ \(16 such\)"),
    "missing weight": (edit_weights(lambda w: w.pop(TOKENS)), f"it lacks {TOKENS}"),
    "unknown weight": (
        edit_weights(lambda w: w.update(extra=torch.zeros(1))),
        r"it has the unknown extra \(1 such\)",
    ),
    "no weights": (remove("model.safetensors"), "model.safetensors is missing: weights must be"),
    "cut weights": (cut("model.safetensors", keep=9000), "is damaged or cut short .*copy it again"),
    "cut header": (cut("model.safetensors", keep=30), "is damaged or cut short"),
    "empty weights": (cut("model.safetensors", keep=0), "is damaged or cut short"),
    "pointer": (
        write("model.safetensors", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
        "model.safetensors is a pointer of Git LFS, .* git lfs pull",
    ),
    "no tokenizer": (remove("tokenizer.json"), "tokenizer.json cannot be read"),
    "cut tokenizer": (
        cut("tokenizer.json", keep=900),
        "tokenizer.json is not a tokenizer.*damaged",
    ),
    "empty tokenizer": (cut("tokenizer.json", keep=0), "tokenizer.json is not a tokenizer"),
    "other tokenizer": (
        other_tokenizer,
        r"tokenizer has \d+ pieces, but the model's vocabulary is 300; .* must come from one model",
    ),
    "other end": (
        in_model(end=3),
        "tokenizer has pad=0 and end=2, but the model has pad=0 and end",
    ),
    "own source": (
        in_model(source_vocabulary=20, shared_embeddings="none"),
        "but the model's source_vocabulary is 20",
    ),
}


@pytest.mark.parametrize(("damage", "says"), BROKEN.values(), ids=BROKEN)
def test_broken_model_folder(damage: Callable[[Path], None], says: str, model_folder: Path) -> None:
    damage(model_folder)
    message = complaint(lambda: load(model_folder, engine="core"))
    assert re.search(says, message), message
    complaint(lambda: load(model_folder))  # by whatever engine
    assert str(model_folder) in message


class Bomb:
    """Unpickled, it leaves a file behind."""

    def __init__(self, crater: Path) -> None:
        self.crater = crater

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.crater,)


PICKLERS: dict[str, Callable[[object, Path], None]] = {
    "zip": lambda thing, path: torch.save(thing, path),
    "torch before 1.6": lambda thing, path: torch.save(
        thing, path, _use_new_zipfile_serialization=False
    ),
    "bare": lambda thing, path: path.write_bytes(pickle.dumps(thing)) and None,
}


@pytest.mark.parametrize("write_pickle", PICKLERS.values(), ids=PICKLERS)
def test_pickle_is_never_loaded(
    write_pickle: Callable[[object, Path], None], model_folder: Path, tmp_path: Path
) -> None:
    crater = tmp_path / "crater"
    weights = model_folder / "model.safetensors"
    write_pickle(Bomb(crater), weights)
    assert re.search(
        "is a pickle under another name and is not loaded: .*convert it",
        complaint(lambda: load(model_folder)),
    )
    weights.rename(model_folder / "pytorch_model.bin")
    assert "model.safetensors is missing; pytorch_model.bin is a pickle and is not loaded" in (
        complaint(lambda: load(model_folder))
    )
    assert not crater.exists()
    if write_pickle is PICKLERS["bare"]:  # the bomb is live
        pickle.loads((model_folder / "pytorch_model.bin").read_bytes())
        assert crater.exists()


def test_no_such_folder(tmp_path: Path) -> None:
    for name in (str(tmp_path / "nowhere"), "nowhere\0", str(tmp_path / "a" / "b")):
        message = complaint(lambda name=name: load(name))
        assert "there is no model" in message
        assert "bundled models are" in message


def test_name_too_long_for_a_file() -> None:
    message = complaint(lambda: load("x" * 5000))
    assert message.startswith("there is no model 'xxx")
    assert message.endswith(": the name is too long")
    assert len(message) < 200


def test_file_for_a_folder(model_folder: Path, tmp_path: Path) -> None:
    message = complaint(lambda: load(model_folder / "model.safetensors"))
    assert message.endswith(f"is a file; give the model folder, perhaps {model_folder}")
    (tmp_path / "good.toml").write_text("")
    message = complaint(lambda: load(tmp_path / "good.toml"))
    assert message.endswith("is a file; give the model folder")


def test_folder_that_has_models_in_it(model_folder: Path) -> None:
    shutil.copytree(model_folder, model_folder.with_name("best"))
    message = complaint(lambda: load(model_folder.parent))
    assert message.endswith(f"did you mean {model_folder.with_name('best')} or {model_folder}?")


@pytest.fixture
def unreadable(model_folder: Path) -> Iterator[Callable[[str], Path]]:
    """Copies the folder and takes the right to read one file, or the folder itself (""), away."""
    place = Path(tempfile.mkdtemp())
    privileged = os.geteuid() == 0

    def lock(file: str) -> Path:
        folder = shutil.copytree(model_folder, place / "model")
        (folder / file).chmod(0)
        if privileged:  # root may read everything
            place.chmod(0o755)
            os.seteuid(65534)
        return folder

    yield lock
    if privileged:
        os.seteuid(0)
    (place / "model").chmod(0o700)
    shutil.rmtree(place)


@pytest.mark.parametrize("file", ["", "config.json", "model.safetensors", "tokenizer.json"])
def test_no_right_to_read(file: str, unreadable: Callable[[str], Path]) -> None:
    folder = unreadable(file)
    message = complaint(lambda: load(folder))
    assert str(folder / file) in message
    assert "cannot be read (Permission denied)" in message


# What is asked of a translator


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda t: load("x", engine="trubo"), "engine='trubo' is not one of auto, core"),
        (lambda t: load(""), "the name of the model is empty; give a name or a path"),
        (lambda t: load("x", device="gpu0"), "device='gpu0' cannot be used; choose from cpu"),
        (lambda t: load("x", device="meta"), "device='meta' cannot be used; choose from cpu"),
        (lambda t: load("x", device=""), "device='' cannot be used; choose from cpu"),
        (lambda t: load("x", device="cuda:99"), "device='cuda:99' cannot be used; choose from cpu"),
        (lambda t: load("x", threads=0), "threads=0 must be from 1 to 1024"),
        (lambda t: t("a", beam=0), "beam=0 must be at least 1"),
        (lambda t: t("a", n_best=0), "n_best=0 must be at least 1"),
        (lambda t: t("a", 8, options=QUICK), "beam=8, n_best=1 and options were given; say it in"),
        (lambda t: t("a", n_best=2, options=QUICK), "beam=4, n_best=2 and options were given"),
        (lambda t: t.translate_lines([], read_ahead=0), "read_ahead=0 must be at least 1"),
        (lambda t: t.translate_lines([], beam=0), "beam=0 must be at least 1"),
        (lambda t: t("a", prefix="x" * 200), "a prefix of 201 tokens leaves no room"),
        (lambda t: load("x", threads=100_000), "threads=100000 must be from 1 to 1024"),
        (lambda t: t(b"a"), "b'a' is no text; give a str, or a list of them"),
        (lambda t: t(["a", b"b"]), "b'b' is no text"),
        (lambda t: t("a", prefix=None), "None is no text"),
        (lambda t: t("a", options={}), "options={} must be BeamOptions or SamplingOptions"),
        (lambda t: t.score(["a", "b"], ["a"]), "2 sources and 1 targets; each source needs its"),
    ],
)
def test_impossible_wish(
    ask: Callable[[Translator], object], says: str, copier: Translator
) -> None:
    assert says in complaint(lambda: ask(copier), UsageError)


def test_a_device_that_nobody_knows_is_told_without_those_that_torch_does() -> None:
    assert "xpu" not in complaint(lambda: load("x", device="gpu0"), UsageError)


# Texts


STRANGE = {
    "NUL": "a\0b\0",
    "nothing but NUL": "\0",
    "right to left": "שלום לך עולם",
    "right to left marks": "\u202eabc\u202c \u200fx",
    "emoji": "😀👩‍👧",
    "combining": "Z̸̢̛a\u0301l\u0300g\u0308o",
    "special pieces": "</s> <pad> <s> <unk>",
    "control": "\x01\x07\x1b[31m",
    "byte order mark": "\ufeffHello",
    "beyond the basic plane": "\U0010ffff\U00100000",
    "carriage returns": "one\r\ntwo\rthree\x85four\u2028five",
}


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
def test_strange_text_is_translated(text: str, copier: Translator) -> None:
    translation = copier(text)
    assert translation.text == text
    assert translation.notes == ()


def test_lone_surrogates_are_replaced_with_a_note(copier: Translator) -> None:
    translation = copier("a \ud800 b \udfff")
    assert translation.text == "a \ufffd b \ufffd"
    assert translation.source == "a \ud800 b \udfff"
    assert translation.notes == (
        "2 lone surrogates, the first at character 3, replaced by U+FFFD: UTF-8 cannot hold them",
    )
    assert copier.score(["a \ud800"], ["a \ud800"]) == copier.score(["a \ufffd"], ["a \ufffd"])


@settings(max_examples=25, deadline=None)
@given(text=st.text(alphabet=st.characters(codec=None), max_size=60))
def test_any_text_at_all(text: str, copier: Translator) -> None:
    for options in (QUICK, SamplingOptions(max_length=20)):
        for protect in (True, False):
            translation = copier(text, options=options, alignments=True, protect=protect)
            translation.text.encode()
            json.dumps(translation.to_dict())
            if protect and not translation.tokens:  # blank, or nothing but literals, such as "/00"
                assert translation.text.split() == text.split()
            else:
                assert bool(translation.tokens) == bool(text.strip())


LONG = 100_000
ENDLESS = {
    "words": ("word and " * LONG)[:LONG],
    "no space": "abcdefghij" * (LONG // 10),
    "one letter": "a" * LONG,
    "three bytes each": "字" * LONG,
    "sentences": ("A man rides a bike. " * LONG)[:LONG],
    "stops": "." * LONG,
    "spaces": " " * LONG,
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_endless_line_is_split_into_what_the_model_can_take(text: str, copier: Translator) -> None:
    assert len(text) == LONG
    segmenter = Segmenter(copier.tokenizer, known_length=24)
    cut = segmenter.cut(text)
    assert "".join(s.before + s.text + s.after for s in cut.segments) == text
    ids = copier.tokenizer.encode_ids([segment.text for segment in cut.segments])
    assert max(map(len, ids)) <= 24
    assert bool(cut.notes) == bool(text.strip())


@pytest.mark.parametrize("kind", ["words", "no space"])
def test_endless_line_is_translated_to_its_end(kind: str, copier: Translator) -> None:
    translation = copier(ENDLESS[kind], beam=1)
    assert translation.text == ENDLESS[kind]
    assert re.fullmatch(
        r"longer than the 24 tokens that the model knows: translated in \d+ parts",
        "; ".join(translation.notes),
    )
