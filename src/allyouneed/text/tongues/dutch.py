"""Dutch words that the rules for texts look for."""

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

_NEGATION = Negation(
    words=r"\b(?:niet(?!-)|niets|niks|geen|nooit|nimmer|niemand|nergens|noch|zonder|neen?|evenmin"
    r"|geenszins|tenzij|verboden)\b",
    # "niet alleen", "al dan niet", "geen dank", "niets anders dan", "niet waar?"
    idle=r"\bniet (?:alleen|enkel|slechts|waar\?|(?:later|meer|minder) dan)|\bnietwaar"
    r"|\b(?:of|zo|als|indien) niet\b|\bdan niet\b|\bgeen (?:dank|probleem|zorgen)\b"
    r"|\b(?:niets|niemand|niet) anders dan\b|\bnoch\b(?=.*\bnoch\b)|\bvoor niets\b"
    r"|\bzonder (?:twijfel|meer|ophouden)\b|\bscheelde niet\b|\bniets te danken\b"
    r"|, (?:niet|nee)\?",
    half=r"\b(?:on(?!der|t[hlmsvw]|ze\b)|mis(?!sch)|wantr)\w{3,}|\w+(?:loos|loze|vrije?)\b|\bniet-\w+"
    r"|\b(?:nauwelijks|amper|zelden|weinig|gemist\w*|weiger\w*|geweigerd\w*|behalve|slechts|alleen|"
    r"enkel|vermijd\w*|vermeden|voorkom\w*|verhinder\w*|plaats|totdat|voordat|anders|verbied\w*|"
    r"verbod\w*|leeg|lege|vergeet|vergeten|vergat\w*|fout\w*|verkeerd\w*|laat|laten|haat\w*|nonsens|"
    r"afgewezen|afwijz\w*|genegeerd\w*|neger\w*|negeer\w*|stop\w*|gestopt|ophoud\w*|weg|kwijt|vrij|gratis|"
    r"afgeraden|hekel|moeilijk|los|eerst|pas|zeldzaam|uitgesloten|uitsluit\w*|uitgeschakeld|stuk|defect)\b",
)
_NUMBERS = Numbers(
    ones=(
        r"nul|geen",
        r"een|één|eerst|enkel",
        r"twee|beide|dubbel|paar|halve?",
        r"drie|derde",
        r"vier(?!\w*tig)|vierde|kwart",
        r"vijf(?!ti)",
        r"zes(?!ti)",
        r"zeven(?!ti)",
        r"acht(?!ti|ig)",
        r"negen(?!ti)",
    ),
    larger="tien|elf|twaalf|tig|honderd|duizend|miljo|miljard|dozijn|halve?|kwart|eeuw|decenni",
    powers=("miljoen(?:en)?|mln", "miljard(?:en)?|mld", "biljoen(?:en)?"),
)
_CLOCK = Clock(
    hours="[eé][eé]n twee drie vier vijf zes zeven acht negen tien elf twaalf",
    times=r"\b(?P<part>half|kwart (?:over|voor)) HOUR",
    minutes={"half": -30, "over": 15, "voor": -15},
    signs=("alf ", "wart "),
    told="middag|middernacht|half|kwart",
    after_hour=r"uur\b",
)
_STOPS = Stops(
    never_last="""
    dhr mevr mw dr drs ir ing mr prof jhr ca bijv resp incl excl evt mln mld
    o.a d.w.z m.a.w i.v.m m.b.t n.a.v i.p.v t.o.v t.a.v b.v d.m.v m.i.v z.g
    """,
    before_numbers="nr nrs blz afb fig art hfst tel jan feb mrt apr jun jul aug sept okt nov dec",
    often_last="a.u.b s.v.p e.d",
    openers="De Het Een Hij Zij Ze Wij We Ik Jij Dit Dat Deze Er Maar En Als Wat Wie Waarom Hoe",
)
_NAMES = Names(
    titles=(
        r"[Dd]hr\.",
        r"[Mm]evr\.",
        r"[Mm]w\.",
        "[Mm]eneer",
        "[Mm]evrouw",
        r"[Dd]e\sheer",
        r"[Dd]r\.",
    ),
    introductions=(r"[Ii]k\sheet", r"[Nn]aam\sis"),
    offices="Burgemeester|Directeur|Dokter|Dr|Generaal|Koning|Koningin|Minister|President|Prof|Professor|"
    "Rechter|Voorzitter",
    streets=(  # "Kerkstraat 5, 1012 AB Amsterdam"
        (
            rf"(?<!\w){BIG}[\w-]*(?:straat|laan|weg|plein|gracht|kade|dijk|singel|steeg)\s{HOUSE_NUMBER}"
            rf"(?:,?\s\d{{4}}\s?[A-Z]{{2}}(?:\s{BIG}{WORD})?)?"
        ),
    ),
)
_STRESSED = """
    niet nooit geen niets niemand altijd alle alles elke ieder alleen zeer heel moet moeten mag
    nee ja nu vandaag onmiddellijk direct waarschuwing belangrijk dringend gratis nieuw nieuwe
    beide voor na meer minder echt weer nog deze dit uw eerste laatste beste mogen moest
    absoluut volledig
"""
DUTCH = Tongue(
    negation=_NEGATION,
    numbers=_NUMBERS,
    sums=Sums(decimal=",", thousands=".", form="SIGN NUMBER"),
    clock=_CLOCK,
    stops=_STOPS,
    letters=LetterStyle(and_="en", no_names="Uw|Jouw|Je|Jullie|Onze?|Ons|Het|De|Een"),
    speech=SpeechStyle(stand_ins=("Nee", "Ja", "Tom"), mark_before=":"),
    names=_NAMES,
    enumeration=Enumeration(and_="en|of", commas=1),
    stressed=_STRESSED,
    small=(
        "de het een 't van in op aan met voor bij uit naar om door over onder als en of dat "
        "die dit deze je jij u hij zij ze ik wij we jullie hen hem haar zich uw mijn jouw te "
        "af toe dan"
    ),
)
