"""Spanish words that the rules for texts look for."""

from allyouneed.text.tongues.tongue import (
    BIG,
    HOUSE_NUMBER,
    WORD,
    Clock,
    Enumeration,
    LetterStyle,
    Names,
    Negation,
    Numbers,
    SpeechStyle,
    Stops,
    Sums,
    Tongue,
)

_WITH_NO = "nada|nadie|nunca|jamás|ningun[oa]?|ningún|ni"
_NEGATION = Negation(
    # "no ... nunca nada" is one negation.
    words=rf"\b(?:no(?:(?!\bno\b)[^,;:.!?]){{0,100}}?\b(?:{_WITH_NO})|no"
    rf"|sin|tampoco|{_WITH_NO}|prohibid[oa]s?)\b(?: (?:{_WITH_NO})\b)*",
    # "no solo", "¿no?", "nada más llegar", "sin embargo", "de nada", "no ... más que"
    idle=r"\bno (?:s[oó]lo|solamente|obstante)\b|\bno\?|\bnada más\b|\b[oy] no\b"
    r"|\bsin (?:embargo|duda|conexión|procesar)\b|\bde nada\b|\bsi no\b|\bni\b(?=[^;.!?]*\bni\b)"
    r"|\bque nunca\b|\bmás\b[^,;.!?]{0,100}? que\b[^,;.!?]{0,100}? nunca\b"
    r"|\bno\b(?:(?!\bno\b)[^,;.!?]){0,100}?\bmás que\b"
    r"|\bnada (?:muy |bastante )?(?:bien|mal|rápido|mejor|como)\b",
    half=r"\b(?:in|im|ir|il|des(?!pués)|mal|anti)\w{3,}|\b(?:apenas|casi|poc[oa]s?|rar[oa]\w*|"
    r"sol[oa]|sólo|solamente|falt\w*|neg\w*|nieg\w*|rechaz\w*|rehus\w*|evit\w*|dej\w*|olvid\w*|"
    r"ignor\w*|perd\w*|pierd\w*|excepto|salvo|otr[oa]s?|antes|hasta|demasiad\w*|vací\w*|fals\w*|"
    r"lejos|libre\w*|exclu\w*|prohib\w*|nul[oa]s?|menos|pero|sino|lugar|carec\w*|carent\w*|"
    r"distint\w*|diferent\w*|odi\w*|fracas\w*|dud\w*|ausen\w*|fuera|huérfan\w*)\b",
)
_NUMBERS = Numbers(
    ones=(
        r"cero|nul|ning[uú]n|\bno\b",
        r"\bun[oa]?s?\b|primer|únic|\bsol[oa]\b",
        r"dos|segund|dobl|\bpar\b|pareja|amb[oa]s|mitad|medi[oa]|bi",
        r"tres(?!c)|tri|terc",
        r"cuatro(?!c)|cuart|cuádr",
        r"cinco|quint",
        r"seis(?!c)|sext",
        r"siete(?!c)|s[eé]ptim|sétim",
        r"ocho(?!c)|octav|octó",
        r"nueve(?!c)|noven(?!ta)",
    ),
    larger=r"\bdie[zc]|décim|\bonce|doce|trece|catorce|quince|veint|vigés|[eai]nta|gésim|cien|"
    r"quinient|\bmil|millón|millon|decena|siglo|década|medi[oa]|cuarto|trimestr",
    powers=(
        "(?<!mil )mill(?:ón|ones)",
        r"(?:mil|\d[. ]?\d{3}) millones|millardos?",
        "bill(?:ón|ones)",
    ),
)
_CLOCK = Clock(
    hours="una dos tres cuatro cinco seis siete ocho nueve diez once doce",
    times=r"\blas? HOUR (?P<part>y (?:media|cuarto)|menos (?:un )?cuarto)\b",
    minutes={"media": 30, "cuarto": 15, "menos": -15},
    signs=("media", "cuarto"),
    told=r"mediodía|medianoche|\bcuarto|y media",
    after_hour=r"h(?:oras?)?\b|de la (?:mañana|tarde|noche)",
)
_STOPS = Stops(
    never_last="sr sra srta sres sras dra dres dña gral ud uds vd vds lic avda p.ej ej",
    before_numbers="ene abr dic núm pág págs teléf",
    openers="Él Ella Ellos Ellas Nosotros Yo Pero",
)
_NAMES = Names(
    titles=(r"Sr\.", r"Sra\.", r"Srta\.", r"Dr\.", r"Dra\."),
    introductions=(r"[Mm]e\sllamo",),
    offices="Alcalde|Alcaldesa|Director|Directora|Dr|Embajador|General|Juez|Ministro|Presidente|Prof|"
    "Profesor|Profesora",
    streets=(  # "Calle Mayor 5, 28013 Madrid"
        (
            r"(?<!\w)(?i:calle|c/|avenida|avda\.|plaza|paseo)\s(?:(?:de|del|la|las|los|el)\s)*"
            rf"{BIG}{WORD}(?:\s{BIG}{WORD})*,?\s{HOUSE_NUMBER}(?:,?\s\d{{5}}\s{BIG}{WORD})?"
        ),
    ),
)
_STRESSED = """
    no nunca jamás nada nadie ningún ninguna siempre todo todos toda todas cada solo sólo muy
    tan debe deben sí ahora hoy atención aviso importante urgente gratis nuevo nueva nuevos
    nuevas ambos antes después más menos realmente este esta estos estas primero último debo
    debes puedo puede pueden absolutamente
"""
SPANISH = Tongue(
    negation=_NEGATION,
    numbers=_NUMBERS,
    sums=Sums(decimal=",", thousands=".", form="NUMBER SIGN"),
    clock=_CLOCK,
    stops=_STOPS,
    letters=LetterStyle(
        and_="y",
        other_and="e",
        before="H?[IÍ]",
        no_names="Tu|Su|Nuestr[oa]|El|La|Los|Las|Una?",
        after_opening=":",
    ),
    speech=SpeechStyle(stand_ins=("No", "Sí", "Tom"), mark_before=":", stop_outside=True),
    names=_NAMES,
    enumeration=Enumeration(and_="[ye]|[ou]", commas=1),
    stressed=_STRESSED,
    small=(
        "el la los las lo un una unos unas de del a al en con por para sin sobre y e o u que "
        "yo tú él ella usted nosotros ellos ellas me te se le les nos su sus mi mis tu tus "
        "este esta estos estas luego"
    ),
)
