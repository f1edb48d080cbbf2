from pathlib import Path

import pytest

from allyouneed.data.root import data_root, resolve
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
    with pytest.raises(DataError, match=r"ALLYOUNEED_DATA=.*missing is no folder"):
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
    with pytest.raises(DataError, match=r"looked at /missing/a\.tsv"):
        resolve(Path("/missing/a.tsv"), None)
