"""Capitals, title case and small letters. Words that are copied (addresses, code) stay as they are.

Each function takes both texts of a pair and gives both back.
"""

from collections.abc import Callable

from allyouneed.data.noise.spans import is_copied

Texts = tuple[str, str]


def capitals(texts: Texts) -> Texts:
    """Both sides in capitals."""
    source, target = texts
    return _each_word(source, str.upper), _each_word(target, str.upper)


def title_case(texts: Texts) -> Texts:
    """A capital at the beginning of each word of the source, as English headlines have it."""
    source, target = texts
    return _each_word(source, lambda word: word[:1].upper() + word[1:]), target


def small_letters(texts: Texts) -> Texts:
    """The source in small letters, as people type in a hurry."""
    source, target = texts
    return _each_word(source, str.lower), target


def _each_word(text: str, change: Callable[[str], str]) -> str:
    return " ".join(word if is_copied(word) else change(word) for word in text.split(" "))
