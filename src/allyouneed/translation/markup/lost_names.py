"""Finds the names of a text that its translation lacks: addresses, files, identifiers, people.
Signs such as emoji count as names.

Models copy most names, and the sentence around a name is translated best if the model sees it. Only
a name that a translation lacks is worth a second try, in which another word stands for it. Names
are found by their form: a street with its number, "Mr." before a word, capitals within a word.
"""

import re
from collections.abc import Iterator

_BIG, _WORD = r"[A-Z\u00c0-\u00de]", r"[\w'’-]*\w"
_NUMBER = r"\d{1,4}(?:\s?[a-zA-Z](?![\w'’]))?(?:\s?-\s?\d{1,4})?(?!\w|[.,]\d)"
_TOWN = (
    rf"(?:(?:,|\sin)?\s(?:[A-Z]{{1,2}}-)?\d{{4,5}}\s{_BIG}{_WORD}(?:\s(?:am|an\sder)\s{_BIG}\w+)?)"
)
_STREETS = (  # "Lange Straße 5", "Goethestr. 12a, 80336 München", "Karl-Marx-Allee 3"
    rf"(?<!\w)(?:{_BIG}{_WORD}[\s-](?:Straße|Strasse|Str\.)"
    rf"|{_BIG}[\w-]+(?:straße|strasse|str\.|allee|gasse)"
    rf"|(?:{_BIG}\w+-)+(?:Allee|Gasse|Weg|Platz|Ring|Ufer|Damm))\s{_NUMBER}{_TOWN}?"
)
_ANYWHERE = (  # "Am Markt 3, 10115 Berlin"
    rf"(?<!\w)(?:(?:Am|Im|Zum|Zur|An\sder|Auf\sdem|In\sder)\s)?{_BIG}{_WORD}\s{_NUMBER},\s\d{{5}}"
    rf"\s{_BIG}{_WORD}"
)
_ROADS = (  # "221B Baker Street", "12 Park Road"
    rf"(?<![\w.,])\d+[A-Za-z]?\s(?:{_BIG}{_WORD}\s){{1,3}}(?:Street|St\.|Road|Rd\.|Avenue|Ave\.|"
    r"Lane|Drive|Square|Boulevard|Terrace|Crescent)(?!\w)"
)
_RUE = r"rue|avenue|av\.|boulevard|bd|place|quai|chemin|impasse|allée"
_RUES = (  # "12 rue de la Paix, 75002 Paris"
    rf"(?<![\w.,])\d+(?:\s(?:bis|ter))?,?\s(?:{_RUE})\s(?:(?:de|du|des|la|le|les)\s|[dl]['’])*"
    rf"{_BIG}{_WORD}(?:[\s-]{_BIG}{_WORD})*(?:,?\s\d{{5}}\s{_BIG}{_WORD})?"
)
_CALLES = (  # "Calle Mayor 5, 28013 Madrid"
    r"(?<!\w)(?i:calle|c/|avenida|avda\.|plaza|paseo)\s(?:(?:de|del|la|las|los|el)\s)*"
    rf"{_BIG}{_WORD}(?:\s{_BIG}{_WORD})*,?\s{_NUMBER}(?:,?\s\d{{5}}\s{_BIG}{_WORD})?"
)
_FILES = (
    r"csv|docx?|epub|exe|gif|gz|html?|ini|jar|jpe?g|js|json|log|md|mp[34]|odt|pdf|php|png|po|pptx?|py|"
    r"rb|rtf|sh|sql|svg|toml|ts|tsv|txt|xlsx?|xml|ya?ml|zip"
)
_SITES = r"com|org|net|edu|gov|info|io|eu|de|at|ch|uk"
_IDENTIFIERS = (
    rf"(?<![\w.@/-])[\w-]{{2,}}(?:\.[\w-]{{2,}})*\.(?:{_FILES}|{_SITES})(?![\w-])",
    r"(?<![\w.@/-])[A-Za-z][\w-]+(?:\.[A-Za-z][\w-]+){2,}(?![\w-])",  # com.example.App
    r"(?<![\w.])\w*[A-Za-z\d]_\w*[A-Za-z\d](?:\(\))?",  # get_user()
    r"(?<![\w-])[A-Za-z]*[a-z][A-Z][A-Za-z\d]*(?:\(\))?(?!\w)",  # NullPointerException
)
# Emoji, arrows and signs of mathematics.
_SYMBOLS = r"(?:[\u2190-\u2bff\U0001f000-\U0001faff][\ufe0f\u200d\U0001f3fb-\U0001f3ff]*)+|§"
# Words that are no name, though a title stands before them.
_OFFICES = (
    r"Botschafter|Bürgermeister|Direktor|Doktor|Dr|Prof|General|Gott|Hauptmann|Kanzler|Kapitän|Kommissar|"
    r"Lehrer|Minister|Nachbar|Oberst|Ober|Pfarrer|Präsident|Professor|Richter|Wachtmeister|\w+in|"
    r"Ambassador|Chairman|Chancellor|Mayor|Minister|President|Right|Speaker|"
    r"Ambassadeur|Directeur|Directrice|Docteur|Juge|Maire|Ministre|Président|Présidente|Professeur|"
    r"Alcalde|Alcaldesa|Director|Directora|Embajador|Juez|Ministro|Presidente|Profesor|Profesora"
)
_OWN = rf"(?!(?:{_OFFICES})(?!\w)){_BIG}{_WORD}"
_MORE = rf"(?:\s{_BIG}{_WORD})*"  # nouns have no capital in English
_PEOPLE = {
    "en": rf"(?:(?<=\bMr\s)|(?<=\bMrs\s)|(?<=\bMs\s)|(?<=\bMr\.\s)|(?<=\bMrs\.\s)|(?<=\bMs\.\s)|"
    rf"(?<=\bDr\.\s)|(?<=\b[Nn]ame\sis\s)){_OWN}{_MORE}",
    "de": rf"(?:(?<=\bHerr\s)|(?<=\bHerrn\s)|(?<=\bFrau\s)|(?<=\bDr\.\s)|(?<=\bFamilie\s)){_OWN}"
    rf"|(?:(?<=\b[Ii]ch\sheiße\s)|(?<=\b[Nn]ame\sist\s)){_OWN}{_MORE}",
    "fr": rf"(?:(?<=\bM\.\s)|(?<=\bMme\s)|(?<=\bMlle\s)|(?<=\bDr\s)|(?<=\bMonsieur\s)"
    rf"|(?<=\bMadame\s)|(?<=\bm['’]appelle\s)){_OWN}{_MORE}",
    "es": rf"(?:(?<=\bSr\.\s)|(?<=\bSra\.\s)|(?<=\bSrta\.\s)|(?<=\bDr\.\s)|(?<=\bDra\.\s)"
    rf"|(?<=\b[Mm]e\sllamo\s)){_OWN}{_MORE}",
}
_FOREIGN = {  # words with letters that the language has in names alone
    "en": rf"(?<!\w)(?=[\w-]*[\u00c0-\u024f]){_BIG}{_WORD}{_MORE}",
    "de": rf"(?<!\w)(?=\w*[\u00c0-\u00c3\u00c5-\u00d5\u00d8-\u00db\u00e0-\u00e3\u00e5-\u00f5"
    rf"\u00f8-\u00fb\u00fd-\u00ff]){_BIG}{_WORD}",
}
NAMES = {
    "en": (_STREETS, _ANYWHERE, _ROADS, *_IDENTIFIERS, _SYMBOLS, _PEOPLE["en"], _FOREIGN["en"]),
    "de": (_STREETS, _ANYWHERE, _ROADS, *_IDENTIFIERS, _SYMBOLS, _PEOPLE["de"], _FOREIGN["de"]),
    "fr": (_ROADS, _RUES, *_IDENTIFIERS, _SYMBOLS, _PEOPLE["fr"]),
    "es": (_ROADS, _CALLES, *_IDENTIFIERS, _SYMBOLS, _PEOPLE["es"]),
}
"""The regular expressions of names, by the code of the language of the text."""
_ANY = {language: re.compile("|".join(some)) for language, some in NAMES.items()}
# One of these is in all names.
_SIGNS = {
    "en": re.compile(r"[^\W\d_][._][^\W_]|[a-z][A-Z]|\d|Mr|Ms|Dr\.|ame is|[^\x00-\xa6\xa8-\xbf]"),
    "de": re.compile(
        r"[^\W\d_][._][^\W_]|[a-z][A-Z]|\d|Herr|Frau|Dr\.|Famil|ch heiße|ame ist"
        r"|[^\x00-\xa6\xa8-\xbfÄÖÜßäöü]"
    ),
    "fr": re.compile(
        r"[^\W\d_][._][^\W_]|[a-z][A-Z]|\d|M\. |Mme|Mlle|Dr |Monsieur|Madame|appelle"
        r"|[§\u2190-\U0001faff]"
    ),
    "es": re.compile(
        r"[^\W\d_][._][^\W_]|[a-z][A-Z]|\d|Sr\.|Sra\.|Srta\.|Dra?\.|e llamo|[§\u2190-\U0001faff]"
    ),
}


def names(text: str, language: str) -> Iterator[str]:
    """The names in a text of a language, given by its code. Languages without a table have none."""
    if language in _ANY and _SIGNS[language].search(text):
        for match in _ANY[language].finditer(text):
            yield match[0]


def has_name(text: str, language: str) -> bool:
    """Whether a text has a name that `lost_names` looks for."""
    return next(names(text, language), None) is not None


def lost_names(source: str, target: str, language: str) -> list[str]:
    """The names of a source, in a language given by its code, that its translation lacks. A word
    may stand there in small letters, as "Rosé" does in English."""
    found = list(names(source, language))
    if not found:
        return []
    written = _plain(target)
    return [
        one
        for one in dict.fromkeys(found)
        if _plain(one) not in written and not (one.isalpha() and one.lower() in written)
    ]


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").split())
