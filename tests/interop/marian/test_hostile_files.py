"""Damaged and hostile files: an error of ours, in bounded memory and time; nothing is executed."""

import gzip
import io
import pickle
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allyouneed.errors import AllYouNeedError, ConfigError, ModelFolderError
from allyouneed.interop.marian.binary import INTGEMM8, Item, step_of
from allyouneed.interop.marian.reading import read_model
from allyouneed.interop.marian.shortlist import read_binary_shortlist

Make = Callable[..., Path]
Import = Callable[..., Any]
MEGABYTE = 1 << 20


def refused(path: Path, *, megabytes: int = 40) -> str:
    """What reading this file is refused with; it may take so much memory."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFolderError) as told:
            read_model(path)
        assert tracemalloc.get_traced_memory()[1] < megabytes * MEGABYTE
    finally:
        tracemalloc.stop()
    return str(told.value)


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def head(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}Q", *numbers)


BINARIES = {
    "empty": b"",
    "no version": b"\x01",
    "another version": head(2, 0, 0),
    "no items": head(1, 0, 0),
    "countless items": head(1, 1 << 60) + bytes(100),
    "more items than bytes": head(1, 1000) + bytes(1000),
    "an endless name": head(1, 1, 1 << 62, 0x404, 2, 4) + bytes(64),
    "an endless shape": head(1, 1, 2, 0x404, 1 << 61, 4) + b"W\0" + bytes(64),
    "endless data": head(1, 1, 2, 0x404, 1, 1 << 63) + b"W\0" + bytes(4) + head(0) + bytes(9),
    "endless filling": head(1, 1, 2, 0x404, 1, 4) + b"W\0" + bytes(4) + head(1 << 63),
    "a name that is no UTF-8": head(1, 1, 2, 0x404, 1, 0) + b"\xff\0" + bytes(4) + head(0),
}


@pytest.mark.parametrize("kind", BINARIES)
def test_binaries(kind: str, tmp_path: Path) -> None:
    assert "model.bin" in refused(written(tmp_path / "model.bin", BINARIES[kind]))


@pytest.mark.parametrize(
    ("shape", "kind", "data", "message"),
    [
        ((1 << 30, 1 << 30), 0x404, bytes(8), "too few for the shape"),
        ((-1, -4), 0x404, bytes(16), "has the shape"),
        ((2, 2), 0x4101, bytes(4), "too few for the shape"),
        ((2, 2), 0x4101, bytes(8), "to be divided by 0"),
        ((2, 2), 0x4101, bytes(4) + struct.pack("<f", float("nan")), "to be divided by nan"),
        ((2,), 0x404, struct.pack("<2f", float("inf"), 1), "holds NaN or infinity"),
        ((4,), 0x1801, bytes(64), "packed16 of fbgemm, which is not read"),
        ((4,), 0x2801, bytes(64), "packed8 of fbgemm for AVX2, which is not read"),
        ((4,), 0x999, bytes(64), "type 0x999, which is not read"),
    ],
)
def test_arrays_of_binaries(
    tmp_path: Path, shape: Any, kind: int, data: bytes, message: str
) -> None:
    items = [("encoder_l1_self_Wq", kind, shape, data), ("special:model.yml", 0x101, (3,), b"a: ")]
    file = unpadded(items)
    assert message in refused(written(tmp_path / "model.bin", file))


def unpadded(items: Any) -> bytes:
    file = head(1, len(items))
    for name, kind, shape, data in items:
        file += head(len(name) + 1, kind, len(shape), len(data))
    file += b"".join(name.encode() + b"\0" for name, *_ in items)
    file += b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in items)
    return file + head(0) + b"".join(data for *_, data in items)


class Bomb:
    def __reduce__(self) -> Any:
        return (Path.touch, (Path("executed"),))


def zipped(entries: dict[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", kind) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return stream.getvalue()


def npy(array: Any, header: str | None = None) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=True)
    content = stream.getvalue()
    if header is None:
        return content
    text = header.encode().ljust(117) + b"\n"
    return content[:8] + struct.pack("<H", len(text)) + text


def test_a_pickle_in_an_npz_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    objects = np.array([Bomb()], dtype=object)
    message = refused(written(tmp_path / "model.npz", zipped({"Wemb.npy": npy(objects)})))
    assert "only numbers are" in message
    raw = pickle.dumps(Bomb())
    refused(written(tmp_path / "other.npz", zipped({"Wemb.npy": raw})))
    refused(written(tmp_path / "raw.npz", raw))
    assert not (tmp_path / "executed").exists()


def test_zip_bombs(tmp_path: Path) -> None:
    bomb = zipped({"Wemb.npy": bytes(200 * MEGABYTE)}, zipfile.ZIP_DEFLATED)
    assert len(bomb) < MEGABYTE
    assert "unpacks to" in refused(written(tmp_path / "model.npz", bomb))
    packed = gzip.compress(bytes(200 * MEGABYTE))
    assert "holds more than" in refused(written(tmp_path / "model.bin.gz", packed))


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000000), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f4'}",
        "__import__('os').system('touch executed')",
        "(" * 60,
    ],
)
def test_headers_of_arrays(header: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content = npy(np.zeros(3, "f4"), header)
    refused(written(tmp_path / "model.npz", zipped({"Wemb.npy": content})))
    assert not (tmp_path / "executed").exists()


def test_a_file_that_is_cut_anywhere(toys: Any, tmp_path: Path) -> None:
    model = toys.toy((32, 32), layers=(1, 1), d_model=16, d_ff=16)
    for file in (toys.bin_file(model, bits=8), toys.npz_file(model)):
        for end in range(0, len(file) - 300, max(1, len(file) // 40)):
            path = written(tmp_path / "model.bin", file[:end])
            with pytest.raises(ModelFolderError):
                read_model(path)


@given(data=st.data())
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_file_with_other_bytes_is_read_or_refused(
    toys: Any, tmp_path: Path, data: st.DataObject
) -> None:
    model = toys.toy((16, 16), layers=(1, 1), d_model=8, heads=2, d_ff=8)
    content = bytearray(
        toys.bin_file(model, bits=8) if data.draw(st.booleans()) else toys.npz_file(model)
    )
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, min(len(content) - 1, 3000)))
        content[place] = data.draw(st.integers(0, 255))
    path = written(tmp_path / "model.bin", bytes(content))
    refusal = ""
    tracemalloc.start()
    try:
        read_model(path)
    except ModelFolderError as error:
        refusal = str(error)
    finally:
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert used < 40 * MEGABYTE
    assert not refusal or str(path) in refusal, "the refusal does not name the file"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("enc-depth", 10**9),
        ("dec-depth", -1),
        ("dim-emb", 10**9),
        ("dim-emb", 2),
        ("dim-emb", "many"),
        ("transformer-dim-ffn", 10**12),
        ("transformer-heads", 0),
        ("transformer-heads", 10**9),
    ],
)
def test_settings_that_no_file_can_hold(
    toys: Any, folder: Make, imported: Import, key: str, value: Any
) -> None:
    size = len(toys.pieces(toys.spm()))
    model = toys.toy((size, size))
    model.settings[key] = value
    path = folder({"model.npz": toys.npz_file(model), "vocab.spm": toys.spm()})
    with pytest.raises(ConfigError):
        imported(path)


@pytest.mark.parametrize("damage", ["vocab.spm", "lex.bin", "decoder.yml", "metadata.json"])
def test_damaged_files_beside_the_model(
    toys: Any, folder: Make, imported: Import, tmp_path: Path, damage: str
) -> None:
    size = len(toys.pieces(toys.spm()))
    files = {
        "model.npz": toys.npz_file(toys.toy((size, size))),
        "vocab.spm": toys.spm(),
        "lex.bin": toys.lex_file(range(4), [[5]] * size),
        "decoder.yml": b"beam-size: 4\n",
        "metadata.json": b"{}",
    }
    files[damage] = {
        "vocab.spm": files["vocab.spm"][:-7],
        "lex.bin": files["lex.bin"][:60] + b"\xee" + files["lex.bin"][61:],
        "decoder.yml": b"beam-size: &x {a: *x}\nfoo\n",
        "metadata.json": b"{",
    }[damage]
    with pytest.raises(ModelFolderError, match=damage.replace(".", r"\.")):
        imported(folder(files))
    assert not (tmp_path / "ours").exists()


@given(content=st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_shortlists_of_any_bytes(content: bytes) -> None:
    for file in (content, (0xF11A48D5013417F5).to_bytes(8, "little") + content):
        with pytest.raises(ValueError, match="it "):
            read_binary_shortlist(file)


def test_ids_beyond_the_vocabulary(toys: Any, folder: Make, imported: Import) -> None:
    size = len(toys.pieces(toys.spm()))
    files = {
        "model.npz": toys.npz_file(toys.toy((size, size))),
        "vocab.spm": toys.spm(),
        "lex.bin": toys.lex_file(range(4), [[size + 900]] * size),
    }
    with pytest.raises(AllYouNeedError, match=r"lex\.bin is for .* names the target id"):
        imported(folder(files))


def test_a_step_that_float32_cannot_hold_is_none_without_a_warning() -> None:
    def item(factor: float) -> Item:
        return Item("w", INTGEMM8, (1, 1), memoryview(b"\1" + struct.pack("<f", factor)))

    assert step_of(item(4.0)) == 0.25
    assert step_of(item(1e-45)) is None
