"""Finds enumerations, such as "apples, pears and plums", of which a translation lacks a part."""

import re

_AND = {"en": r"(?:and|or)", "de": r"(?:und|oder)"}
# German has a comma before each clause: two of them make an enumeration.
_COMMAS = {"en": 1, "de": 2}
MOST = 12  # commas; with a bound, the time is linear in the length of the text
_LIST = {
    language: re.compile(
        rf"\b\w+(?:, (?:\w+ )?\w+){{{_COMMAS[language]},{MOST}}},? {word} (?:\w+ )?\w+",
        re.IGNORECASE,
    )
    for language, word in _AND.items()
}
_PARTS = {
    language: re.compile(rf",? {word} |[,;/] ", re.IGNORECASE) for language, word in _AND.items()
}


def items_lost(source: str, target: str, languages: tuple[str, str]) -> bool:
    """Whether the translation of a sentence with an enumeration has fewer commas and "and"s.

    `languages` are the codes of source and target; for others than English and German the answer is
    False.
    """
    from_, into = languages
    if "," not in source or from_ not in _LIST or into not in _LIST:
        return False
    found = _LIST[from_].search(source)
    if found is None:
        return False
    return len(_PARTS[into].findall(target)) < len(_PARTS[from_].findall(found[0]))
