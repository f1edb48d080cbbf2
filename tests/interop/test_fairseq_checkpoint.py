"""Checkpoints are read without running anything in them, and what cannot be read is said."""

import os
import sys
from argparse import Namespace
from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from allyouneed.errors import DataError, ModelFolderError
from allyouneed.interop.fairseq import import_fairseq
from allyouneed.interop.fairseq_checkpoint import read_checkpoint

GOLDEN = Path(__file__).with_name("fairseq")


@pytest.fixture
def state() -> dict[str, Any]:
    with torch.serialization.safe_globals([Namespace]):
        found: dict[str, Any] = torch.load(GOLDEN / "post-norm.pt", weights_only=True)
    return found


@pytest.fixture
def theirs() -> Iterator[ModuleType]:
    """A module under the name of NVIDIA's, with a class like its dictionary's."""
    module = ModuleType("fairseq.data.dictionary")
    code = "class Dictionary:\n    def __init__(self, symbols):\n        self.symbols = symbols\n"
    exec(code, module.__dict__)
    sys.modules |= {"fairseq": ModuleType("fairseq"), "fairseq.data": ModuleType("fairseq.data")}
    sys.modules["fairseq.data.dictionary"] = module
    yield module
    for name in ("fairseq", "fairseq.data", "fairseq.data.dictionary"):
        del sys.modules[name]


class Runs:
    """Unpickled, this makes a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def refusal(path: Path) -> str:
    with pytest.raises(ModelFolderError) as refused:
        read_checkpoint(path)
    return str(refused.value)


@pytest.mark.parametrize("name", ["post-norm", "pre-norm", "no-positions"])
def test_every_form_says_the_same(name: str) -> None:
    """The files hold their settings as args, as cfg, or as an omegaconf cfg, in the old or the new
    file format of torch."""
    settings = read_checkpoint(GOLDEN / f"{name}.pt").settings
    assert settings["arch"] == "transformer"
    assert settings["encoder_embed_dim"] == 8
    assert settings["encoder_layers"] == 2
    assert settings["decoder_layers"] == 1
    assert (settings["source_lang"], settings["target_lang"]) == ("en", "de")
    assert (settings["tokenizer"], settings["bpe"]) == ("moses", "subword_nmt")
    assert settings["moses_no_escape"] is False
    assert settings["encoder_normalize_before"] is (name == "pre-norm")


def test_a_config_with_groups_inside_the_models(state: dict[str, Any], tmp_path: Path) -> None:
    model = {"_name": "mine", "encoder": {"layers": 2, "embed_dim": 8}, "dropout": 0.25}
    task = {"_name": "translation", "source_lang": "en", "dropout": 0.75}
    torch.save(state | {"args": None, "cfg": {"model": model, "task": task}}, tmp_path / "a.pt")
    settings = read_checkpoint(tmp_path / "a.pt").settings
    assert settings["encoder_layers"] == 2
    assert settings["dropout"] == 0.25
    assert (settings["arch"], settings["source_lang"]) == ("mine", "en")


@pytest.mark.parametrize("zipped", [True, False])
def test_nothing_is_run(zipped: bool, state: dict[str, Any], tmp_path: Path) -> None:
    path, trap = tmp_path / "trap.pt", tmp_path / "sprung"
    state["extra_state"] = Runs(trap)
    torch.save(state, path, _use_new_zipfile_serialization=zipped)
    assert "holds an object of the class posix.mkdir, which could run any code" in refusal(path)
    assert not trap.exists()


@pytest.mark.parametrize("zipped", [True, False])
def test_a_class_that_is_not_known(zipped: bool, state: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "other.pt"
    state["extra_state"] = {"best": Fraction(1, 3)}
    torch.save(state, path, _use_new_zipfile_serialization=zipped)
    said = refusal(path)
    assert "the class fractions.Fraction" in said
    assert "torch.save({key: state.get(key) for key in ('args', 'cfg', 'model')}, new)" in said
    trusted = torch.load(path, weights_only=False)
    torch.save({key: trusted.get(key) for key in ("args", "cfg", "model")}, tmp_path / "new.pt")
    assert read_checkpoint(tmp_path / "new.pt").settings["encoder_layers"] == 2


@pytest.mark.parametrize("zipped", [True, False])
def test_dictionaries_inside(
    zipped: bool, state: dict[str, Any], theirs: Any, tmp_path: Path
) -> None:
    """NVIDIA keeps them in the checkpoint, as objects of a class of its own."""
    lines = (GOLDEN / "joined" / "dict.en.txt").read_text("utf-8").splitlines()
    symbols = ["<Lua heritage>", "<pad>", "</s>", "<unk>", *(line.split()[0] for line in lines)]
    dictionary = theirs.Dictionary(symbols)
    state["extra_state"] = {"src_dict": dictionary, "tgt_dict": dictionary}
    state["last_optimizer_state"] = defaultdict(dict, {"state": OrderedDict()})
    torch.save(state, tmp_path / "JoC.pt", _use_new_zipfile_serialization=zipped)
    assert read_checkpoint(tmp_path / "JoC.pt").symbols == (symbols, symbols)
    codes = GOLDEN / "codes"
    into = tmp_path / "model"
    folder = import_fairseq(tmp_path / "JoC.pt", into, codes=codes, note=lambda _: None)
    assert folder.tokenizer.encode("A man").ids == [35, 24, 2]
    assert folder.tokenizer.target.decode([35, 24, 2]) == "A man"


def test_a_dictionary_inside_that_is_none(
    state: dict[str, Any], theirs: Any, tmp_path: Path
) -> None:
    dictionary = theirs.Dictionary(["a", "b", "c", "d", "e"])
    state["extra_state"] = {"src_dict": dictionary, "tgt_dict": dictionary}
    torch.save(state, tmp_path / "odd.pt")
    with pytest.raises(DataError, match="a dictionary begins with"):
        import_fairseq(tmp_path / "odd.pt", tmp_path / "model", note=print)


def test_files_that_are_no_checkpoint(state: dict[str, Any], tmp_path: Path) -> None:
    assert "cannot be read (No such file" in refusal(tmp_path / "nothing.pt")
    assert "cannot be read (Is a directory" in refusal(tmp_path)
    path = tmp_path / "file.pt"
    path.write_text("text")
    assert "is not a checkpoint of torch" in refusal(path)
    torch.save([1, 2], path)
    assert "has no state dict under 'model', but <class 'list'>" in refusal(path)
    torch.save({"epoch": 1, "weights": {}}, path)
    assert "has no state dict under 'model', but epoch, weights" in refusal(path)
    torch.save({"model": state["model"]}, path)
    assert "neither 'args' nor 'cfg'" in refusal(path)


@pytest.mark.parametrize("name", ["post-norm", "pre-norm"])
@pytest.mark.parametrize("part", [0.01, 0.3, 0.9, 0.999])
def test_a_file_that_is_cut_short(name: str, part: float, tmp_path: Path) -> None:
    whole = (GOLDEN / f"{name}.pt").read_bytes()
    (tmp_path / "cut.pt").write_bytes(whole[: int(len(whole) * part)])
    assert "is damaged or cut short" in refusal(tmp_path / "cut.pt")


@pytest.mark.parametrize("name", ["post-norm", "pre-norm"])
def test_a_file_with_a_hole(name: str, tmp_path: Path) -> None:
    whole = bytearray((GOLDEN / f"{name}.pt").read_bytes())
    middle = whole.index(b"encoder_embed_dim")
    whole[middle : middle + 400] = bytes(400)
    (tmp_path / "hole.pt").write_bytes(whole)
    assert "is damaged or cut short" in refusal(tmp_path / "hole.pt")
