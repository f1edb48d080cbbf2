"""The benchmark of literals, on few sentences: its bar is held, and it would see what is lost."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

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
        asked = list(with_spans(sentences, kind, 200))
        assert share(translator, asked, True) >= 0.99, kind
        assert share(translator, asked, False) <= 0.95, kind


def test_a_span_counts_only_to_the_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from literals import KINDS, share, with_spans

    def saying(texts: list[str]) -> Any:
        return lambda sentences, protect: [SimpleNamespace(text=text) for text in texts]

    for kind in KINDS:
        asked = list(with_spans(["It is here.", "We go home now.", "Where?"], kind, 3))
        shorter = [text.replace(span, span[:-1]) for text, span in asked]
        longer = [text.replace(span, f"{span}9") for text, span in asked]
        assert share(saying([text for text, _ in asked]), asked, True) == 1, kind
        assert share(saying(shorter), asked, True) == share(saying(longer), asked, True) == 0, kind
