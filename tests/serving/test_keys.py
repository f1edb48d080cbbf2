"""Keys are kept as hashes, hold their limits, and count what is used."""

from pathlib import Path

import pytest

from allyouneed.errors import UsageError
from allyouneed.serving.keys import KeyFile, Keyring


@pytest.fixture
def file(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "deep" / "keys.sqlite")


def test_a_key_is_found_again_and_no_other(file: KeyFile) -> None:
    key = file.add("weblate", characters=1000, requests=60)
    ring = Keyring(file, False)
    found = ring.find(key)
    assert found is not None
    assert (found.name, found.characters, found.requests) == ("weblate", 1000, 60)
    assert ring.find(key[:-1]) is None
    assert ring.find("") is None
    assert ring.needed


def test_the_file_holds_no_key_and_is_for_its_owner_alone(file: KeyFile) -> None:
    key = file.add("weblate")
    content = file.path.read_bytes()
    assert b"weblate" in content
    assert key.encode() not in content
    assert key.removeprefix("ayn_").encode() not in content
    assert file.path.stat().st_mode & 0o077 == 0


def test_a_name_is_taken_once(file: KeyFile) -> None:
    file.add("weblate")
    with pytest.raises(UsageError, match="there is a key named 'weblate' already"):
        file.add("weblate")
    with pytest.raises(UsageError, match="needs a name"):
        file.add(" ")


def test_a_removed_key_is_useless_after_the_next_save(file: KeyFile) -> None:
    key = file.add("weblate")
    file.add("other")
    ring = Keyring(file, False)
    file.remove("weblate")
    ring.save()
    assert ring.find(key) is None
    with pytest.raises(UsageError, match="did you mean 'other'"):
        file.remove("othr")


@pytest.mark.parametrize("way", ["the last key is removed", "the file vanishes"])
def test_a_service_that_had_a_key_asks_for_one_when_none_is_left(file: KeyFile, way: str) -> None:
    key = file.add("weblate")
    ring = Keyring(file, False)
    if way == "the file vanishes":
        file.path.unlink()
    else:
        file.remove("weblate")
    ring.save()
    assert ring.find(key) is None
    assert ring.needed
    other = file.add("other")
    ring.save()
    assert ring.find(other) is not None


def test_an_open_service_needs_no_key(file: KeyFile) -> None:
    file.add("weblate")
    ring = Keyring(file, True)
    ring.save()
    assert not ring.needed


def test_use_is_counted_and_saved(file: KeyFile) -> None:
    key = file.add("weblate")
    ring = Keyring(file, False)
    entry = ring.find(key)
    assert entry is not None
    ring.count(entry, 5)
    ring.count(entry, 7)
    assert ring.used(entry) == (12, 2)
    ring.save()
    again = Keyring(file, False).find(key)
    assert again is not None
    assert (again.used_characters, again.used_requests) == (12, 2)


def test_use_of_a_removed_key_is_not_kept(file: KeyFile) -> None:
    ring = Keyring(file, False)
    file.add("a")
    file.add_use({"a": (1, 1), "gone": (1, 1)})
    ring.save()
    assert [key.name for key in file.keys().values()] == ["a"]


def test_requests_of_a_minute_are_limited_for_each_client(file: KeyFile) -> None:
    ring = Keyring(file, True)
    assert [ring.seconds_to_wait("a", 2) for _ in range(2)] == [0, 0]
    assert 1 <= ring.seconds_to_wait("a", 2) <= 61
    assert ring.seconds_to_wait("b", 2) == 0
    assert ring.seconds_to_wait("a", None) == 0


def test_no_file_is_no_key(file: KeyFile) -> None:
    assert not Keyring(file, False).needed
    assert not file.path.exists()


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "keys.sqlite"
    path.write_bytes(b"this is not a database, but long enough to look like one" * 20)
    with pytest.raises(UsageError, match="cannot be read or written"):
        KeyFile(path).keys()
