"""Finds the names of an English sentence that its German translation lacks."""

import re

# A capital within a sentence is that of a name, or of a word for a day, a people, a country.
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b")
_WORD = re.compile(r"[^\W\d_]+")
_ALIKE = {"c": "ckz", "v": "vw", "y": "yj", "j": "ji"}  # "Canada" is "Kanada", "Vienna" is "Wien"
# Words that begin otherwise in German.
_OTHERWISE = re.compile(
    r"Alice|Austrian?|Christmas|Dad|December|Dutch|Easter|Egypt(?:ian)?|Eve|Germans?|Germany|Grand[mp]a|"
    r"Lake|Lord|M[ou]m|Mrs|Ocean|President|Prime|Queen|Santa|Sea|Square|States?|Street|Tuesday|Union|"
    r"United|University|Wednesday"
)


def names_lost(source: str, target: str, languages: tuple[str, str]) -> list[str]:
    """The names in an English sentence for which its German translation has no word that begins
    like them. A sentence that writes most of its words with a capital is not judged.

    `languages` are the codes of source and target.
    """
    if languages != ("en", "de") or source[1:] == source[1:].lower():
        return []
    names = _NAME.findall(source)
    capitals = [word[0].isupper() for word in _WORD.findall(source)[1:]] if names else []
    if not names or 2 * sum(capitals) > len(capitals):
        return []
    letters = {word[0].lower() for word in _WORD.findall(target)}
    return [
        name
        for name in dict.fromkeys(names)
        if not _OTHERWISE.fullmatch(name)
        and letters.isdisjoint(_ALIKE.get(first := name[0].lower(), first))
    ]
