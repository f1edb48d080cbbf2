"""The benchmark of literals, on few sentences: its bar is held, and it would see what is lost."""

from pathlib import Path

import pytest

from allyouneed import load
from allyouneed.data.root import data_root

ROOT = Path(__file__).parents[2]


def test_literals_put_into_everyday_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from literals import FILE, KINDS, everyday, share, with_spans

    root = data_root()
    if root is None or not (root / FILE).is_file():
        pytest.skip("no data folder: set ALLYOUNEED_DATA")
    translator = load("en-de")
    sentences = everyday(root / FILE)
    for kind in KINDS:
        asked = list(with_spans(sentences, kind, 60))
        assert share(translator, asked, True) >= 0.99, kind
        assert share(translator, asked, False) < 0.95, kind
