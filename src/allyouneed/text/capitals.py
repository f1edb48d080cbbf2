"""Lines written in capitals, and the same lines in small letters."""

import re

from allyouneed.text.protocol import AnyTokenizer

PIECES = 2  # of a word that is no name
_WORD = re.compile(r"[^\W\d_]{2,}")
# A full stop behind a single letter ends an abbreviation, not a sentence.
_SENTENCE_BEGIN = re.compile(r"(^\W*|(?<=\w\w)[.!?]+\s+\W*)([^\W\d_])")
_ENGLISH_I = re.compile(r"(?<![\w'-])i(?![\w-])(?!\.\w)")


def in_capitals(text: str) -> bool:
    """Whether a line is in capitals: it has no small letter, and two words of at least two letters.

    A single word in capitals, such as NATO, may be a name and does not count.
    """
    return text.isupper() and len(_WORD.findall(text)) > 1


def is_word_in_capitals(text: str) -> bool:
    """Whether a line is one word in capitals of four letters or more, such as "WARNING!"."""
    words = _WORD.findall(text)
    return text.isupper() and len(words) == 1 and len(words[0]) >= 4


def is_known(small: str, tokenizer: AnyTokenizer) -> bool:
    """Whether a line, now in small letters, has several words, or one word that the vocabulary has
    in `PIECES` at most. Other words by themselves are names, such as IKEA."""
    words = _WORD.findall(small)
    if len(words) != 1:
        return True
    forms = tokenizer.encode_ids([words[0].lower(), words[0].capitalize()])
    return min(map(len, forms)) - 1 <= PIECES  # the last token is the end


def in_small_letters(text: str) -> str:
    """The line in small letters, with a capital at the start of each sentence.

    The result has as many characters as `text`, each at its old position.
    """
    small = "".join(one.lower() if len(one.lower()) == 1 else one for one in text)
    small = _ENGLISH_I.sub("I", small)
    return _SENTENCE_BEGIN.sub(lambda found: found[1] + _capital(found[2]), small)


def with_known_capitals(text: str, tokenizer: AnyTokenizer, *, eszett: bool = False) -> str:
    """The line with a capital on each word that the vocabulary knows with a capital, such as "Tom".

    The vocabulary has whole words in the case that is most frequent in training text. A word is
    written with a capital if it then needs fewer pieces, or equally many pieces that were learnt
    earlier. With `eszett`, "ss" becomes "ß" by the same rule: capitals have no "ß". The line is
    then shorter.
    """
    words = sorted({found[0] for found in _WORD.finditer(text) if found[0].islower()})
    forms = {word: _forms(word, eszett=eszett) for word in words}
    every = [form for word in words for form in forms[word]]
    pieces = dict(zip(every, tokenizer.encode_ids(every), strict=True))
    best = {
        word: min(forms[word], key=lambda form: (len(pieces[form]), max(pieces[form])))
        for word in words
    }
    return _WORD.sub(lambda found: best.get(found[0], found[0]), text)


def _forms(word: str, *, eszett: bool) -> list[str]:
    """The ways to write a word in small letters, the word itself first."""
    bare = [word, word.replace("ss", "ß")] if eszett and "ss" in word else [word]
    return [form for one in bare for form in (one, _capital(one[0]) + one[1:])]


def _capital(letter: str) -> str:
    return letter.upper() if len(letter.upper()) == 1 else letter
