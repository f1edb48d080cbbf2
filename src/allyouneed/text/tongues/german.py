"""German words that the rules for texts look for."""

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
    words=r"\b(?:nicht(?!-)|nichts|nie|niemals|kein\w*|niemand\w*|weder|ohne|nein|nirgend\w*"
    r"|verboten|untersagt)\b",
    idle=r"\bnicht (?:nur|wahr\?)|\boder nicht\b|\bwenn nicht\b|\bnichts?\s*(?:sagend|besonder)",
    half=r"\b(?:un|miss)\w{3,}|\w+(?:los|lose[nmrs]?|frei(?:e[nmrs]?)?)\b|\b(?:kaum|selten"
    r"|wenig\w*|fehl\w*|mangel\w*|weiger\w*|außer|nur|vermeid\w*|verhinder\w*|statt|erst|bevor|bis|sonst|"
    r"verbot\w*|verbiet\w*|nee|nö|aber|leer|aus|zu|ander\w*|vergiss|vergess\w*|falsch|lass|ne|"
    r"egal|gleich|ablehn\w*|abgelehnt|hass\w*|doch|ausgeschlossen|Nicht-?\w+)\b",
)
_NUMBERS = Numbers(
    ones=(
        r"null|kein",
        r"ein|erst",
        r"zwei|zwo|beid|doppel|paar|halb",
        r"drei(?!ß|zehn)|dritt",  # "dreißig" is no 3
        r"vier(?!z)",
        r"fünf(?!z)",
        r"sech(?!z)",
        r"sieb(?!z)",
        r"acht(?!z)",
        r"neun(?!z)",
    ),
    larger="zehn|elf|zwölf|zig|dreißig|dutzend|hundert|tausend|illi|halb|viertel",
    powers=("Million(?:en)?|Mio", "Milliarden?|Mrd", "Billion(?:en)?|Bio"),
)
_CLOCK = Clock(
    hours="eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    times=r"\b(?P<part>halb|Viertel (?:nach|vor)) HOUR",
    minutes={"halb": -30, "nach": 15, "vor": -15},
    signs=("alb ", "iertel "),
    told="mittag|mitternacht|halb|viertel",
    after_hour=r"Uhr\b",
)
_STOPS = Stops(
    never_last="""
    hr hrn fr frl dipl ing univ vgl sog geb gest bzw bspw ca evtl ggf inkl exkl zzgl bes allg
    insb mio mrd hl z.b d.h u.a s.o s.u u.u o.ä i.d.r m.e z.t o.g
    """,
    before_numbers="nr nrn tel art abs abb kap bd ziff anm tab okt dez",
    often_last="u.s.w e.v",
    before_ordinals="""
    am im zum zur vom beim ab bis seit der die das dem den des ein eine einem einen einer eines
    jeder jede jedes jeden jedem mein meine meinen meinem meiner sein seine seinen seinem seiner
    ihr ihre ihren ihrem ihrer unser unsere unseren unserem unserer
    """,
    after_ordinals="""
    januar jänner februar märz april mai juni juli august september oktober november dezember
    jan feb mär apr jun jul aug sept okt nov dez jahrhundert jahrhunderts jh weltkrieg weltkriegs
    klasse platz stock geburtstag jahrestag etage kapitel auflage
    """,
    openers="""
    Der Die Das Er Sie Es Wir Ihr Ich Ein Eine Aber Und Wenn Was Wer Warum Wie Dies Diese Dieser
    """,
)
_TOWN = rf"(?:(?:,|\sin)?\s(?:[A-Z]{{1,2}}-)?\d{{4,5}}\s{BIG}{WORD}(?:\s(?:am|an\sder)\s{BIG}\w+)?)"
_NAMES = Names(
    titles=("Herr", "Herrn", "Frau", r"Dr\.", "Familie"),
    introductions=(r"[Ii]ch\sheiße", r"[Nn]ame\sist"),
    offices="Botschafter|Bürgermeister|Direktor|Doktor|Dr|Prof|General|Gott|Hauptmann|Kanzler|Kapitän|"
    r"Kommissar|Lehrer|Minister|Nachbar|Oberst|Ober|Pfarrer|Präsident|Professor|Richter|Wachtmeister|\w+in",
    streets=(
        # streets, such as "Lange Straße 5", "Goethestr. 12a, 80336 München", "Karl-Marx-Allee 3"
        (
            rf"(?<!\w)(?:{BIG}{WORD}[\s-](?:Straße|Strasse|Str\.)"
            rf"|{BIG}[\w-]+(?:straße|strasse|str\.|allee|gasse)"
            rf"|(?:{BIG}\w+-)+(?:Allee|Gasse|Weg|Platz|Ring|Ufer|Damm))\s{HOUSE_NUMBER}{_TOWN}?"
        ),
        # other places with a postal code and a town: "Am Markt 3, 10115 Berlin"
        (
            rf"(?<!\w)(?:(?:Am|Im|Zum|Zur|An\sder|Auf\sdem|In\sder)\s)?{BIG}{WORD}\s{HOUSE_NUMBER},"
            rf"\s\d{{5}}\s{BIG}{WORD}"
        ),
    ),
    foreign=r"\u00c0-\u00c3\u00c5-\u00d5\u00d8-\u00db\u00e0-\u00e3\u00e5-\u00f5\u00f8-\u00fb\u00fd-\u00ff",
    nouns_have_capitals=True,
)
_STRESSED = """
    nicht nie niemals kein keine keinen keiner nichts niemand immer alle alles jeder jede jedes
    nur sehr so muss müssen darf dürfen nein ja jetzt heute sofort bitte achtung hinweis warnung
    vorsicht gefahr wichtig neu neue neuen gratis kostenlos beide vor nach mehr weniger wirklich
    wieder noch diese dieser dieses erste letzte beste falsch richtig darfst dürft soll sollen
    sollst musst müsst kann nirgends keinem keines jedem jeden jegliche sämtliche viel völlig
    absolut unbedingt dringend stopp liebe hasse
"""
GERMAN = Tongue(
    negation=_NEGATION,
    numbers=_NUMBERS,
    sums=Sums(decimal=",", thousands=".", form="NUMBER SIGN"),
    clock=_CLOCK,
    stops=_STOPS,
    letters=LetterStyle(
        and_="und",
        no_names="Ihre?|Deine?|Eure?|Euer|Unsere?|Der|Die|Das",
        after_closing="",
    ),
    speech=SpeechStyle(stand_ins=("Nein", "Ja", "Tom"), mark_before=":"),
    names=_NAMES,
    enumeration=Enumeration(and_="und|oder", commas=2),  # a comma stands before each clause, too
    stressed=_STRESSED,
    small=(
        "der die das den dem des ein eine einen einem einer eines dieser diese dieses diesen "
        "diesem ihr ihre ihren ihrem ihrer sie er es ich du wir ihn ihm ihnen uns euch mich "
        "dich sich auf in im ins an am ans zu zum zur bei beim von vom mit für über unter aus "
        "nach um durch als wie dass und oder ab hin her vor dann"
    ),
)
