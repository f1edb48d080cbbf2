"""The benchmark of terms, on few sentences: its bars hold, and it sees what is not used."""

from pathlib import Path

import pytest

from allyouneed import load
from allyouneed.data.root import data_root

ROOT = Path(__file__).parents[2]


def test_iate_terms_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from terms import SETS, measured, sentences

    root = data_root()
    if root is None or not (root / SETS["iate"][0]).is_file():
        pytest.skip("no data folder: set ALLYOUNEED_DATA")
    asked = [one for one in sentences(root, "iate") if len(one.source) < 120][:40]
    found = measured(load("en-de"), asked, rounds=1)
    assert found["used"] >= 0.95
    assert found["used_without"] < 0.9
