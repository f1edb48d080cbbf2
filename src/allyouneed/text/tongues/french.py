"""French words that the rules for texts look for."""

from allyouneed.text.tongues.tongue import (
    BIG,
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

_WITH_NE = "pas|plus|jamais|rien|personne|aucune?|ni|guère|point|nulle part"
_NEGATION = Negation(
    # "ne ... jamais rien" and "ne ... ni ... ni" are one negation. "personne" needs its "ne".
    words=rf"(?:\b(?:personne|rien|jamais|nul|(?:pas une?|aucune?)(?: [\w'-]+){{,6}}) n(?:e\b|')"
    rf"|\bn(?:e\b|')(?:[^,;:.!?]{{0,100}}?\b(?:{_WITH_NE})\b)?(?:(?: de)? (?:{_WITH_NE}|ne)\b)*"
    r"|\b(?:pas|rien|aucune?|ni|sans|non|interdite?s?|défense d(?:e |')\w+[eio]r)\b"
    r"|(?<!\w )\bjamais\b)"
    r"(?:[^;:.!?]{0,100}?\bni\b(?: ne\b| aucune?\b)?)*",
    # "ne ... que", "n'est-ce pas ?", "avant qu'il ne", "pas seulement", "à grands pas"
    idle=rf"\bn(?:e\b|')(?:(?!\b(?:{_WITH_NE})\b)[^,;.!?]){{0,100}}?\bqu(?:e\b|')"
    rf"|\bqu(?:e\b|')(?:(?!\b(?:{_WITH_NE})\b)[^,;.!?]){{0,100}}?\bn(?:e\b"
    rf"|')(?![^,;.!?]*\b(?:{_WITH_NE})\b)"
    r"|\bn'est-ce pas\b|\bpas (?:seulement|mal\b|à pas|de (?:problème|souci))|\brien qu\b"
    r"|\bn'(?:oubli|arrêt)\w+ pas\b|\bou (?:pas|non)\b|\bsi (?:non|jamais)\b|\bnon(?: plus\b"
    r"|,? \?)|\bnon \w+(?:ée?s?|ises?|ues?)\b|\bde rien\b"
    r"|\bsans (?:aucun )?(?:doute|cesse|arrêt|faille)\b"
    r"|\b(?:un|le|les|ce|mes|ses|premiers?|à|grands|quelques|deux) pas\b",
    half=r"\b(?:in|im|ir|il|dés|mal|mé|anti)\w{3,}|\bnon-\w+|\b(?:plus|personne|nulle?s?|guère|"
    r"peu|rare\w*|seul\w*|manqu\w*|refus\w*|évit\w*|empêch\w*|cess\w*|arrêt\w*|oubli\w*|ignor\w*|"
    r"perd\w*|sauf|hors|sinon|autre\w*|avant|jusqu\w*|trop|vide\w*|faux|fausse\w*|tort|loin|"
    r"libre\w*|nie?|niai\w*|rejet\w*|exclu\w*|interdi\w*|déni\w*|au lieu|mais|différent\w*|faute|"
    r"dout\w*|détest\w*|moins|dépourvu\w*|échou\w*|rat\w*|peine)\b",
)
_NUMBERS = Numbers(
    ones=(
        r"zéro|nul|aucun|\bpas\b",
        r"\bune?s?\b|premi|uni",
        r"deux|second|doubl|pair|couple|moitié|demi|bi",
        r"troi|tri|tier",
        r"quatre(?![ -]vingt)|quatri|quart|quadr",
        r"cinq(?!uant)|quint",
        r"six|sext",
        r"sept(?!embre|ant)",
        r"huit(?!ant)|octav|octo[gs]",
        r"neuf|neuv",
    ),
    larger=r"\bdix|onz|douz|treiz|quatorz|quinz|seiz|vingt|trent|ante\b|anti|cent|mill|dizain|"
    r"siècle|décenni|demi|quart|trimestr",
    powers=("millions?", r"(?<!mille )milliards?", "billions?|mille milliards"),
)
_CLOCK = Clock(
    hours="une deux trois quatre cinq six sept huit neuf dix onze douze",
    times=r"\bHOUR h(?:eures?)? (?P<part>et (?:demie?|quart)|moins (?:le |un )?quart)\b",
    minutes={"demi": 30, "demie": 30, "quart": 15, "moins": -15},
    signs=("demi", "quart"),
    told=r"\bmidi\b|minuit|quart|demie",
    after_hour=r"h(?:eures?)?\b",
)
_STOPS = Stops(
    never_last="mme mlle mmes mlles mgr p.ex c.-à-d",
    before_numbers="art chap fig vol janv févr avr juil déc",
    openers="Il Elle Ils Elles Nous Vous Je On Mais",
)
_NAMES = Names(
    titles=(r"M\.", "Mme", "Mlle", "Dr", "Monsieur", "Madame"),
    introductions=(r"m['’]appelle",),
    offices="Ambassadeur|Directeur|Directrice|Docteur|Dr|Général|Juge|Maire|Ministre|Président|Présidente|"
    "Prof|Professeur",
    streets=(  # "12 rue de la Paix, 75002 Paris"
        (
            r"(?<![\w.,])\d+(?:\s(?:bis|ter))?,?\s"
            r"(?:rue|avenue|av\.|boulevard|bd|place|quai|chemin|impasse|allée)\s"
            rf"(?:(?:de|du|des|la|le|les)\s|[dl]['’])*{BIG}{WORD}(?:[\s-]{BIG}{WORD})*"
            rf"(?:,?\s\d{{5}}\s{BIG}{WORD})?"
        ),
    ),
)
_STRESSED = """
    ne pas jamais rien personne aucun aucune toujours tout tous toute toutes chaque seulement
    très trop doit doivent non oui maintenant immédiatement attention important urgent gratuit
    gratuite nouveau nouvelle nouveaux avant après plus moins vraiment encore cette ces votre
    vos premier dernier dois devez devons peut peuvent absolument totalement
"""
FRENCH = Tongue(
    negation=_NEGATION,
    numbers=_NUMBERS,
    sums=Sums(decimal=",", thousands=" ", form="NUMBER SIGN"),
    clock=_CLOCK,
    stops=_STOPS,
    letters=LetterStyle(and_="et", no_names="Votre|Ton|Ta|Notre|Le|La|Les|Une?"),
    speech=SpeechStyle(stand_ins=("Non", "Oui", "Tom"), mark_before=" :"),
    names=_NAMES,
    enumeration=Enumeration(and_="et|ou", commas=1),
    stressed=_STRESSED,
    small=(
        "le la les l un une des du de d au aux à en dans sur sous pour par avec chez sans et "
        "ou que qu je j tu il elle on nous vous ils elles me m te t se s lui leur y ce cette "
        "ces cet mon ma mes ton ta tes son sa ses notre nos votre vos puis"
    ),
)
