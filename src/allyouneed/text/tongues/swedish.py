"""Swedish words that the rules for texts look for."""

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
    # "utan" is "without", but "but" after a comma: "inte i dag, utan i morgon".
    words=r"\b(?:inte|ej|icke|ing(?:en|et|a|enting|enstans|endera)|aldrig|varken|nej|förbjud\w*)\b"
    r"|(?<!, )\butan\b|(?<=, )\butan att\b",
    # "inte bara", "eller inte", "inte sant?", "ingen orsak", "utan tvekan"
    idle=r"\binte (?:bara|endast|enbart|sant\?|minst|(?:mer|mindre|senare|längre) än)|, inte\?"
    r"|\b(?:eller|om) (?:inte|ej)\b"
    r"|\bing(?:en orsak|a problem|en fara)\b|\butan (?:tvekan|tvivel|vidare)\b|\binte annat än\b",
    half=r"\b(?:o(?!ch|ckså|fta|rd|rg|rs|m[rkvfsg]|med|mel|b[sjl]|n?line|vanf|ptim|pera|kt|kej|lik|liv|avse|ffi)|miss|irr)\w{3,}"
    r"|\w+(?:lös[at]?|fri[at]?|fritt)\b|\b(?:icke-?\w*|knappt|knappast|sällan|föga|få|lite|sakn\w*|"
    r"vägra\w*|förutom|utom|endast|bara|enbart|undvik\w*|undvek|förhindr\w*|hindr\w*|stället|istället|"
    r"tills|innan|förrän|annars|förbud\w*|tomt|tomma|glöm\w*|fel\w*|låt|hata\w*|avvisa\w*|avslå\w*|"
    r"avböj\w*|exkluder\w*|ignorer\w*|inaktiver\w*|sluta\w*|utan|fri[at]?|gratis|misslyck\w*|brist\w*|"
    r"borta|svår\w*|dessvärre|neka\w*|uteslut\w*|utesluter|först)\b",
)
_NUMBERS = Numbers(
    ones=(
        r"noll|\bing[ae]",
        r"\be[nt]t?\b|först|\bend[ae]|engång",
        r"två|tvu|\bandr[ae]|båda|dubb|\bpar\b|halv|tve",
        r"tre(?!tt)|tri",
        r"fyr(?!ti)|fjärde|kvart",
        r"fem(?!ti|to)",
        r"sex(?!ti|to)|sjätte",
        r"sju(?!tt)",
        r"åtta|åttond",
        r"nio|nionde",
    ),
    larger=r"tio|elva|elfte|tolv|tolft|tretton|fjorton|femton|sexton|sjutton|arton|nitton|tjug|hundra|"
    r"tusen|miljo|miljard|dussin|halv|kvart|sek[el]|århundrade|årtionde|decenni",
    powers=("miljon(?:er)?|mn|milj", "miljard(?:er)?|md", "biljon(?:er)?"),
)
_CLOCK = Clock(
    hours="ett två tre fyra fem sex sju åtta nio tio elva tolv",
    times=r"\b(?P<part>halv|kvart (?:över|i)) HOUR",
    minutes={"halv": -30, "över": 15, "i": -15},
    signs=("alv ", "vart "),
    told="middag|midnatt|kvart|halv",
    before_hour=r"klockan|kl\.?",
)
_STOPS = Stops(
    never_last="""
    dr prof hr dvs ca resp inkl exkl jfr bl.a t.ex d.v.s m.a.o p.g.a fr.o.m t.o.m f.n s.k f.d e.kr
    f.kr i.o.m
    """,
    before_numbers="kl nr sid kap fig tel jan feb apr jun jul aug sept okt nov dec",
    often_last="m.m m.fl o.s.v o.d",
    openers="""
    Den Det De En Ett Han Hon Vi Jag Du Ni Denna Detta Dessa Men Och Om När Vad Vem Varför Hur
    """,
)
_NAMES = Names(
    titles=("[Hh]err", "[Ff]ru", "[Ff]röken", r"[Dd]r\.", "[Dd]oktor"),
    introductions=(r"[Jj]ag\sheter", r"[Nn]amn\sär"),
    offices="Borgmästare|Direktör|Doktor|Domare|General|Kung|Ministern?|President|Presidenten|Professor|"
    "Talman",
    streets=(  # "Storgatan 5, 111 23 Stockholm"
        (
            rf"(?<!\w){BIG}[\w-]*(?:gatan|vägen|gränd|torget|allén|stigen)\s{HOUSE_NUMBER}"
            rf"(?:,?\s\d{{3}}\s?\d{{2}}\s{BIG}{WORD})?"
        ),
    ),
)
_STRESSED = """
    inte aldrig ingen inget inga ingenting alltid alla allt varje bara endast mycket måste nej
    ja nu idag omedelbart varning viktigt gratis ny nya nytt båda före efter mer mindre
    verkligen igen fortfarande denna detta dessa första sista bästa får skall ska absolut helt
"""
SWEDISH = Tongue(
    negation=_NEGATION,
    numbers=_NUMBERS,
    sums=Sums(decimal=",", thousands=" ", form="NUMBER SIGN"),
    clock=_CLOCK,
    stops=_STOPS,
    letters=LetterStyle(
        and_="och", no_names="Er|Ert|Din|Ditt|Vår|Vårt|Den|Det|En|Ett", after_closing=""
    ),
    speech=SpeechStyle(stand_ins=("Nej", "Ja", "Tom"), mark_before=":"),
    names=_NAMES,
    enumeration=Enumeration(and_="och|eller", commas=1),
    stressed=_STRESSED,
    small=(
        "den det de en ett i på av med för till från om under över vid efter och eller att "
        "som du jag han hon vi ni dig mig sig er din ditt dina sin sitt sina ut in upp sedan"
    ),
)
