"""Notes of a corpus: one line for each kind, with the number of sentences that have it."""

from types import SimpleNamespace

import pytest

from allyouneed.cli.translating_corpus import translate_corpus
from allyouneed.decoding.options import BeamOptions
from allyouneed.translation.result import Translation


def test_notes_of_a_kind_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    told = [["cut into 2 parts"], ["cut into 3 parts", "empty"], [], ["cut into 2 parts"]]
    found = [
        Translation(
            tokens=(), token_log_probabilities=(), source="a", text="x\ny", notes=tuple(notes)
        )
        for notes in told
    ]
    translator = SimpleNamespace(translate_lines=lambda sources, **options: iter(found))
    texts = translate_corpus(translator, ["a"] * 4, BeamOptions())  # type: ignore[arg-type]
    assert texts == ["x y"] * 4
    assert capsys.readouterr().err.splitlines() == [
        "note: 3 of 4 sentences: cut into 2 parts",
        "note: 1 of 4 sentences: empty",
    ]
