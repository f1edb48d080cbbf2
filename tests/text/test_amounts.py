"""Numbers of a translation, as its language writes them."""

import pytest

from allyouneed.text.amounts import amounts_written


@pytest.mark.parametrize(
    ("source", "target", "languages", "written"),
    [
        ("1,250.5 km² of it", "1,250.5 km² davon", "en de", "1.250,5 km² davon"),
        ("It is 384,400 km.", "Sie ist 384,400 km.", "en pt", "Sie ist 384.400 km."),
        ("It is 384,400 km.", "C'est 384,400 km.", "en fr", "C'est 384400 km."),
        ("3.5kg, 12.5 %, 0.5 l", "3.5kg, 12.5 %, 0.5 l", "en it", "3,5kg, 12,5 %, 0,5 l"),
        ("Er wiegt 3,5 kg.", "It weighs 3,5 kg.", "de en", "It weighs 3.5 kg."),
        ("12.500 Teile", "12.500 parts", "de en", "12,500 parts"),
        ("12 500 pièces à 3,5 kg", "12 500 parts of 3,5 kg", "fr en", "12 500 parts of 3.5 kg"),
        ("Version 2.5 has 3.5 stars", "Version 2.5 hat 3.5 Sterne", "en de", None),
        ("at 10.0.0.1, 1.2.3 m, 1,23 m", "10.0.0.1, 1.2.3 m, 1,23 m", "en de", None),
        ("3.5 kg", "13.5 kg, 3.55 kg", "en de", None),
        ("3.5 kg", "3.5 kg", "en ja", None),
        ("-3.5 °C, 1,000-2,000", "-3.5 °C, 1,000-2,000", "en de", "-3,5 °C, 1.000-2.000"),
        ("1,250 kg and 1.250 kg", "1.250 kg und 1,250 kg", "en de", None),
        ("Version 3.5: 3.5 kg", "Version 3.5: 3.5 kg", "en de", "Version 3.5: 3,5 kg"),
        ("model A-3.5 km", "Modell A-3.5 km", "en de", None),
        ("3,5 kg", "3,5 kg", "de fr", None),
    ],
)
def test_copied_numbers(source: str, target: str, languages: str, written: str | None) -> None:
    from_, into = languages.split()
    assert amounts_written(source, target, (from_, into)) == (written or target)
