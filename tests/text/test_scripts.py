"""Scripts of letters, and whether a text is written as its language is."""

import pytest

from allyouneed.text.language_names import NAMES
from allyouneed.text.scripts import SCRIPTS, foreign_script, letters_by_script, scripts_of


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("Größe, 5 km!", {"LATIN": 7}),
        ("Привет, мир", {"CYRILLIC": 9}),
        ("東京タワーへ行く", {"CJK": 3, "KATAKANA": 3, "HIRAGANA": 2}),
        ("Ａｚｕｒｅ ｶﾅ", {"LATIN": 5, "KATAKANA": 2}),
        ("안녕 Ωμ 😀 १२", {"HANGUL": 2, "GREEK": 2}),
        ("12 + 3 = 15 ...", {"LATIN": 0}),
    ],
)
def test_letters_are_counted_by_script(text: str, counts: dict[str, int]) -> None:
    assert dict(letters_by_script(text)) == counts


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("Где вокзал?", "en", "Cyrillic letters"),
        ("Где вокзал?", "Russian", None),
        ("Where is the station?", "ru", "Latin letters"),
        ("Нажмите Enter", "ru", None),
        ("東京へ行きます", "ja", None),
        ("東京へ行きますからね", "zh-Hant", "Japanese kana"),
        ("我们去北京", "en", "Chinese signs"),
        ("我们去北京", "ja", None),
        ("Wo ist der Bahnhof?", "en", None),
        ("Где вокзал?", "tlh", None),  # a language that is not known
        ("12:30 – 14:00 ✓", "ru", None),
    ],
)
def test_the_script_of_another_language(text: str, language: str, found: str | None) -> None:
    assert foreign_script(text, language) == found


def test_scripts_are_listed_for_known_languages() -> None:
    assert SCRIPTS.keys() <= NAMES.keys()
    assert scripts_of("pt-BR") == scripts_of("Portuguese") == ("LATIN",)
