"""A request knows the languages of a text, also of one whose language the user did not name."""

import pytest

from allyouneed.decoding.options import BeamOptions
from allyouneed.text.languages import Direction
from allyouneed.translation.request import TranslationRequest


@pytest.mark.parametrize(
    ("direction", "text", "languages"),
    [
        (Direction("es", "en"), "Je ne sais pas nager.", ("es", "en")),
        (Direction("", "en", sources=("es", "fr")), "Je ne sais pas nager.", ("fr", "en")),
        (Direction("", "en", sources=("es", "fr")), "No sé nadar.", ("es", "en")),
        (Direction(), "No sé nadar.", ("", "")),
    ],
)
def test_languages_of_a_text(direction: Direction, text: str, languages: tuple[str, str]) -> None:
    assert TranslationRequest(BeamOptions(), direction=direction).languages_of(text) == languages
