"""Files and folders are whole or not there, whatever happens while they are written."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from allyouneed import files
from allyouneed.files import (
    clear_unfinished,
    old_folder,
    put_in_place,
    whole_file,
    whole_folder,
    write_whole,
)


def broken_off(path: Path, error: BaseException) -> None:
    with whole_file(path) as beside:
        beside.write_text("half")
        raise error


def test_a_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    write_whole(path, "first\n")
    with whole_file(path) as beside:
        beside.write_bytes(b"second")
        assert path.read_text() == "first\n"
        assert beside.parent == tmp_path
    assert path.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_broken_off_file_leaves_the_earlier_one(error: BaseException, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    write_whole(path, "whole")
    with pytest.raises(type(error)):
        broken_off(path, error)
    assert path.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "notes.txt"
    with pytest.raises(FileNotFoundError) as ended:
        write_whole(path, "lost")
    assert ended.value.filename == str(path)


KILLED = """
import os, signal, sys
from allyouneed.files import whole_file
with whole_file(sys.argv[1]):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def left_by_a_killed_process(path: Path) -> Path:
    subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    (left,) = path.parent.glob(f".{path.name}.*.partial")
    return left


def test_what_a_killed_process_left_of_a_file_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.b.txt"
    mine = left_by_a_killed_process(path)
    others = left_by_a_killed_process(tmp_path / "b.txt")
    foreign = tmp_path / ".a.b.txt.partial"  # another program's
    foreign.touch()
    with whole_file(path) as alive:
        clear_unfinished([path, tmp_path / "nowhere" / "c.txt"])
        assert set(tmp_path.iterdir()) == {alive, others, foreign}
    assert not mine.exists()


def test_on_windows_what_a_process_left_is_removed_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = left_by_a_killed_process(tmp_path / "a.txt")
    monkeypatch.setattr(files, "WINDOWS", True)
    clear_unfinished([tmp_path / "a.txt"])
    assert left.exists()
    os.utime(left, (0, 0))
    clear_unfinished([tmp_path / "a.txt"])
    assert not left.exists()


def test_a_link_stays_a_link_and_a_pipe_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
    write_whole("/dev/null", "gone")
    assert Path("/dev/null").is_char_device()


def test_a_pipe_that_only_a_link_names_is_written_to() -> None:
    script = "from allyouneed.files import write_whole; write_whole('/dev/stdout', 'through')"
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"through"


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    with whole_file(tmp_path / "model") as beside:
        beside.unlink()
        os.close(os.open(beside, os.O_CREAT | os.O_WRONLY, 0o600))
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_file_and_folder_are_synced_before_and_after_the_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, bool]] = []
    path = tmp_path / "folder" / "file"
    monkeypatch.setattr(files, "sync", lambda p: synced.append((p.name, path.exists())))
    with whole_folder(path.parent) as beside:
        (beside / "file").touch()
    inside = [name for name, there in synced if not there]
    assert inside[0] == "file"
    assert inside[1].endswith(".partial")
    assert synced[-1] == (tmp_path.name, True)
    synced.clear()
    put_in_place(path, path.with_name("other"))
    assert [name for name, _ in synced] == ["file", "folder"]


def test_a_system_that_cannot_sync_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WINDOWS", True)
    write_whole(tmp_path / "file", "whole")
    assert (tmp_path / "file").read_text() == "whole"


def test_a_folder_is_replaced_and_other_entries_stay(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.mkdir()
    for name in ("weights", "notes"):
        (path / name).write_text("old")
    with whole_folder(path, replaces=["weights", "card"]) as beside:
        (beside / "weights").write_text("new")
    assert {file.name: file.read_text() for file in path.iterdir()} == {
        "weights": "new",
        "notes": "old",
    }
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileExistsError, match="is there already"), whole_folder(path):
        pytest.fail("the block must not run")


DYING = """
import os, signal, sys
from allyouneed import files
setattr(files, sys.argv[2], lambda *_: os.kill(os.getpid(), signal.SIGKILL))
with files.whole_folder(sys.argv[1], replaces=["weights"]) as beside:
    (beside / "weights").write_text("new")
"""


@pytest.mark.parametrize("where", ["put_in_place", "_sync_all", "_end_replacement"])
def test_a_killed_process_loses_nothing(where: str, tmp_path: Path) -> None:
    path = tmp_path / "model"
    with whole_folder(path) as beside:
        (beside / "weights").write_text("old")
    died = subprocess.run([sys.executable, "-c", DYING, path, where], check=False)
    assert died.returncode == -signal.SIGKILL
    whole = path if path.exists() else old_folder(path)
    assert (whole / "weights").read_text() in {"old", "new"}
    with whole_folder(path, replaces=["weights"]) as beside:
        (beside / "weights").write_text("next")
    assert (path / "weights").read_text() == "next"
    assert not old_folder(path).exists()
