"""Tells whether a sentence is negated, by the words of its language: English, German, French and
Spanish."""

import re

_WITH_NE = "pas|plus|jamais|rien|personne|aucune?|ni|guère|point|nulle part"
_WITH_NO = "nada|nadie|nunca|jamás|ningun[oa]?|ningún|ni"
_NEGATED = {
    "en": r"\b(?:not|no(?!\. ?\d)|never|nobody|nothing|none|neither|nor|without|cannot|nowhere"
    r"|unless|non-\w+)\b|n't\b|\b(?:can|do|does|did|is|are|was|were|wo|would|should|could|have|has|had)nt\b",
    "de": r"\b(?:nicht(?!-)|nichts|nie|niemals|kein\w*|niemand\w*|weder|ohne|nein|nirgend\w*"
    r"|verboten|untersagt)\b",
    # "ne ... jamais rien" and "ne ... ni ... ni" are one negation. "personne" needs its "ne".
    "fr": rf"(?:\b(?:personne|rien|jamais|nul|(?:pas une?|aucune?)(?: [\w'-]+){{,6}}) n(?:e\b|')"
    rf"|\bn(?:e\b|')(?:[^,;:.!?]*?\b(?:{_WITH_NE})\b)?(?:(?: de)? (?:{_WITH_NE}|ne)\b)*"
    r"|\b(?:pas|rien|aucune?|ni|sans|non|interdite?s?|défense d(?:e |')\w+[eio]r)\b"
    r"|(?<!\w )\bjamais\b)"
    r"(?:[^;:.!?]*?\bni\b(?: ne\b| aucune?\b)?)*",
    # "no ... nunca nada" is one negation.
    "es": rf"\b(?:no(?:(?!\bno\b)[^,;:.!?])*?\b(?:{_WITH_NO})|no"
    rf"|sin|tampoco|{_WITH_NO}|prohibid[oa]s?)\b(?: (?:{_WITH_NO})\b)*",
}
# Not a negation: "ne ... que", "n'est-ce pas ?", "avant qu'il ne", "pas seulement", "à grands pas".
_IDLE_FRENCH = (
    rf"\bn(?:e\b|')(?:(?!\b(?:{_WITH_NE})\b)[^,;.!?])*?\bqu(?:e\b|')"
    rf"|\bqu(?:e\b|')(?:(?!\b(?:{_WITH_NE})\b)[^,;.!?])*?\bn(?:e\b"
    rf"|')(?![^,;.!?]*\b(?:{_WITH_NE})\b)"
    r"|\bn'est-ce pas\b|\bpas (?:seulement|mal\b|à pas|de (?:problème|souci))|\brien qu\b"
    r"|\bn'(?:oubli|arrêt)\w+ pas\b|\bou (?:pas|non)\b|\bsi (?:non|jamais)\b|\bnon(?: plus\b"
    r"|,? \?)|\bnon \w+(?:ée?s?|ises?|ues?)\b|\bde rien\b"
    r"|\bsans (?:aucun )?(?:doute|cesse|arrêt|faille)\b"
    r"|\b(?:un|le|les|ce|mes|ses|premiers?|à|grands|quelques|deux) pas\b"
)
# Not a negation: "no solo", "¿no?", "nada más llegar", "sin embargo", "de nada", "no ... más que".
_IDLE_SPANISH = (
    r"\bno (?:s[oó]lo|solamente|obstante)\b|\bno\?|\bnada más\b|\b[oy] no\b"
    r"|\bsin (?:embargo|duda|conexión|procesar)\b|\bde nada\b|\bsi no\b|\bni\b(?=[^;.!?]*\bni\b)"
    r"|\bque nunca\b|\bmás\b[^,;.!?]*? que\b[^,;.!?]*? nunca\b"
    r"|\bno\b(?:(?!\bno\b)[^,;.!?])*?\bmás que\b"
    r"|\bnada (?:muy |bastante )?(?:bien|mal|rápido|mejor|como)\b"
)
# Not a negation: the tag of a question ("isn't it?"), "no matter", "don't care".
_IDLE = {
    "en": r",\s*\w+n't \w+\?|\bno matter\b|n't (?:care|mind|help)\b|\bnot only\b|\bno\. ?(?=[\w.])"
    r"|\bnot? (?:later|less|fewer|longer) than\b|\bif not\b|\bor not\b|\bneither\b(?=.*\bnor\b)",
    "de": r"\bnicht (?:nur|wahr\?)|\boder nicht\b|\bwenn nicht\b|\bnichts?\s*(?:sagend|besonder)",
    "fr": _IDLE_FRENCH,
    "es": _IDLE_SPANISH,
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
    "fr": r"\b(?:in|im|ir|il|dés|mal|mé|anti)\w{3,}|\bnon-\w+|\b(?:plus|personne|nulle?s?|guère|"
    r"peu|rare\w*|seul\w*|manqu\w*|refus\w*|évit\w*|empêch\w*|cess\w*|arrêt\w*|oubli\w*|ignor\w*|"
    r"perd\w*|sauf|hors|sinon|autre\w*|avant|jusqu\w*|trop|vide\w*|faux|fausse\w*|tort|loin|"
    r"libre\w*|nie?|niai\w*|rejet\w*|exclu\w*|interdi\w*|déni\w*|au lieu|mais|différent\w*|faute|"
    r"dout\w*|détest\w*|moins|dépourvu\w*|échou\w*|rat\w*|peine)\b",
    "es": r"\b(?:in|im|ir|il|des(?!pués)|mal|anti)\w{3,}|\b(?:apenas|casi|poc[oa]s?|rar[oa]\w*|"
    r"sol[oa]|sólo|solamente|falt\w*|neg\w*|nieg\w*|rechaz\w*|rehus\w*|evit\w*|dej\w*|olvid\w*|"
    r"ignor\w*|perd\w*|pierd\w*|excepto|salvo|otr[oa]s?|antes|hasta|demasiad\w*|vací\w*|fals\w*|"
    r"lejos|libre\w*|exclu\w*|prohib\w*|nul[oa]s?|menos|pero|sino|lugar|carec\w*|carent\w*|"
    r"distint\w*|diferent\w*|odi\w*|fracas\w*|dud\w*|ausen\w*|fuera|huérfan\w*)\b",
}


def _compiled(table: dict[str, str]) -> dict[str, re.Pattern[str]]:
    return {code: re.compile(pattern, re.IGNORECASE) for code, pattern in table.items()}


_NEGATIONS, _IDLES, _HALVES = map(_compiled, (_NEGATED, _IDLE, _HALF))


def negation_lost(source: str, target: str, languages: tuple[str, str]) -> bool:
    """Whether a sentence is negated and its translation has no word that may negate it, or whether
    it has several negations and the translation has fewer words that may.

    Both texts are in plain marks. `languages` are the codes of source and target; for others than
    English, German, French and Spanish the answer is False.
    """
    from_, into = languages
    if from_ not in _NEGATIONS or into not in _NEGATIONS:
        return False
    rest = _IDLES[from_].sub(" ", source)
    if _NEGATIONS[from_].search(rest) is None:
        return False
    said = len(_NEGATIONS[from_].findall(rest))
    return len(_NEGATIONS[into].findall(target)) + len(_HALVES[into].findall(target)) < said
