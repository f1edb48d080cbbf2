"""Noise in capitals: all capitals, title case, small letters. Words that a translation copies
(addresses, code) are not changed.

Each function takes both texts of a pair and returns both.
"""

from collections.abc import Callable

from allyouneed.data.noise.spans import is_copied

Texts = tuple[str, str]


def capitals(texts: Texts) -> Texts:
    """Writes both sides in capitals."""
    source, target = texts
    return _each_word(source, str.upper), _each_word(target, str.upper)


def title_case(texts: Texts) -> Texts:
    """Writes each word of the source with a capital, like an English headline."""
    source, target = texts
    return _each_word(source, lambda word: word[:1].upper() + word[1:]), target


def small_letters(texts: Texts) -> Texts:
    """Writes the source in small letters."""
    source, target = texts
    return _each_word(source, str.lower), target


def _each_word(text: str, change: Callable[[str], str]) -> str:
    return " ".join(word if is_copied(word) else change(word) for word in text.split(" "))
