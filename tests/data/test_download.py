"""Files from a server on this machine: whole, broken off, spoilt, with and without ranges."""

import hashlib
import subprocess
import sys
import threading
import time

import pytest

from allyouneed.data import download as download_module
from allyouneed.data.download import download, fetch
from allyouneed.data.lock import locked
from allyouneed.data.published import DATA_SETS, DataSet, PublishedFile
from allyouneed.errors import DataError, UsageError

CONTENT = bytes(range(256)) * 2000
CHECKSUM = "sha256:" + hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download_module, "WAIT_S", 0.0)


@pytest.fixture
def url(file_server):
    file_server.files["/a.gz"] = CONTENT
    return file_server.address + "/a.gz"


def nobody(name: str, done: int, total: int | None) -> None:
    pass


def test_a_file_comes_whole_and_only_once(file_server, url, tmp_path):
    told = []
    path = tmp_path / "new" / "a.gz"
    download(url, path, CHECKSUM, lambda *news: told.append(news))
    assert path.read_bytes() == CONTENT
    assert told[-1] == ("a.gz", len(CONTENT), len(CONTENT))
    assert [done for _, done, _ in told] == sorted({done for _, done, _ in told})
    download(url, path, CHECKSUM, nobody)
    assert len(file_server.asked) == 1
    assert [p.name for p in path.parent.glob("[!.]*")] == ["a.gz"]


def test_a_transfer_that_breaks_off_goes_on(file_server, url, tmp_path):
    file_server.break_after = [100_000, 50_000]
    told = []
    download(url, tmp_path / "a.gz", CHECKSUM, lambda *news: told.append(news[1:]))
    assert (tmp_path / "a.gz").read_bytes() == CONTENT
    assert file_server.asked == [None, "bytes=100000-", "bytes=150000-"]
    assert {total for _, total in told} == {len(CONTENT)}


def test_what_came_of_a_broken_transfer_is_gone_on_with_by_the_next_call(
    file_server, url, tmp_path
):
    file_server.break_after = [1000] * download_module.TRIES
    path = tmp_path / "a.gz"
    with pytest.raises(DataError, match=r"broke off, 5 times; 5,000 bytes are kept"):
        download(url, path, CHECKSUM, nobody)
    assert not path.exists()
    file_server.asked.clear()
    download(url, path, CHECKSUM, nobody)
    assert file_server.asked == ["bytes=5000-"]
    assert path.read_bytes() == CONTENT


def test_a_server_that_knows_no_ranges_sends_all_again(file_server, url, tmp_path):
    file_server.ranges = False
    file_server.break_after = [100_000]
    download(url, tmp_path / "a.gz", CHECKSUM, nobody)
    assert (tmp_path / "a.gz").read_bytes() == CONTENT
    assert file_server.asked == [None, "bytes=100000-"]


@pytest.mark.parametrize("rest", [b"of another file", CONTENT + b"more"], ids=["short", "long"])
def test_a_partial_file_of_something_else_is_fetched_anew(file_server, url, tmp_path, rest):
    (tmp_path / "a.gz.partial").write_bytes(rest)
    download(url, tmp_path / "a.gz", CHECKSUM, nobody)
    assert (tmp_path / "a.gz").read_bytes() == CONTENT
    assert file_server.asked == [f"bytes={len(rest)}-", None]


def test_a_whole_partial_file_needs_no_more(file_server, url, tmp_path):
    (tmp_path / "a.gz.partial").write_bytes(CONTENT)
    download(url, tmp_path / "a.gz", CHECKSUM, nobody)
    assert file_server.asked == [f"bytes={len(CONTENT)}-"]
    assert (tmp_path / "a.gz").read_bytes() == CONTENT


def test_a_wrong_checksum_leaves_nothing(file_server, url, tmp_path):
    file_server.files["/a.gz"] = CONTENT[:-1] + b"?"
    with pytest.raises(DataError) as caught:
        download(url, tmp_path / "a.gz", CHECKSUM, nobody)
    for word in (url, CHECKSUM, "sha256:", "--from"):
        assert word in str(caught.value)
    assert list(tmp_path.glob("[!.]*")) == []


def test_a_second_process_waits_and_shares_the_work(file_server, url, tmp_path):
    path = tmp_path / "a.gz"
    told = []
    with locked(tmp_path / ".lock", lambda: None):
        other = threading.Thread(
            target=download, args=(url, path, CHECKSUM, lambda name, *_: told.append(name))
        )
        other.start()
        while not told and other.is_alive():
            time.sleep(0.001)
        (tmp_path / "a.gz.partial").write_bytes(CONTENT[:9])  # the first is at it
        assert file_server.asked == []
        (tmp_path / "a.gz.partial").rename(path)
    other.join()
    assert told == ["a.gz (another process is downloading it)"]
    assert file_server.asked == []


def test_md5_is_known_too(url, tmp_path):
    download(url, tmp_path / "a.gz", "md5:" + hashlib.md5(CONTENT).hexdigest(), nobody)
    with pytest.raises(DataError, match="has the checksum md5:"):
        download(url, tmp_path / "b.gz", "md5:" + hashlib.md5(b"").hexdigest(), nobody)


def test_another_file_of_that_name_is_left_alone(file_server, url, tmp_path):
    (tmp_path / "a.gz").write_text("mine")
    with pytest.raises(DataError, match=r"a\.gz is not the file of .*move it away"):
        download(url, tmp_path / "a.gz", CHECKSUM, nobody)
    assert (tmp_path / "a.gz").read_text() == "mine"
    assert file_server.asked == []


def test_a_server_that_is_busy_is_asked_again(file_server, url, tmp_path):
    file_server.answers = [503, 429]
    download(url, tmp_path / "a.gz", CHECKSUM, nobody)
    assert len(file_server.asked) == 3


def test_a_file_that_is_not_there_is_asked_for_once(file_server, url, tmp_path):
    with pytest.raises(DataError, match=r"b\.gz: the server answers 404 .*--from"):
        download(url.replace("a.gz", "b.gz"), tmp_path / "b.gz", CHECKSUM, nobody)
    assert len(file_server.asked) == 1


def test_a_refused_range_is_an_answer_only_where_one_was_asked_for(file_server, url, tmp_path):
    file_server.answers = [416]
    with pytest.raises(DataError, match=r"a\.gz: the server answers 416 .*--from"):
        download(url, tmp_path / "a.gz", CHECKSUM, nobody)


def test_a_length_that_is_none_is_no_length(file_server, url, tmp_path):
    file_server.length = "12 bytes"
    told = []
    download(url, tmp_path / "a.gz", CHECKSUM, lambda *news: told.append(news[1:]))
    assert (tmp_path / "a.gz").read_bytes() == CONTENT
    assert {total for _, total in told} == {None}


def test_no_server_at_all(unused_address, tmp_path):
    with pytest.raises(DataError, match=r"no connection .*, 5 times; 0 bytes are kept"):
        download(unused_address + "/a.gz", tmp_path / "a.gz", CHECKSUM, nobody)


def test_a_disk_that_is_full(url, tmp_path):
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from allyouneed.data.download import download\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))\n"
        "download(sys.argv[1], Path(sys.argv[2]), sys.argv[3], print)\n"
    )
    command = [sys.executable, "-c", script, url, str(tmp_path / "a.gz"), CHECKSUM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert "DataError" in done.stderr
    assert "a.gz cannot be written: File too large; free some space" in done.stderr


def test_a_data_set_from_a_mirror(file_server, tmp_path):
    file_server.files = {"/x/one.gz": b"1", "/x/two.gz": b"2"}
    files = tuple(
        PublishedFile(f"{name}.gz", "sha256:" + hashlib.sha256(text).hexdigest())
        for name, text in (("one", b"1"), ("two", b"2"))
    )
    data_set = DataSet("toy", "https://publisher.invalid", "free", files)
    paths = fetch(data_set, tmp_path, file_server.address + "/x/", nobody)
    assert paths == [tmp_path / "toy" / "one.gz", tmp_path / "toy" / "two.gz"]
    assert [path.read_bytes() for path in paths] == [b"1", b"2"]
    for address in ("file:///etc", "ftp://a/b", "mirror"):
        with pytest.raises(UsageError, match="is not a web address"):
            fetch(data_set, tmp_path, address, nobody)


def test_published_data_sets_are_well_formed():
    for name, data_set in DATA_SETS.items():
        assert data_set.name == name
        assert data_set.address.startswith("https://")
        assert len({file.name for file in data_set.files}) == len(data_set.files)
        assert len({file.checksum for file in data_set.files}) == len(data_set.files)
        for file in data_set.files:
            algorithm, _, value = file.checksum.partition(":")
            assert len(bytes.fromhex(value)) == hashlib.new(algorithm).digest_size
