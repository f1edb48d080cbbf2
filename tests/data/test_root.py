from pathlib import Path

import pytest

from allyouneed.data.root import data_home, data_root, resolve
from allyouneed.errors import DataError


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A working directory, the data beside it, a recipe's folder, and no variable set."""
    for name in ("checkout", "shared/data", "recipe", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout")
    monkeypatch.delenv("ALLYOUNEED_DATA", raising=False)
    return tmp_path


def test_the_root(places, monkeypatch):
    assert data_root() == places / "shared/data"
    monkeypatch.setenv("ALLYOUNEED_DATA", str(places / "elsewhere"))
    assert data_root() == places / "elsewhere"
    monkeypatch.setenv("ALLYOUNEED_DATA", str(places / "missing"))
    with pytest.raises(DataError, match=r"ALLYOUNEED_DATA=.*missing is not a folder"):
        data_root()
    monkeypatch.delenv("ALLYOUNEED_DATA")
    (places / "shared/data").rmdir()
    assert data_root() is None


def test_beside_the_recipe_comes_first(places, monkeypatch):
    name = Path("sub/a.tsv")
    for folder in ("shared/data", "recipe"):
        (places / folder / "sub").mkdir()
        (places / folder / name).write_text("")
        found = resolve(name, places / "recipe")
        assert found == places / folder / name
    assert resolve(name, None) == places / "shared/data" / name
    assert resolve(found, None) == found


def test_an_error_says_where_it_looked(places):
    with pytest.raises(DataError) as caught:
        resolve(Path("a.tsv"), places / "recipe")
    for word in ("recipe/a.tsv", "shared/data/a.tsv", "ALLYOUNEED_DATA"):
        assert word in str(caught.value)
    with pytest.raises(
        DataError, match=r"a\.tsv: no such file; looked at /.*data/a\.tsv, .*; corr"
    ):
        resolve(Path("a.tsv"), None)
    with pytest.raises(DataError, match=r"looked at /missing/a\.tsv"):
        resolve(Path("/missing/a.tsv"), None)


def test_fetched_data_is_found_after_the_root(places, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(places / "home"))
    assert data_home() == places / "home/allyouneed"
    name = Path("sub/a.tsv")
    for folder in ("home/allyouneed", "shared/data"):
        (places / folder / "sub").mkdir(parents=True)
        (places / folder / name).write_text("")
        assert resolve(name, None) == places / folder / name
    monkeypatch.setenv("ALLYOUNEED_DATA", str(places / "elsewhere"))
    assert data_home() == places / "elsewhere"
    monkeypatch.delenv("ALLYOUNEED_DATA")
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(places))
    assert data_home() == places / ".local/share/allyouneed"


def test_data_that_can_be_fetched_says_so(places, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(places / "home"))
    with pytest.raises(DataError, match="`allyouneed fetch multi30k` downloads it"):
        resolve(Path("multi30k/train.en.gz"), None)
    with pytest.raises(DataError) as caught:
        resolve(Path("other/train.en.gz"), None)
    assert "allyouneed fetch" not in str(caught.value)
