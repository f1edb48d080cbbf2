"""Quotes and brackets that a translation lacks, and those that it may lack."""

import pytest

from allyouneed.translation.lost_marks import marks_lost


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ('He is a "friend".', "Er ist ein Freund."),
        ('Er ist ein "Freund".', "He is a friend."),
        ('Er sagte: "Guten Morgen, Frau Meier!"', "He said good morning, Mrs. Meier!"),
        ('Er mag "Faust" und "Woyzeck".', "He likes Faust and the other one."),
        ('Tom mag "Kaffee".', "I like coffee, Tom."),
        ('Wählen Sie "Filter".', 'Choose "Filter.'),
        ("Late (as always).", "Spät."),
        ("A staff of two (FTE)", "Eine Belegschaft von zwei"),
        ("See the file(s) (below).", "Siehe die Dateien."),
        ("See [below].", "Siehe [unten."),
        ("She said 'no way' again.", "Sie sagte es wieder."),
    ],
)
def test_marks_that_are_lost(source: str, target: str) -> None:
    assert marks_lost(source, target)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ('Wählen Sie im Feld Code "Gruppe" aus.', "In the Code field, select 'Group'."),
        ("The boys' room isn't 'nice'.", 'Das Jungenzimmer ist nicht "nett".'),
        ('Klicken Sie auf "Filter".', "Click the Filter button."),
        ('Wählen Sie "Datei" oder "Ordner".', "Choose File or Folder."),
        ("Delete the file(s).", "Löschen Sie die Dateien."),
        ("Forecast with work in progress (WIP) costs", "Planung mit WIP-Kosten"),
        ("Memory (GB)", "Speicher in GB"),
        ("Late (as always).", "Spät (wie immer)."),
        ("Don't.", "Nicht."),
    ],
)
def test_marks_that_are_there_or_may_be_left_out(source: str, target: str) -> None:
    assert not marks_lost(source, target)
