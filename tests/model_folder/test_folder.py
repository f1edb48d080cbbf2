import hashlib
import json
import os
import resource
import shutil
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from allyouneed.core.transformer import Transformer
from allyouneed.errors import ModelFolderError
from allyouneed.loading import load
from allyouneed.model_folder import folder as module
from allyouneed.model_folder.folder import (
    FILES,
    VOCABULARY_SELECTION,
    bundled_models,
    open_model_folder,
    save_model_folder,
)
from allyouneed.model_folder.traits import Traits
from allyouneed.model_folder.weights.model import read_weights
from allyouneed.text.tokenizer import Tokenizer

GOLDEN = Path(__file__).parents[1] / "golden"
SHAPES = {
    "as in the paper": {},
    "pre-norm": {"residual": "pre-norm", "norm": "rms", "activation": "swiglu", "bias": False},
    "learned": {"positions": "learned", "shared_embeddings": "output", "output_bias": True},
    "stored": {"positions": "stored", "normalise_embeddings": True, "activation": "gelu"},
    "rotary": {"positions": "rotary", "shared_embeddings": "none", "head_width": 4},
}

Make = Callable[..., Transformer]


def logits(model: Transformer) -> Tensor:
    """Of two fixed pairs, one of them padded: BTV."""
    source_BS = torch.tensor([[5, 6, 7, 260, 2], [9, 2, 0, 0, 0]])
    target_BT = torch.tensor([[1, 8, 9, 270], [1, 11, 0, 0]])
    with torch.inference_mode():
        return model(source_BS, target_BT)


def stored(path: Path) -> dict[str, str]:
    """Names and dtypes in the weights of a folder."""
    with safe_open(path / "model.safetensors", "pt") as file:
        return {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118


@pytest.mark.parametrize("changes", SHAPES.values(), ids=SHAPES)
def test_what_is_saved_comes_back(
    changes: dict[str, object], small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    model = small_model(**changes)
    assert logits(model).std() >= 1
    save_model_folder(
        tmp_path / "m", model, small_tokenizer, Traits(languages=("en", "de"), trained_length=24)
    )
    random_state = torch.get_rng_state()
    folder = open_model_folder(tmp_path / "m")
    loaded = folder.load_model()
    assert torch.equal(logits(loaded), logits(model))
    assert torch.equal(torch.get_rng_state(), random_state)
    assert not loaded.training
    assert folder.config == model.config
    assert folder.tokenizer.fingerprint() == small_tokenizer.fingerprint()
    assert (folder.languages, folder.trained_length) == (("en", "de"), 24)


@pytest.mark.parametrize(
    ("shared", "matrices"),
    [
        ("all", ["encoder.embeddings.tokens.weight"]),
        ("output", ["decoder.embeddings.tokens.weight", "encoder.embeddings.tokens.weight"]),
        (
            "none",
            [
                "decoder.embeddings.tokens.weight",
                "encoder.embeddings.tokens.weight",
                "output.weight",
            ],
        ),
    ],
)
def test_shared_weights_are_stored_once(
    shared: str,
    matrices: list[str],
    small_model: Make,
    small_tokenizer: Tokenizer,
    tmp_path: Path,
) -> None:
    model = small_model(shared_embeddings=shared)
    save_model_folder(tmp_path / "m", model, small_tokenizer)
    names = stored(tmp_path / "m")
    assert sorted(n for n in names if "tokens" in n or n.startswith("output")) == matrices
    parameters = sum(parameter.numel() for parameter in model.parameters())  # shared ones once
    assert sum(t.numel() for t in read_weights(tmp_path / "m/model.safetensors").values()) == (
        parameters
    )
    loaded = open_model_folder(tmp_path / "m").load_model()
    with torch.no_grad():
        loaded.encoder.embeddings.tokens.weight.add_(1)
    shares = loaded.output.weight is loaded.encoder.embeddings.tokens.weight
    assert shares == (shared == "all")


def test_weights_may_be_stored_in_half_the_room(
    small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    model = small_model()
    save_model_folder(tmp_path / "m", model, small_tokenizer, dtype=torch.float16)
    assert set(stored(tmp_path / "m").values()) == {"F16"}
    loaded = open_model_folder(tmp_path / "m").load_model()
    assert {parameter.dtype for parameter in loaded.parameters()} == {torch.float32}
    assert torch.equal(loaded.output.weight, model.output.weight.half().float())
    torch.testing.assert_close(logits(loaded), logits(model), atol=0.02, rtol=0)


def test_card_and_training_are_written(
    small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    model = small_model()
    save_model_folder(
        tmp_path / "m", model, small_tokenizer, card="# Größe\n", training={"steps": 3}
    )
    assert (tmp_path / "m/README.md").read_text("utf-8") == "# Größe\n"
    assert json.loads((tmp_path / "m/training.json").read_text("utf-8")) == {"steps": 3}
    assert sorted(entry.name for entry in (tmp_path / "m").iterdir()) == sorted(FILES)
    assert [entry.name for entry in tmp_path.iterdir()] == ["m"]


def test_everybody_may_read_what_the_umask_lets_them(model_folder: Path) -> None:
    modes = {(model_folder / file).stat().st_mode for file in FILES}
    assert len(modes) == 1


def test_header_that_begins_like_a_pickle_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"a": torch.arange(3.0)}, path, metadata={"x": ""})
    missing = 640 - int.from_bytes(path.read_bytes()[:8], "little")
    save_file({"a": torch.arange(3.0)}, path, metadata={"x": "y" * missing})
    assert path.read_bytes()[:2] == b"\x80\x02"  # 640, as a pickle of protocol 2 begins
    assert torch.equal(read_weights(path)["a"], torch.arange(3.0))


# Replacing a folder


def other(small_model: Make) -> Transformer:
    """A model that is told apart from `small_model()` by its shape."""
    return small_model(d_ff=8)


def saved_width(path: Path) -> int:
    folder = open_model_folder(path)
    folder.load_model()
    return folder.config.d_ff


@pytest.mark.parametrize("renames", [0, 1, 2])
def test_killed_while_replacing_leaves_a_whole_model(
    renames: int, model_folder: Path, small_model: Make, small_tokenizer: Tokenizer
) -> None:
    new = other(small_model)

    def replace_and_die() -> None:
        done = 0
        real_rename = Path.rename

        def rename(path: Path, target: Path) -> Path:
            nonlocal done
            die_after(renames)
            done += 1
            return real_rename(path, target)

        def die_after(count: int) -> None:
            if done == count:
                os._exit(9)

        Path.rename = rename  # type: ignore[method-assign]
        shutil.rmtree = lambda *_, **__: die_after(2)  # type: ignore[assignment]
        save_model_folder(model_folder, new, small_tokenizer)

    assert in_a_process(replace_and_die) == 9
    if renames == 1:  # between the two: the earlier one stands beside
        with pytest.raises(ModelFolderError, match=r"rename that folder to model") as caught:
            open_model_folder(model_folder)
        assert str(model_folder.with_name(".model.old")) in str(caught.value)
        assert saved_width(model_folder.with_name(".model.old")) == 24
    else:
        assert saved_width(model_folder) == {0: 24, 2: 8}[renames]
    save_model_folder(model_folder, new, small_tokenizer)
    assert saved_width(model_folder) == 8
    assert not model_folder.with_name(".model.old").exists()


def in_a_process(work: Callable[[], None]) -> int:
    """The exit code of a copy of this process that does the work, 0 when nothing stops it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads and fork
        process = os.fork()
    if process == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def test_failing_save_puts_back_what_a_kill_had_moved(
    model_folder: Path, small_model: Make, small_tokenizer: Tokenizer
) -> None:
    model_folder.rename(model_folder.with_name(".model.old"))
    with no_room(), pytest.raises(ModelFolderError):
        save_model_folder(model_folder, other(small_model), small_tokenizer)
    assert saved_width(model_folder) == 24


@contextmanager
def no_room() -> Iterator[None]:
    """No file may grow beyond 2,000 bytes, as if the disk were full.

    Not a fixture: pytest's own output may be such a file, and it writes before a fixture ends.
    """
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_full_disk_leaves_the_old_folder(
    model_folder: Path, small_model: Make, small_tokenizer: Tokenizer
) -> None:
    said = r"model could not be written: .*make room"
    with no_room(), pytest.raises(ModelFolderError, match=said) as error:
        save_model_folder(model_folder, other(small_model), small_tokenizer)
    assert "\n" not in str(error.value)
    assert saved_width(model_folder) == 24
    assert [entry.name for entry in model_folder.parent.iterdir()] == ["model"]


def test_replacing_keeps_other_peoples_files(
    model_folder: Path, small_model: Make, small_tokenizer: Tokenizer
) -> None:
    (model_folder / "notes").mkdir()
    (model_folder / "notes/mine.txt").write_text("keep")
    save_model_folder(model_folder, other(small_model), small_tokenizer)
    assert saved_width(model_folder) == 8
    assert (model_folder / "notes/mine.txt").read_text() == "keep"
    assert sorted(e.name for e in model_folder.iterdir()) == sorted([*FILES, "notes"])


def test_replacing_drops_what_was_learned_for_the_old_model(
    model_folder: Path, small_model: Make, small_tokenizer: Tokenizer
) -> None:
    (model_folder / VOCABULARY_SELECTION).write_bytes(b"of the old one")
    save_model_folder(model_folder, other(small_model), small_tokenizer)
    assert sorted(entry.name for entry in model_folder.iterdir()) == sorted(FILES)


def test_only_a_model_is_ever_replaced(
    small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "chapter.tex").write_text("years of work")
    for path in (thesis, thesis / "chapter.tex"):
        with pytest.raises(ModelFolderError, match=r"something other than a model.*choose another"):
            save_model_folder(path, small_model(), small_tokenizer)
    assert (thesis / "chapter.tex").read_text() == "years of work"
    (tmp_path / "empty").mkdir()
    save_model_folder(tmp_path / "empty", small_model(), small_tokenizer)
    assert saved_width(tmp_path / "empty") == 24


def test_working_directory_may_be_the_folder(
    small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    save_model_folder(Path(), small_model(), small_tokenizer)
    assert saved_width(tmp_path / "here") == 24


def test_what_killed_processes_left_is_cleared_away_in_time(
    model_folder: Path, small_model: Make, small_tokenizer: Tokenizer
) -> None:
    old, fresh = (model_folder.with_name(f".model.{n}.partial") for n in (1, 2))
    for leftover in (old, fresh):
        leftover.mkdir()
    two_days_ago = time.time() - 2 * 24 * 3600
    os.utime(old, (two_days_ago, two_days_ago))
    save_model_folder(model_folder, small_model(), small_tokenizer)
    assert (old.exists(), fresh.exists()) == (False, True)


def test_tokenizer_of_another_model_is_refused(
    small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    with pytest.raises(ModelFolderError, match=r"tokenizer has 300 pieces.*vocabulary is 301"):
        save_model_folder(tmp_path / "m", small_model(vocabulary=301), small_tokenizer)
    assert not (tmp_path / "m").exists()


# Names


@pytest.fixture
def bundle(
    small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A package with the bundled models en-de and de-en, and something that is no model."""
    for name in ("en-de", "de-en"):
        save_model_folder(tmp_path / "package/models" / name, small_model(), small_tokenizer)
    (tmp_path / "package/models/__pycache__").mkdir()
    monkeypatch.setattr(module.resources, "files", lambda package: tmp_path / "package")
    return tmp_path / "package"


def test_bundled_models_go_by_their_names(
    bundle: Path, small_model: Make, small_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bundled_models() == ["de-en", "en-de"]
    assert open_model_folder("en-de").path == bundle / "models/en-de"
    monkeypatch.chdir(bundle.parent)
    save_model_folder(Path("en-de"), other(small_model), small_tokenizer)
    assert saved_width(Path("en-de")) == 8
    assert open_model_folder("en-de").config.d_ff == 24
    assert open_model_folder("./en-de").config.d_ff == 8


def test_mistyped_name_is_answered_with_the_nearest(bundle: Path) -> None:
    with pytest.raises(ModelFolderError) as error:
        open_model_folder("en_de")
    assert str(error.value) == (
        "there is no model 'en_de': no folder of that name, and the bundled models are "
        "de-en, en-de; did you mean en-de?"
    )


# Version 1, for ever


def test_version_1_loads_for_ever() -> None:
    path = GOLDEN / "model-v1"
    golden = json.loads(path.with_suffix(".json").read_text("utf-8"))
    files = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in path.iterdir()}
    assert files == golden["sha256"], "the frozen folder itself must not change"
    assert sum(file.stat().st_size for file in path.iterdir()) < 60_000

    translator = load(path, engine="core")
    ids = translator.tokenizer.encode(golden["source"]).ids
    with torch.inference_mode():
        logits_TV = translator.model(torch.tensor([ids]), torch.tensor([[1, *ids[:-1]]]))[0]
    assert logits_TV.std() > 1
    expected = torch.tensor(golden["logits_TV"])
    torch.testing.assert_close(logits_TV[:, golden["columns"]], expected, atol=1e-4, rtol=1e-4)

    for line in golden["translations"]:
        translation = translator(line["source"], n_best=2)
        assert translation.text == line["text"]
        assert translation.log_probability == pytest.approx(line["log_probability"], abs=1e-4)
        assert translation.alternatives[1].text == line["second"]


def test_the_golden_test_can_fail() -> None:
    folder = open_model_folder(GOLDEN / "model-v1")
    changed = replace(folder, config=replace(folder.config, scale_embeddings=False))
    assert not torch.allclose(logits(changed.load_model()), logits(folder.load_model()), atol=0.1)


def test_a_normaliser_is_kept_and_an_unknown_one_is_told(
    tmp_path: Path, small_model: Callable[..., Transformer], small_tokenizer: Tokenizer
) -> None:
    save_model_folder(
        tmp_path / "m", small_model(), small_tokenizer, Traits(normaliser="plain-marks")
    )
    assert open_model_folder(tmp_path / "m").normaliser == "plain-marks"
    config = tmp_path / "m" / "config.json"
    config.write_text(config.read_text().replace("plain-marks", "curly-marks"))
    with pytest.raises(
        ModelFolderError, match=r"normaliser=\"curly-marks\" \(known: plain-marks\)"
    ):
        open_model_folder(tmp_path / "m")


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("encoder_layers", 10**9, "encoder_layers=1000000000.* make .* weights, and model.safe"),
        ("decoder_layers", 10**9, "decoder_layers=1000000000"),
        ("d_ff", 10**12, "d_ff=1000000000000"),
        ("max_positions", 10**12, "max_positions=1000000000000 needs a table of"),
        ("max_positions", 10**7, "max_positions=10000000 must be at most 1,048,576"),
    ],
)
@pytest.mark.parametrize("engine", ["core", "auto"])
def test_absurd_sizes_are_told_at_once(
    model_folder: Path, key: str, value: int, told: str, engine: str
) -> None:
    config = json.loads((model_folder / "config.json").read_text())
    config["model"][key] = value
    (model_folder / "config.json").write_text(json.dumps(config))
    began = time.monotonic()
    with pytest.raises(ModelFolderError, match=told):
        load(model_folder, engine)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("engine", ["core", "auto"])
def test_a_pipe_is_no_model(model_folder: Path, name: str, engine: str) -> None:
    """Nobody may ever write into it."""
    (model_folder / name).unlink()
    os.mkfifo(model_folder / name)
    with pytest.raises(ModelFolderError, match=f"{name} is not a regular file"):
        load(model_folder, engine)
