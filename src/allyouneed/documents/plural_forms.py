"""Plural forms: how many a language has, and which of them is the singular."""

import re

_BY_COUNT = {
    1: "bo dz fa hu id ja ka km ko lo ms my su th tr tt ug vi yo zh",
    3: "be bs cs hr lt lv mk mo pl ro ru sh sk sr uk",
    4: "cy gd mt sl",
    5: "ga",
    6: "ar",
}
_COUNTS = {code: count for count, codes in _BY_COUNT.items() for code in codes.split()}
_SLAVIC = "n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2"
_RULES = {
    "n > 1": "am bn fa fr gu hi hy kn oc pt-br zu",
    "n%10!=1 || n%100==11": "is mk",
    _SLAVIC: "be bs hr ru sh sr uk",
    "n==1 ? 0 : n>=2 && n<=4 ? 1 : 2": "cs sk",
    "n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2": "pl",
    "n==1 ? 0 : n==0 || (n%100>0 && n%100<20) ? 1 : 2": "mo ro",
    "n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2": "lt",
    "n%10==1 && n%100!=11 ? 0 : n!=0 ? 1 : 2": "lv",
    "n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3": "sl",
    "n==1 ? 0 : n==2 ? 1 : n!=8 && n!=11 ? 2 : 3": "cy",
    "n==1 || n==11 ? 0 : n==2 || n==12 ? 1 : n>2 && n<20 ? 2 : 3": "gd",
    "n==1 ? 0 : n==0 || (n%100>1 && n%100<11) ? 1 : n%100>10 && n%100<20 ? 2 : 3": "mt",
    "n==1 ? 0 : n==2 ? 1 : n>2 && n<7 ? 2 : n>6 && n<11 ? 3 : 4": "ga",
    "n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5": "ar",
    "0": "bo dz id ja km ko lo ms my su th tt ug vi yo zh",
}
_RULE_OF = {code: rule for rule, codes in _RULES.items() for code in codes.split()}
_ENDING = re.compile(r"(?<=\w)\((e?s)\)")


def forms_of(language: str) -> int:
    """The number of plural forms that Qt gives a language, by its code; 2 for most."""
    return _COUNTS.get(re.split("[-_]", language.lower())[0], 2)


def gettext_rule(language: str) -> tuple[int, str]:
    """The number of plural forms that gettext gives a language, by its code, and the expression of
    C that gives the form for a number `n`; (2, "(n != 1)") for most."""
    code = language.lower().replace("_", "-")
    rule = _RULE_OF.get(code) or _RULE_OF.get(code.partition("-")[0], "n != 1")
    last = max(map(int, re.findall(r"(?:[?:] |^)(\d)(?= |$)", rule)), default=1)
    return last + 1, f"({rule})" if last else rule


def is_singular(form: int, count: int) -> bool:
    """Whether this form, counted from 0, of `count` forms is the singular. In Arabic, the form for
    no things comes first. A language with one form uses it for all numbers."""
    return count > 1 and form == (1 if count == 6 else 0)


def singular_of(text: str) -> str:
    """The text for one thing: "%n file" for "%n file(s)"."""
    return _ENDING.sub("", text)


def plural_of(text: str) -> str:
    """The text for several things: "%n files" for "%n file(s)"."""
    return _ENDING.sub(r"\1", text)
