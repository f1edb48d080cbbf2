"""Language codes as clients write them, and what the languages are called in English."""

import re

NAMES = {
    "af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "az": "Azerbaijani", "be": "Belarusian",
    "bg": "Bulgarian", "bn": "Bengali", "bs": "Bosnian", "ca": "Catalan", "cs": "Czech",
    "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek", "en": "English",
    "eo": "Esperanto", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian",
    "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician", "gu": "Gujarati",
    "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian",
    "id": "Indonesian", "is": "Icelandic", "it": "Italian", "ja": "Japanese", "ka": "Georgian",
    "kk": "Kazakh", "km": "Khmer", "kn": "Kannada", "ko": "Korean", "ky": "Kyrgyz",
    "la": "Latin", "lb": "Luxembourgish", "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian",
    "ml": "Malayalam", "mn": "Mongolian", "mr": "Marathi", "ms": "Malay", "mt": "Maltese",
    "nb": "Norwegian Bokmål", "ne": "Nepali", "nl": "Dutch", "nn": "Norwegian Nynorsk",
    "no": "Norwegian", "oc": "Occitan", "pa": "Punjabi", "pl": "Polish", "pt": "Portuguese",
    "pt-BR": "Portuguese (Brazil)", "ro": "Romanian", "ru": "Russian", "sk": "Slovak",
    "sl": "Slovenian", "sq": "Albanian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili",
    "ta": "Tamil", "te": "Telugu", "th": "Thai", "tl": "Tagalog", "tr": "Turkish",
    "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek", "vi": "Vietnamese", "zh": "Chinese",
    "zh-Hans": "Chinese (simplified)", "zh-Hant": "Chinese (traditional)", "zu": "Zulu",
}  # fmt: skip
_CODE = re.compile(r"([a-z]{2,3})(?:[-_][a-z]{4})?(?:[-_](?:[a-z]{2}|\d{3}))?")  # sr_Latn_RS
_CODES = {name.lower(): code for code, name in NAMES.items()}
THREE_LETTERS = {
    "ara": "ar", "bul": "bg", "ces": "cs", "chi": "zh", "cze": "cs", "dan": "da", "deu": "de",
    "dut": "nl", "ell": "el", "eng": "en", "est": "et", "fin": "fi", "fra": "fr", "fre": "fr",
    "ger": "de", "gre": "el", "heb": "he", "hin": "hi", "hun": "hu", "ind": "id", "ita": "it",
    "jpn": "ja", "kor": "ko", "lav": "lv", "lit": "lt", "nld": "nl", "nor": "no", "pol": "pl",
    "por": "pt", "ron": "ro", "rum": "ro", "rus": "ru", "slk": "sk", "slo": "sk", "slv": "sl",
    "spa": "es", "swe": "sv", "tha": "th", "tur": "tr", "ukr": "uk", "vie": "vi", "zho": "zh",
}  # fmt: skip
"""Three-letter codes (ISO 639-2) of common languages."""
ALIASES = {"pb": "pt-BR", "zt": "zh-Hant"}


def name_of(code: str) -> str:
    """The language's name in English, or the code where it has none here."""
    return NAMES.get(code) or NAMES.get(code.partition("-")[0]) or code


def code_of(language: str) -> str:
    """The code of a language that a model names by its English name or by a code."""
    return _CODES.get(language.lower(), language)


def primary(code: str) -> str:
    """The code of a language without region and script, in two letters where it is listed here:
    "en" of "en_GB" and of "eng_Latn"."""
    first = re.split("[-_]", code.lower())[0]
    return THREE_LETTERS.get(first, first)


def is_known(language: str) -> bool:
    """Whether a text is the code, with or without a region or a script, or the English name of a
    language listed here."""
    code = _CODE.fullmatch(language.lower())
    return language.lower() in _CODES or (
        code is not None and code[1] in {*NAMES, *THREE_LETTERS, *ALIASES}
    )


def match(code: str, known: "list[str]") -> str | None:
    """The known code that a client's code means: case does not count, and the region is dropped if
    no model distinguishes it ("EN-GB" is "en")."""
    wanted = ALIASES.get(code.lower(), code).lower().replace("_", "-")
    by_name = {one.lower(): one for one in known}
    return by_name.get(wanted) or by_name.get(wanted.partition("-")[0])
