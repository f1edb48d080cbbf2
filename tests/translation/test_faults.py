"""Faults that the text of a translation shows."""

import pytest

from allyouneed.translation.faults import told


@pytest.mark.parametrize(
    ("source", "target", "notes"),
    [
        ("It costs 25.", "Es kostet \ufffd.", ["the translation has a broken character (\ufffd)"]),
        ("A \ufffd.", "Ein \ufffd.", []),
        ("No.", "nein nein nein nein nein nein", ["the translation repeats 'nein' 6 times"]),
        ("No.", "Nein.", []),
    ],
)
def test_a_fault_has_a_note(source: str, target: str, notes: list[str]) -> None:
    found = told(source, target)
    assert len(found) == len(notes)
    for one, begin in zip(found, notes, strict=True):
        assert one.startswith(begin)
