"""Italian words that the rules for texts look for."""

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

_WITH_NON = "mai|niente|nulla|nessun[oa']?|neanche|nemmeno|neppure|né|affatto"
_NEGATION = Negation(
    # "non ... mai niente" and "nessuno ... mai" are one negation.
    words=rf"\b(?:non?|senza|{_WITH_NON}|vietat[oaie])(?!\w)"
    rf"(?:(?:(?!\bnon\b)[^,;:.!?]){{0,100}}?\b(?:{_WITH_NON})(?!\w))*",
    # "non solo", "no?", "mai?", "il più ... mai", "finché non", "non mantenuto", "non ... che"
    idle=r"\bnon (?:solo|soltanto|solamente|appena|ostante|oltre|in linea|conformità)\b"
    r"|\bnon \w+[aiu]t[oaie]\b|\bnon vedo l'ora\b|\bno\?|\b(?:o|se|uno) no\b"
    r"|\bmai\b(?=[^.!]*\?)|\b(?:finché|a meno che|prima che|di quanto|se|che) non\b|\bniente male\b"
    r"|\bsenza (?:dubbio|altro|problemi)\b|\bdi (?:niente|nulla)\b|\bné\b(?=[^;.!?]*\bné\b)"
    r"|\bnon\b(?:(?!\bnon\b)[^,;.!?]){0,100}?\bche\b|\b(?:come|quanto|che) mai\b"
    r"|\bpiù\b[^,;.!?]{0,100}? mai\b",
    half=r"\b(?:in|im|ir|il|dis|mal|anti|s(?:con|pia|for|gra|pro))\w{3,}|\b(?:appena|quasi|poc[oah]\w*|"
    r"pochi|rar\w*|sol[oaie]|soltanto|solamente|manc\w*|neg(?:a|h|o|ò)\w*|rifiut\w*|evit\w*|smett\w*|smess\w*|"
    r"dimentic\w*|ignor\w*|perd\w*|pers[oaie]|tranne|eccetto|salvo|altr\w*|prima|fino|finché|"
    r"tropp\w*|vuot\w*|fals\w*|lontan\w*|liber\w*|esclu\w*|viet\w*|null\w*|meno|ma|bensì|anziché|"
    r"invece|priv[oaie]|divers\w*|odi\w*|fall\w*|dubb?i\w*|assen\w*|fuori|proibi\w*|diment\w*)\b",
)
_NUMBERS = Numbers(
    ones=(
        r"zero|null|nessun|\bnon\b",
        r"\bun(?:[oa]\b|'|\b)|prim[oaie]|unic|\bsol[oa]\b",
        r"\bdue\b|second|doppi|coppi|entramb|ambedue|metà|mezz|bi",
        r"tr[eé]\b|terz|tri",
        r"quattro(?!c)|quart|quadr",
        r"cinque(?!c)|quint",
        r"\bsei\b|sei\b|sest",
        r"sette(?![mcn])|settim[oaie]\b",
        r"otto(?![bc])|ottav",
        r"nove(?![mc])|\bnon[oaie]\b",
    ),
    larger=r"\bdieci|decim|undici|dodici|tredici|quattordici|quindici|sedici|dicia|dicio|venti|"
    r"trenta|[ae]nt[aou']|esim|cent|\bmil|decin|secol|decenni|dozzin|mezz|quart|trimestr",
    powers=("milion[ei]|mln", "miliard[oi]|mld", "bilion[ei]|mila miliardi"),
)
_CLOCK = Clock(
    hours="una due tre quattro cinque sei sette otto nove dieci undici dodici",
    times=r"\b(?:all[e']|l[e']) ?HOUR "
    r"(?P<part>e (?:mezz[ao]|(?:un )?quarto)|meno (?:un )?quarto)\b",
    minutes={"mezza": 30, "mezzo": 30, "quarto": 15, "meno": -15},
    signs=("mezz", "quarto"),
    told=r"mezzogiorno|mezzanotte|\bquarto|e mezz[ao]",
    before_hour="ore|d?alle|le",
    after_hour=r"di (?:mattina|notte|sera)|del (?:mattino|pomeriggio)",
)
_STOPS = Stops(
    never_last="sig sigg sig.ra sig.na dott dott.ssa prof.ssa avv egr p.es",
    before_numbers="pag pagg gen giu lug ott",
    openers="Lui Lei Loro Noi Io Ma",
)
_NAMES = Names(
    titles=(
        *(rf"[Ss]ig{rest}" for rest in (r"\.", r"\.ra", "nor", "nora", "norina")),
        *(rf"[Dd]ott{rest}" for rest in (r"\.", r"\.ssa", "or", "oressa")),
    ),
    introductions=(r"[Mm]i\schiamo",),
    offices="Ambasciatore|Ambasciatrice|Direttore|Direttrice|Dottore|Dottoressa|Dr|Generale|Giudice|"
    "Ministra|Ministro|Presidente|Prof|Professore|Professoressa|Sindaca|Sindaco",
    streets=(  # "Via Garibaldi 5, 20121 Milano"
        (
            r"(?<!\w)(?i:via|viale|piazza|corso|vicolo|largo)\s"
            r"(?:(?:del|della|dei|delle|degli|di|san|santa)\s|dell['’])*"
            rf"{BIG}{WORD}(?:\s{BIG}{WORD})*,?\s{HOUSE_NUMBER}(?:,?\s\d{{5}}\s{BIG}{WORD})?"
        ),
    ),
)
_STRESSED = """
    non mai niente nulla nessuno nessun nessuna sempre tutto tutti tutta tutte ogni solo
    soltanto molto così troppo deve devono no sì adesso ora oggi subito attenzione avviso nota
    importante urgente gratis gratuito gratuita nuovo nuova nuovi nuove entrambi prima dopo più
    meno davvero ancora questo questa questi queste primo ultimo devi dobbiamo può possono
    assolutamente
"""
ITALIAN = Tongue(
    negation=_NEGATION,
    numbers=_NUMBERS,
    sums=Sums(decimal=",", thousands=".", form="NUMBER SIGN"),
    clock=_CLOCK,
    stops=_STOPS,
    letters=LetterStyle(
        and_="e",
        other_and="ed",
        before="E",
        no_names="Tuo|Tua|Suo|Sua|Nostr[oa]|Il|Lo|La|Gli|Le|Una?",
    ),
    speech=SpeechStyle(stand_ins=("No", "Sì", "Tom"), mark_before=":", stop_outside=True),
    names=_NAMES,
    enumeration=Enumeration(and_="ed?|od?", commas=1),
    stressed=_STRESSED,
    small=(
        "il lo la i gli le l un uno una di del dello della dei degli delle dell a al allo "
        "alla ai agli alle all da dal dalla dallo in nel nella nello nei nelle su sul sulla "
        "sullo con per tra fra e o che io tu lui lei noi voi loro mi ti si ci vi ne suo sua "
        "questo questa poi"
    ),
)
