"""`allyouneed fetch` from a server on this machine, and a recipe that finds what came."""

import hashlib
import json
from pathlib import Path

import pytest

from allyouneed.data import download, published
from allyouneed.data.published import DataSet, PublishedFile
from allyouneed.data.root import resolve

TRAIN, VALID = b"a b\tb a\nc d\td c\n" * 40, b"a c\tc a\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home for data, and a working directory without any beside it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("ALLYOUNEED_DATA", raising=False)
    monkeypatch.setattr(download, "WAIT_S", 0.0)
    (tmp_path / "in" / "here").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "in" / "here")
    return tmp_path / "home" / "allyouneed"


@pytest.fixture
def toy(file_server, monkeypatch: pytest.MonkeyPatch) -> DataSet:
    """A data set that is published on this machine."""
    files = []
    for name, text in (("train.tsv", TRAIN), ("valid.tsv", VALID)):
        file_server.files[f"/toy/{name}"] = text
        checksum = "sha256:" + hashlib.sha256(text).hexdigest()
        files.append(PublishedFile(name, checksum))
    data_set = DataSet("toy", file_server.address + "/toy", "any", tuple(files))
    monkeypatch.setitem(published.DATA_SETS, "toy", data_set)
    return data_set


def test_what_is_fetched_is_found_by_recipes(call, toy: DataSet, home: Path) -> None:
    absent = call("train", "toy.toml")
    assert absent.code == 2
    recipe = (
        'name = "toy"\n[[data.train]]\nsource = "toy/train.tsv"\n'
        '[[data.valid]]\nsource = "toy/valid.tsv"\n[training]\nsteps = 1\n'
    )
    Path("toy.toml").write_text(recipe)
    missing = call("train", "toy.toml")
    assert missing.code == 1
    assert "`allyouneed fetch toy` downloads it" in missing.err
    done = call("fetch", "toy")
    assert (done.code, done.lines) == (0, [str(home / "toy")]), done.err
    assert "allows any use" in done.err
    assert "fetching train.tsv" in done.err
    assert "ALLYOUNEED_DATA" not in done.err
    assert resolve(Path("toy/train.tsv"), None).read_bytes() == TRAIN


def test_into_a_folder_of_ones_own(
    call, toy: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = call("fetch", "toy", "--into", tmp_path / "mine", "--json")
    files = [json.loads(line) for line in done.lines]
    assert files[1] == {
        "file": str(tmp_path / "mine/toy/valid.tsv"),
        "bytes": len(VALID),
        "checksum": toy.files[1].checksum,
    }
    assert f"recipes find it with ALLYOUNEED_DATA={tmp_path / 'mine'}" in done.err
    monkeypatch.setenv("ALLYOUNEED_DATA", str(tmp_path / "mine"))
    assert resolve(Path("toy/valid.tsv"), None) == tmp_path / "mine/toy/valid.tsv"
    again = call("fetch", "toy")
    assert again.lines == [str(tmp_path / "mine" / "toy")]
    assert "fetching" not in again.err


def test_from_a_mirror(call, toy: DataSet, file_server, home: Path) -> None:
    file_server.files = {f"/m/{n.rpartition('/')[2]}": t for n, t in file_server.files.items()}
    assert call("fetch", "toy").code == 1
    done = call("fetch", "toy", "--from", file_server.address + "/m")
    assert done.code == 0, done.err
    assert (home / "toy" / "train.tsv").read_bytes() == TRAIN


def test_a_spoilt_file(call, toy: DataSet, file_server, home: Path) -> None:
    file_server.files["/toy/valid.tsv"] = b"spoilt"
    ended = call("fetch", "toy")
    assert (ended.code, ended.out) == (1, "")
    assert "valid.tsv: the downloaded file has the checksum sha256:" in ended.err
    assert [path.name for path in (home / "toy").glob("[!.]*")] == ["train.tsv"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["multi30"], "did you mean multi30k?"),
        (["?"], "known: multi30k"),
        (["multi30k", "--from", "here"], "here is not a web address"),
        (["multi30k", "--from", "http://127.0.0.1/ä"], "is not a valid address"),
        (["multi30k", "--from", "http://127.0.0.1:x/m"], "is not a valid address"),
    ],
)
def test_what_cannot_be_fetched(call, arguments: list[str], said: str) -> None:
    ended = call("fetch", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
