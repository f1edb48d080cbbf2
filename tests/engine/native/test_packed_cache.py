"""The cache of packed weights: a restored model is the packed one, and whatever is wrong with a
file of the cache, the model is packed anew."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.native import packed_cache
from allyouneed.engine.native.engine import NativeEngine, Precision
from allyouneed.engine.native.library import Library
from allyouneed.engine.native.packed import PackedModel
from allyouneed.errors import UsageError
from allyouneed.model_folder.folder import ModelFolder, open_model_folder

Make = Callable[..., Transformer]
SOURCES = [[5, 6, 7, 8, 2], [9, 10, 2]]


@pytest.fixture
def cache(tmp_path: Path, library: Library, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, which keeps even small models. `library` has been found elsewhere."""
    monkeypatch.setenv("ALLYOUNEED_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(packed_cache.VARIABLE, raising=False)
    monkeypatch.setattr(packed_cache, "LEAST", 1)
    return tmp_path / "cache" / "allyouneed" / "packed"


@pytest.fixture
def folder(model_folder: Path) -> ModelFolder:
    return open_model_folder(model_folder)


@pytest.fixture
def packings(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """An entry for each model that is made: True if it was packed, False if it was restored."""
    made: list[bool] = []
    whole = PackedModel.__init__

    def init(self: PackedModel, *args: object, **kept: object) -> None:
        whole(self, *args, **kept)  # type: ignore[arg-type]
        made.append(not kept)

    monkeypatch.setattr(PackedModel, "__init__", init)
    return made


def logits(engine: NativeEngine) -> list[object]:
    options = BeamOptions(beam=3, n_best=3, max_length=12)
    return [h.token_log_probabilities for found in engine.search(SOURCES, options) for h in found]


@pytest.mark.parametrize("precision", ["int8", "float32"])
def test_a_restored_model_is_the_packed_one(
    cache: Path, folder: ModelFolder, packings: list[bool], precision: Precision
) -> None:
    packed, restored = (NativeEngine.open(folder, precision, 1) for _ in range(2))
    assert packings == [True, False]
    assert logits(packed) == logits(restored)
    assert [file.suffix for file in cache.iterdir()] == [".packed"]


def _flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def _others_may_write(file: Path) -> None:
    file.chmod(0o666)


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _longer(file: Path) -> None:
    file.write_bytes(file.read_bytes() + bytes(64))


@pytest.mark.parametrize("damage", [_flip, _cut, _empty, _longer, _others_may_write])
def test_a_damaged_file_is_packed_anew(
    cache: Path, folder: ModelFolder, packings: list[bool], damage: Callable[[Path], None]
) -> None:
    before = logits(NativeEngine.open(folder, "int8", 1))
    [file] = cache.iterdir()
    damage(file)
    assert logits(NativeEngine.open(folder, "int8", 1)) == before
    NativeEngine.open(folder, "int8", 1)
    assert packings == [True, True, False]


def test_other_weights_have_another_file(
    cache: Path, folder: ModelFolder, packings: list[bool]
) -> None:
    NativeEngine.open(folder, "int8", 1)
    NativeEngine.open(folder, "float32", 1)
    weights = folder.path / "model.safetensors"
    weights.write_bytes(weights.read_bytes())  # the same bytes, changed at another time
    NativeEngine.open(folder, "int8", 1)
    assert packings == [True, True, True]
    assert len(list(cache.iterdir())) == 3


def test_off_switch(
    cache: Path, folder: ModelFolder, packings: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(packed_cache.VARIABLE, "0")
    for _ in range(2):
        NativeEngine.open(folder, "int8", 1)
    assert packings == [True, True]
    assert not cache.exists()


@pytest.mark.parametrize("said", ["much", "-1", "nan", "inf"])
def test_a_wrong_bound(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(packed_cache.VARIABLE, said)
    with pytest.raises(UsageError, match=f"ALLYOUNEED_PACKED_GB={said} must be a number"):
        packed_cache.most_bytes()


def test_a_cache_that_cannot_be_written(
    cache: Path, folder: ModelFolder, packings: list[bool]
) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text("a file in the way")
    assert logits(NativeEngine.open(folder, "int8", 1))
    assert packings == [True]


def test_a_model_above_the_bound_is_not_kept(
    cache: Path, folder: ModelFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(packed_cache.VARIABLE, "0.000001")
    NativeEngine.open(folder, "int8", 1)
    assert not list(cache.iterdir())


def test_files_unused_for_longest_are_removed(tmp_path: Path) -> None:
    now = time.time()
    for name, size, age in (
        ("new.packed", 400, 1),
        ("used.packed", 400, 2),
        ("old.packed", 400, 3),
        (".young.packed.1-1.partial", 10, 5),
        (".killed.packed.2-2.partial", 10, 100_000),
    ):
        (tmp_path / name).write_bytes(bytes(size))
        os.utime(tmp_path / name, (now - age, now - age))
    packed_cache.make_room(tmp_path, 1000)
    assert {file.name for file in tmp_path.iterdir()} == {"new.packed", "used.packed"}


def test_weights_are_read_in_parts(library: Library, small_model: Make, tmp_path: Path) -> None:
    """No array is read whole by the library: a gigabyte of float32 must never be in memory."""
    from allyouneed.model_folder.weights.arrays import StoredArrays

    asked: list[int] = []
    part = StoredArrays.part

    def watched(self: StoredArrays, name: str, first: int, count: int) -> object:
        asked.append(count)
        return part(self, name, first, count)

    from safetensors.numpy import save_file

    model = small_model(vocabulary=70_000, d_model=32, shared_embeddings="all")
    tied = model.tied_weights()
    arrays = {n: t.numpy() for n, t in model.state_dict().items() if n not in tied}
    save_file(arrays, tmp_path / "model.safetensors")
    stored = StoredArrays(tmp_path / "model.safetensors", model.config)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StoredArrays, "part", watched)
        in_parts = PackedModel(library.functions, model.config, stored, int8=True)
    assert max(asked) <= 1 << 18 < sum(asked)
    whole = {name: stored[name] for name in stored}
    at_once = PackedModel(library.functions, model.config, whole, int8=True)
    assert _bytes(in_parts) == _bytes(at_once)


def _bytes(model: PackedModel) -> bytes:
    parts: list[bytes] = []
    model.store(lambda part: parts.append(bytes(part)))
    assert sum(map(len, parts)) > np.iinfo(np.uint16).max
    return b"".join(parts)
