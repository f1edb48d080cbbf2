"""Lines in capitals, and the small letters that they could have been written in."""

import re

_WORD = re.compile(r"[^\W\d_]{2,}")
# A full stop behind a single letter ends an abbreviation, not a sentence.
_SENTENCE_BEGIN = re.compile(r"(^\W*|(?<=\w\w)[.!?]+\s+\W*)([^\W\d_])")
_ENGLISH_I = re.compile(r"(?<![\w'-])i(?![\w-])(?!\.\w)")


def in_capitals(text: str) -> bool:
    """Whether a line is written in capitals: two words of more than one letter, and no small one.

    One word alone, such as NATO, may be nothing but a name.
    """
    return text.isupper() and len(_WORD.findall(text)) > 1


def in_small_letters(text: str) -> str:
    """A line as it would be written in small letters: a capital begins each sentence. Every
    character stands where it stood."""
    small = "".join(one.lower() if len(one.lower()) == 1 else one for one in text)
    small = _ENGLISH_I.sub("I", small)
    return _SENTENCE_BEGIN.sub(lambda found: found[1] + _capital(found[2]), small)


def _capital(letter: str) -> str:
    return letter.upper() if len(letter.upper()) == 1 else letter
