"""Atoms of texts with and without spaces between words."""

from allyouneed.text.atoms import atoms, has_unspaced, is_unspaced


def test_words_signs_and_characters_without_spaces() -> None:
    found = atoms("It's 字好 now.", cuts=[10])
    assert [one.text for one in found] == ["It", "'", "s", "字", "好", "no", "w", "."]
    assert [one.is_word for one in found] == [True, False, True, True, True, True, True, False]
    assert all("It's 字好 now."[one.begin : one.end] == one.text for one in found)


def test_scripts_without_spaces_are_known() -> None:
    assert all(map(is_unspaced, "字かカก"))
    assert not any(map(is_unspaced, ["a", "é", "я", ".", "’", "한", ""]))
    assert has_unspaced("a 字")
    assert not has_unspaced("naïve café")
