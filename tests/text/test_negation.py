"""Whether a translation has lost its negation."""

import pytest

from allyouneed.text.negation import negation_lost


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("French is definitely not a difficult language.", "Französisch ist eine Sprache."),
        ("He can't swim.", "Er kann schwimmen."),
        ("He cannot swim.", "Er kann schwimmen."),
        ("Nobody came.", "Alle kamen."),
        ("I DON'T KNOW.", "ICH WEISS ES."),
        ("Unless it rains, we will go.", "Wenn es regnet, gehen wir."),
        ("There is no milk, no bread and no butter.", "Es gibt keine Milch, kein Brot und Butter."),
    ],
)
def test_a_lost_negation(english: str, german: str) -> None:
    assert negation_lost(english, german, ("en", "de"))


@pytest.mark.parametrize(
    ("german", "english"),
    [
        ("Geh nicht!", "Go!"),
        ("Er hat kein Geld.", "He has money."),
        ("Nein.", "Yes."),
        ("Rauchen verboten", "Smoking"),
        ("Ich habe kein Brot und keine Milch.", "I have no bread and milk."),
    ],
)
def test_a_lost_negation_from_german(german: str, english: str) -> None:
    assert negation_lost(german, english, ("de", "en"))


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("He can't swim.", "Er kann nicht schwimmen."),
        ("It is not possible.", "Es ist unmöglich."),
        ("It's big, isn't it?", "Es ist groß, oder?"),
        ("No matter what happens.", "Was auch passiert."),
        ("The Source No. field", "Das Feld Herkunftsnummer"),
        ("He sleeps.", "Er schläft."),
        ("Neither Tom nor Mary came.", "Weder Tom noch Maria kam."),
        ("I have no bread and no milk.", "Ich habe weder Brot noch Milch, nichts."),
        ("Unless it rains, we will go.", "Wir gehen, es sei denn, es regnet; sonst nicht."),
        ("Unless it rains, we will go.", "Außer bei Regen gehen wir."),
        ("He did not forget.", "Er hat daran gedacht, kaum zu glauben."),
    ],
)
def test_no_negation_is_lost(english: str, german: str) -> None:
    assert not negation_lost(english, german, ("en", "de"))


@pytest.mark.parametrize("languages", [("en", "fr"), ("", ""), ("ru", "de")])
def test_other_languages_are_not_judged(languages: tuple[str, str]) -> None:
    assert not negation_lost("He can't swim.", "Er kann schwimmen.", languages)


def test_the_answer_no_is_a_negation() -> None:
    assert not negation_lost("Nein.", "No.", ("de", "en"))
    assert negation_lost("Nein, keine.", "Room No. 5", ("de", "en"))
