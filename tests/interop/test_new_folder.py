"""A folder for another toolkit is whole or not there, and nobody's files are touched."""

from pathlib import Path

import pytest

from allyouneed.errors import ModelFolderError, UsageError
from allyouneed.interop.new_folder import new_folder


def fill(path: Path) -> None:
    with new_folder(path) as beside:
        (beside / "model.bin").write_bytes(b"weights")


def test_not_there_before_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "exported"
    with new_folder(path) as beside:
        (beside / "model.bin").write_bytes(b"weights")
        assert not path.exists()
        assert beside.parent == tmp_path  # the same disk: a rename is enough
    assert [file.name for file in path.iterdir()] == ["model.bin"]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_nothing_is_left_of_one_that_is_broken_off(
    there: bool, error: BaseException, tmp_path: Path
) -> None:
    path = tmp_path / "exported"
    if there:
        path.mkdir()

    def broken_off() -> None:
        with new_folder(path) as beside:
            (beside / "model.bin").write_bytes(b"wei")
            raise error

    expected = KeyboardInterrupt if error is KeyboardInterrupt else ModelFolderError
    with pytest.raises(expected):
        broken_off()
    assert list(tmp_path.rglob("*")) == ([path] if there else [])
    fill(path)
    assert (path / "model.bin").read_bytes() == b"weights"


def test_an_empty_folder_stays_the_one_that_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = tmp_path.stat().st_ino
    fill(Path())
    assert tmp_path.stat().st_ino == before  # or whoever is in it would see nothing
    assert [file.name for file in Path.cwd().iterdir()] == ["model.bin"]
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    fill(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert [file.name for file in (tmp_path / "empty").iterdir()] == ["model.bin"]


def test_a_folder_in_use_is_left_as_it_is(tmp_path: Path) -> None:
    for path in (tmp_path / "used", Path("/")):
        path.mkdir(exist_ok=True)
        if path != Path("/"):
            (path / ".mine").write_text("mine")
        with pytest.raises(UsageError, match="is there already and is left as it is"):
            fill(path)
    assert [file.name for file in (tmp_path / "used").iterdir()] == [".mine"]
    with pytest.raises(UsageError, match=r"mine is there already"):
        fill(tmp_path / "used" / ".mine")
    assert list(tmp_path.iterdir()) == [tmp_path / "used"]


@pytest.mark.parametrize("name", ["file/exported", "x" * 300, "x" * 250], ids=len)
def test_a_place_that_cannot_be_written(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file, no folder")
    with pytest.raises(ModelFolderError, match=r"could not be written: .*; make room, or choose"):
        fill(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_a_killed_export_left_is_no_obstacle(tmp_path: Path) -> None:
    left = new_folder(tmp_path / "exported")
    beside = left.__enter__()
    (beside / "old.bin").write_bytes(b"half")
    fill(tmp_path / "exported")
    assert [file.name for file in (tmp_path / "exported").iterdir()] == ["model.bin"]
