"""Folders as Firefox and OPUS-MT's zips lay them, and what they are imported as."""

import gzip
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from allyouneed.interop.marian.importing import import_marian_files
from allyouneed.model_folder.folder import ModelFolder


@pytest.fixture(scope="session")
def toys() -> Any:
    """The module toy.py beside this file."""
    spec = importlib.util.spec_from_file_location("marian_toys", Path(__file__).with_name("toy.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["marian_toys"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """`folder({"model.npz": content, …})` writes the files; names that end in .gz are gzipped."""

    def make(files: Mapping[str, bytes], name: str = "theirs") -> Path:
        path = tmp_path / name
        path.mkdir()
        for file, content in files.items():
            packed = gzip.compress(content) if file.endswith(".gz") else content
            (path / file).write_bytes(packed)
        return path

    return make


@pytest.fixture
def imported(tmp_path: Path) -> Callable[..., tuple[ModelFolder, list[str]]]:
    """`imported(path)` gives the model folder, and what was noted."""

    def do(source: Path, name: str = "ours") -> tuple[ModelFolder, list[str]]:
        notes: list[str] = []
        return import_marian_files(source, tmp_path / name, note=notes.append), notes

    return do


@pytest.fixture(scope="session")
def copier(toys: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small SSRU model that has learnt to say its source again: its margins are
    wide enough for 8 bits to change nothing."""
    place = tmp_path_factory.mktemp("copier")
    size = len(toys.pieces(toys.spm()))
    theirs = place / "theirs"
    theirs.mkdir()
    model = toys.toy((size, size), layers=(1, 1), d_ff=128, scale=1.0)
    (theirs / "model.ende.npz").write_bytes(toys.npz_file(model))
    (theirs / "vocab.spm").write_bytes(toys.spm())
    chosen = toys.lex_file(range(2, 40), [[s] for s in range(size)])
    (theirs / "lex.50.50.ende.s2t.bin").write_bytes(chosen)
    folder = import_marian_files(theirs, place / "ours", note=lambda _: None)
    toys.teach_to_copy(folder)
    return folder.path
