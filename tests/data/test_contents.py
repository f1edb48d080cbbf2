"""Files known by their contents, and what is remembered of them."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from allyouneed.data import contents
from allyouneed.data.contents import SETTLED_NS, ContentHashes, content_key
from allyouneed.errors import DataError


@pytest.fixture
def settled(tmp_path: Path) -> Path:
    """A file that was changed long enough ago for its hash to be kept."""
    path = tmp_path / "corpus.tsv"
    path.write_text("a\tb\n", encoding="utf-8")
    os.utime(path, ns=(0, path.stat().st_mtime_ns - 2 * SETTLED_NS))
    return path


def refused(*args: object) -> None:
    raise AssertionError("the file is read again")


def test_a_file_is_read_once_until_it_changes(
    settled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = tmp_path / "hashes.json"
    expected = sha256(b"a\tb\n").hexdigest()
    assert ContentHashes(memory)(settled) == expected
    with monkeypatch.context() as patch:
        patch.setattr(contents.hashlib, "file_digest", refused)
        assert ContentHashes(memory)(settled) == expected
    settled.write_text("a\tc\n", encoding="utf-8")
    assert ContentHashes(memory)(settled) == sha256(b"a\tc\n").hexdigest()


def test_a_file_that_has_just_changed_is_not_remembered(tmp_path: Path) -> None:
    """It could change again within the clock's tick, and look the same."""
    path, memory = tmp_path / "corpus.tsv", tmp_path / "hashes.json"
    path.write_text("a\tb\n", encoding="utf-8")
    ContentHashes(memory)(path)
    assert not memory.exists()


@pytest.mark.parametrize("spoilt", ["", "{", "[]", '{"x": 3}', '{"x": [1]}'])
def test_a_spoilt_memory_is_none(settled: Path, tmp_path: Path, spoilt: str) -> None:
    memory = tmp_path / "hashes.json"
    memory.write_text(spoilt)
    assert ContentHashes(memory)(settled) == sha256(b"a\tb\n").hexdigest()


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_takes_only_the_memory(settled: Path, tmp_path: Path) -> None:
    memory = tmp_path / "hashes.json"
    assert ContentHashes(memory)(settled) == sha256(b"a\tb\n").hexdigest()
    assert list(tmp_path.iterdir()) == [settled]


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no\.tsv"):
        ContentHashes(tmp_path / "hashes.json")(tmp_path / "no.tsv")
    with pytest.raises(DataError, match="is a folder or a pipe"):
        ContentHashes(tmp_path / "hashes.json")(tmp_path)


def test_a_key_stays_what_it_was(settled: Path, tmp_path: Path) -> None:
    """What earlier versions have put into a cache is found by it."""
    key = content_key(tmp_path, lambda content: {"size": 8, "files": [content(settled)]})
    hashed = sha256(b"a\tb\n").hexdigest()
    assert key == sha256(f'{{"files": ["{hashed}"], "size": 8}}'.encode()).hexdigest()
    assert hashed in (tmp_path / "hashes.json").read_text()
