"""Tells whether a sentence is negated, by the words of its language: English and German."""

import re

_NEGATED = {
    "en": r"\b(?:not|no(?!\. ?\d)|never|nobody|nothing|none|neither|nor|without|cannot|nowhere"
    r"|unless|non-\w+)\b|n't\b|\b(?:can|do|does|did|is|are|was|were|wo|would|should|could|have|has|had)nt\b",
    "de": r"\b(?:nicht(?!-)|nichts|nie|niemals|kein\w*|niemand\w*|weder|ohne|nein|nirgend\w*"
    r"|verboten|untersagt)\b",
}
# Not a negation: the tag of a question ("isn't it?"), "no matter", "don't care".
_IDLE = {
    "en": r",\s*\w+n't \w+\?|\bno matter\b|n't (?:care|mind|help)\b|\bnot only\b|\bno\. ?(?=[\w.])"
    r"|\bnot? (?:later|less|fewer|longer) than\b|\bif not\b|\bor not\b|\bneither\b(?=.*\bnor\b)",
    "de": r"\bnicht (?:nur|wahr\?)|\boder nicht\b|\bwenn nicht\b|\bnichts?\s*(?:sagend|besonder)",
}
# Other words that say a negation: "impossible", "hardly", "arbeitslos".
_HALF = {
    "en": r"\b(?:un|in|im|dis|ir|il|non)\w{3,}|\w+less\b|\b(?:hardly|barely|scarcely|rarely|seldom|"
    r"few|little|fail\w*|lack\w*|refus\w*|unless|only|stop\w*|avoid\w*|any\w*|miss\w*|den[yi]\w*|"
    r"rather|free|until|before|ignor\w*|empty|out|too|forg[eo]t\w*|wrong|but|ain't|keep|off|"
    r"otherwise|else|prevent\w*|prohibit\w*|forbid\w*|different|except|hate\w*|instead|yet|fear|"
    r"reject\w*|disabled?|mind|exclud\w*)\b",
    "de": r"\b(?:un|miss)\w{3,}|\w+(?:los|lose[nmrs]?|frei(?:e[nmrs]?)?)\b|\b(?:kaum|selten"
    r"|wenig\w*|fehl\w*|mangel\w*|weiger\w*|außer|nur|vermeid\w*|verhinder\w*|statt|erst|bevor|bis|sonst|"
    r"verbot\w*|verbiet\w*|nee|nö|aber|leer|aus|zu|ander\w*|vergiss|vergess\w*|falsch|lass|ne|"
    r"egal|gleich|ablehn\w*|abgelehnt|hass\w*|doch|ausgeschlossen|Nicht-?\w+)\b",
}


def _compiled(table: dict[str, str]) -> dict[str, re.Pattern[str]]:
    return {code: re.compile(pattern, re.IGNORECASE) for code, pattern in table.items()}


_NEGATIONS, _IDLES, _HALVES = map(_compiled, (_NEGATED, _IDLE, _HALF))


def negation_lost(source: str, target: str, languages: tuple[str, str]) -> bool:
    """Whether a sentence is negated and its translation has no word that may negate it, or whether
    it has several negations and the translation has fewer words that may.

    Both texts are in plain marks. `languages` are the codes of source and target; for others than
    English and German the answer is False.
    """
    from_, into = languages
    if from_ not in _NEGATIONS or into not in _NEGATIONS:
        return False
    rest = _IDLES[from_].sub(" ", source)
    if _NEGATIONS[from_].search(rest) is None:
        return False
    said = len(_NEGATIONS[from_].findall(rest))
    return len(_NEGATIONS[into].findall(target)) + len(_HALVES[into].findall(target)) < said
