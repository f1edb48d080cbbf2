"""Polish words that the rules for texts look for."""

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

_WITH_NIE = (
    r"nigdy|nikt|nikogo|nikomu|nikim|nic|nicz(?:ego|emu|ym|yj\w*)|nigdzie|żad(?:en|n\w+)|ani"
)
_ON = r"(?:(?!\bnie\b)[^,;:.!?]){0,100}?\b"  # within a clause, to a word that is no other "nie"
_NEGATION = Negation(
    # "nikt nigdy nie", "nie ... nikomu" and "nie ... ani ..., ani" are one negation.
    words=rf"\b(?:(?:(?:{_WITH_NIE})\b{_ON})?nie\b(?:{_ON}(?:{_WITH_NIE})\b)*"
    rf"|(?:{_WITH_NIE})\b(?:{_ON}(?:{_WITH_NIE})\b)*"
    r"|bez(?: żadn\w+)?|zabronion\w*|zakazan\w*|wzbronion\w*|zakaz)\b"
    r"(?:[^;:.!?]{0,100}?\bani\b(?: nie\b)?)*",
    # "nie tylko", "czyż nie?", "nie ma za co", "bez względu na", "o mało nie", "jeśli nie"
    idle=r"\bnie (?:tylko|ma (?:za co|sprawy)|(?:później|mniej|więcej|dłużej) niż)\b|, nie\?"
    r"|\b(?:czy|czyż|lub|albo|jeśli|jeżeli|co) nie\b"
    r"|\bnie (?:żyj\w+|śpi|spal?\w*|spiesz\w*|mo(?:że\w*|gę|gą|gl?\w+) się doczekać)\b"
    r"|\b(?:żałuj\w+|szkoda),? że nie\b|\bbez (?:względu|wątpienia|przerwy|ustanku)\b"
    r"|\b(?:o mało|omal)(?: co)? nie\b|\bnic (?:dziwnego|innego)\b|\bani\b(?=[^;.!?]*\bani\b)"
    r"|\b(?:póki|dopóki|zanim|aż)\b[^,;.!?]{0,100}?\bnie\b",
    half=r"\b(?:nie(?!któ|stet|daw|dług|mal|mie)|bez(?!po|pie|wzg)|anty)\w{3,}|\b(?:brak\w*|ledwo|ledwie|"
    r"rzadk\w*|mał[oy]|niewiel\w*|odm[aó]w\w*|unik\w*|oprócz|poza|tylko|jedynie|dopiero|zapobie\w*|"
    r"zamiast|aż|póki|dopóki|zanim|przed|inaczej|zabr[ao]ni\w*|zakaz\w*|pust\w*|zapomn\w*|zapomin\w*|"
    r"źle|przesta\w*|niż|woln[aey]|darmo\w*|zaprzecz\w*|odrzuc\w*|ignorow\w*|ignoruj\w*|zignor\w*|"
    r"wyklucz\w*|wyłącz\w*|strac\w*|wcale|daleko|trudn\w*|wątpi\w*|skąd|non|negatywn\w*|wbrew|"
    r"pomin\w*|pomij\w*|chyba|przeciw\w*|wzbrania\w*|szkoda|pozbawi\w*|bynajmniej|gdzie tam)\b",
)
_NUMBERS = Numbers(
    ones=(
        r"zer|żad|\bnie\b|brak",
        r"jed[en]|pierw|\braz|jedyn|poje?dyn",
        (
            r"dwa(?!dz|na)|dwie(?!ś)|dwó|dwu(?!d|n|s)|dwo|drug|oba|oby|obie|obu|obo|\bpar[aęyo]|podw|pół"
            r"|połow"
        ),
        r"trz(?!yd|yn|ys)|troj|trój",
        r"czter(?!dz|na|ys|n)|czwar|czwó|kwart|kwadr",
        r"pię(?!ćdz|tn|ćs)|piąt",
        r"sześ(?!ćdz|ćs)|szóst",
        r"siedem(?!dz|n|s)|siedmi(?!on|odz)|siód",
        r"osiem(?!dz|n|s)|ośmi(?!odz)|ósm",
        r"dziewię(?!ćdz|tn|ćs)|dziewiąt",
    ),
    larger=r"dzies|dziesi|naś|naście|dwudz|\bst[ou]\b|set|ście\b|sta\b|tysi|tys\b|mili|mln|mld|tuzin|pół|"
    r"wiek|stulec|dekad|kwadr|kwart|półtor",
    powers=(r"milion\w*|mln", r"miliard\w*|mld", r"bilion\w*|bln"),
)
_CLOCK = Clock(
    hours=r"pierwsz\w+ drug\w+ trzeci\w* czwart\w+ piąt\w+ szóst\w+ siódm\w+ ósm\w+ dziewiąt\w+"
    r" dziesiąt\w+ jedenast\w+ dwunast\w+",
    times=r"\b(?P<part>wpół do|za kwadrans|kwadrans (?:po|przed|do)) (?:godzin\w+ )?HOUR",
    minutes={"wpół": -30, "po": 15, "do": -15, "przed": -15, "za": -15},
    signs=("pół do", "wadrans"),
    told="połud|północ|kwadrans|wpół",
    before_hour=r"godz\.|godzin\w+|o",
)
_STOPS = Stops(
    never_last="""
    np tzn tj tzw dr prof hab inż mgr ks płk św ul mln mld tys wg ww lek woj m.in ds
    """,
    before_numbers="godz nr str tel poz art ust rozdz rys tab ok",
    often_last="n.e p.n.e",
    after_ordinals="""
    stycznia lutego kwietnia czerwca lipca sierpnia września października listopada grudnia wieku
    rocznica rocznicy
    """,
    openers="To Ten Ta On Ona Oni My Wy Ja Ty Ale I Jeśli Kiedy Gdy Co Kto Dlaczego Jak Nie Czy",
)
_NAMES = Names(
    titles=("[Pp]an",),  # names behind "pani" may be inflected
    introductions=(r"[Nn]azywam\ssię", r"[Mm]am\sna\simię"),
    offices="Bóg|Burmistrz|Doktor|Dyrektor|Generał|Kapitan|Minister|Premier|Prezes|Prezydent|"
    "Profesor|Sędzia",
    streets=(  # "ul. Długa 5, 00-238 Warszawa"
        (
            rf"(?<=\b[Uu]l\.\s){BIG}{WORD}(?:\s{BIG}{WORD})*\s{HOUSE_NUMBER}"
            rf"(?:,?\s\d\d-\d{{3}}\s{BIG}{WORD})?"
        ),
    ),
    declined=True,
)
_STRESSED = """
    nie nigdy nic nikt żaden żadna zawsze wszystko wszyscy każdy tylko bardzo zbyt musi muszą
    teraz dziś natychmiast uwaga ostrzeżenie ważne pilne gratis nowy nowa nowe przed więcej
    mniej naprawdę znowu jeszcze pierwszy ostatni
"""
POLISH = Tongue(
    negation=_NEGATION,
    numbers=_NUMBERS,
    sums=Sums(decimal=",", thousands=" ", form="NUMBER SIGN"),
    clock=_CLOCK,
    stops=_STOPS,
    letters=LetterStyle(
        and_="i", no_names=r"Wasz\w*|Twój|Twoja|Nasz\w*|Państw\w*", after_closing=""
    ),
    speech=SpeechStyle(stand_ins=("Nie", "Tak", "Tom"), mark_before=":", stop_outside=True),
    names=_NAMES,
    enumeration=Enumeration(
        and_="i|oraz|lub|albo|czy|ani", commas=2
    ),  # a comma stands before each clause, too
    stressed=_STRESSED,
    small=(
        "w we na z ze do od o po za przez przy dla pod nad i lub oraz a że to ten ta te się "
        "ja ty on ona my wy oni jego jej ich mu go potem"
    ),
)
