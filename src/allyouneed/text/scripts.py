"""The scripts that languages are written in: Latin, Cyrillic, Chinese signs and others."""

import unicodedata
from collections import Counter
from functools import cache

from allyouneed.text.language_names import NAMES, code_of

CHINESE, KANA = "CJK", ("HIRAGANA", "KATAKANA")
# Scripts by language, under the name that the Unicode names of their letters begin with. A language
# of `language_names.NAMES` that is not listed here is written in Latin letters.
SCRIPTS: dict[str, tuple[str, ...]] = {
    "am": ("ETHIOPIC",), "ar": ("ARABIC",), "az": ("LATIN", "CYRILLIC", "ARABIC"),
    "be": ("CYRILLIC",), "bg": ("CYRILLIC",), "bn": ("BENGALI",), "bs": ("LATIN", "CYRILLIC"),
    "el": ("GREEK",), "fa": ("ARABIC",), "gu": ("GUJARATI",), "he": ("HEBREW",),
    "hi": ("DEVANAGARI",), "hy": ("ARMENIAN",), "ja": (CHINESE, *KANA), "ka": ("GEORGIAN",),
    "kk": ("CYRILLIC", "LATIN", "ARABIC"), "km": ("KHMER",), "kn": ("KANNADA",),
    "ko": ("HANGUL", CHINESE), "ky": ("CYRILLIC",), "mk": ("CYRILLIC",), "ml": ("MALAYALAM",),
    "mn": ("CYRILLIC", "MONGOLIAN"), "mr": ("DEVANAGARI",), "ms": ("LATIN", "ARABIC"),
    "ne": ("DEVANAGARI",), "pa": ("GURMUKHI", "ARABIC"), "ru": ("CYRILLIC",),
    "sr": ("CYRILLIC", "LATIN"), "ta": ("TAMIL",), "te": ("TELUGU",), "th": ("THAI",),
    "uk": ("CYRILLIC",), "ur": ("ARABIC",), "uz": ("LATIN", "CYRILLIC"), "zh": (CHINESE,),
}  # fmt: skip
_IN_WORDS = {CHINESE: "Chinese signs", **dict.fromkeys(KANA, "Japanese kana")}


def scripts_of(language: str) -> tuple[str, ...]:
    """The scripts of a language, given by its code or English name; none if they are not known."""
    code = code_of(language).replace("_", "-").partition("-")[0].lower()
    return SCRIPTS.get(code, ("LATIN",) if code in NAMES else ())


def letters_by_script(text: str) -> "Counter[str]":
    """How many letters of each script a text has. Signs, digits and emoji count nothing."""
    if text.isascii():
        return Counter(LATIN=sum(map(str.isalpha, text)))
    return Counter(filter(None, map(_script, text)))


def foreign_script(text: str, language: str) -> str | None:
    """The name of the script that more than half of a text's letters belong to, if the language is
    not written in it; otherwise None. A text in a language of unknown scripts gives None, too."""
    own = scripts_of(language)
    if not own or (text.isascii() and "LATIN" in own):
        return None
    found = letters_by_script(text)
    foreign = {script: count for script, count in found.items() if script not in own}
    if 2 * sum(foreign.values()) <= sum(found.values()):
        return None
    return in_words(max(foreign, key=lambda script: foreign[script]))


def in_words(script: str) -> str:
    """The common name of a script: "Cyrillic letters" for "CYRILLIC"."""
    return _IN_WORDS.get(script, f"{script.capitalize()} letters")


@cache
def _script(character: str) -> str | None:
    if not character.isalpha():
        return None
    first, _, rest = unicodedata.name(character, "").partition(" ")
    if first in ("FULLWIDTH", "HALFWIDTH"):
        first = rest.partition(" ")[0]
    # Signs that several scripts share, such as the Japanese mark of a long vowel, have no script.
    return None if first in ("", "MODIFIER", "MATHEMATICAL") else first.partition("-")[0]
