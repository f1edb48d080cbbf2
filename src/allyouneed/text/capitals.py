"""Lines written in capitals, and the same lines in small letters."""

import re

from allyouneed.text.protocol import AnyTokenizer

_WORD = re.compile(r"[^\W\d_]{2,}")
# A full stop behind a single letter ends an abbreviation, not a sentence.
_SENTENCE_BEGIN = re.compile(r"(^\W*|(?<=\w\w)[.!?]+\s+\W*)([^\W\d_])")
_ENGLISH_I = re.compile(r"(?<![\w'-])i(?![\w-])(?!\.\w)")


def in_capitals(text: str) -> bool:
    """Whether a line is in capitals: it has no small letter, and two words of at least two letters.

    A single word in capitals, such as NATO, may be a name and does not count.
    """
    return text.isupper() and len(_WORD.findall(text)) > 1


def in_small_letters(text: str) -> str:
    """The line in small letters, with a capital at the start of each sentence.

    The result has as many characters as `text`, each at its old position.
    """
    small = "".join(one.lower() if len(one.lower()) == 1 else one for one in text)
    small = _ENGLISH_I.sub("I", small)
    return _SENTENCE_BEGIN.sub(lambda found: found[1] + _capital(found[2]), small)


def with_known_capitals(text: str, tokenizer: AnyTokenizer) -> str:
    """The line with a capital on each word that the vocabulary knows with a capital, such as "Tom".

    The vocabulary has whole words in the case that is most frequent in training text. A word gets a
    capital if it then needs fewer pieces, or equally many pieces that were learnt earlier.
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
