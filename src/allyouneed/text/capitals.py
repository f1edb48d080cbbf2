"""Lines in capitals, and the small letters that they could have been written in."""

import re

from allyouneed.text.protocol import AnyTokenizer

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


def with_known_capitals(text: str, tokenizer: AnyTokenizer) -> str:
    """A line in small letters with a capital where the vocabulary tells that there is one.

    The vocabulary has whole words in the case in which training text has them most. A word gets a
    capital that takes fewer pieces with it, or as many that were learnt earlier, such as "Tom".
    """
    words = sorted({found[0] for found in _WORD.finditer(text) if found[0].islower()})
    small = tokenizer.encode_ids(words)
    capital = tokenizer.encode_ids([_capital(word[0]) + word[1:] for word in words])
    known = {
        word
        for word, one, other in zip(words, small, capital, strict=True)
        if (len(other), max(other)) < (len(one), max(one))
    }

    def written(found: re.Match[str]) -> str:
        word = found[0]
        return _capital(word[0]) + word[1:] if word in known else word

    return _WORD.sub(written, text)


def _capital(letter: str) -> str:
    return letter.upper() if len(letter.upper()) == 1 else letter
