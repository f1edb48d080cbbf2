"""English words that the rules for texts look for."""

from allyouneed.text.tongues.tongue import (
    BIG,
    WORD,
    Clock,
    Enumeration,
    LetterStyle,
    Names,
    Negation,
    Numbers,
    ShortForms,
    SpeechStyle,
    Stops,
    Sums,
    Tongue,
)

# "Mar" and "May" are words by themselves.
_MONTHS = {
    "jan": "January",
    "feb": "February",
    "apr": "April",
    "aug": "August",
    "sep": "September",
    "sept": "September",
    "oct": "October",
    "nov": "November",
    "dec": "December",
}
_SHORT_FORMS = ShortForms(
    anywhere={
        "asap": "as soon as possible",
        "b/c": "because",
        "bday": "birthday",
        "btw": "by the way",
        "coz": "because",
        "cuz": "because",
        "dunno": "don't know",
        "fyi": "for your information",
        "gimme": "give me",
        "gonna": "going to",
        "idk": "I don't know",
        "imho": "in my opinion",
        "imo": "in my opinion",
        "lemme": "let me",
        "pls": "please",
        "plz": "please",
        "ppl": "people",
        "thanx": "thanks",
        "thx": "thanks",
        "tmrw": "tomorrow",
        "u": "you",
        "ur": "your",
        "w/": "with",
        "w/o": "without",
        "wanna": "want to",
    },
    before_words={
        "approx": "about",
        "e.g": "for example",
        "excl": "excluding",
        "i.e": "in other words",
        "incl": "including",
        "prof": "Professor",
        "u.k": "UK",
        "u.s": "US",
    },
    before_numbers={
        "approx": "about",
        "ca": "about",
        "chap": "chapter",
        "fig": "figure",
        "figs": "figures",
        "p": "page",
        "pp": "pages",
        "vol": "volume",
        **_MONTHS,
    },
    after_numbers={"hrs": "hours", "mins": "minutes", "yrs": "years", **_MONTHS},
)
_NEGATION = Negation(
    words=r"\b(?:not|no(?!\. ?\d)|never|nobody|nothing|none|neither|nor|without|cannot|nowhere"
    r"|unless|non-\w+)\b|n't\b|\b(?:can|do|does|did|is|are|was|were|wo|would|should|could|have|has|had)nt\b",
    # the tag of a question ("isn't it?"), "no matter", "don't care"
    idle=r",\s*\w+n't \w+\?|\bno matter\b|n't (?:care|mind|help)\b|\bnot only\b|\bno\. ?(?=[\w.])"
    r"|(?<=[a-z] )(?-i:No)\."
    r"|\bnot? (?:later|less|fewer|longer) than\b|\bif not\b|\bor not\b|\bneither\b(?=.*\bnor\b)"
    r"|\bwhy (?:don't|not) (?:you|we)\b|\bgoes without saying\b",
    half=r"\b(?:un|in|im|dis|ir|il|non)\w{3,}|\w+less\b|\b(?:hardly|barely|scarcely|rarely|seldom|"
    r"few|little|fail\w*|lack\w*|refus\w*|unless|only|stop\w*|avoid\w*|any\w*|miss\w*|den[yi]\w*|"
    r"rather|free|until|before|ignor\w*|empty|out|too|forg[eo]t\w*|wrong|but|ain't|keep|off|"
    r"otherwise|else|prevent\w*|prohibit\w*|forbid\w*|different|except|hate\w*|instead|yet|fear|"
    r"reject\w*|disabled?|mind|exclud\w*)\b",
)
_NUMBERS = Numbers(
    ones=(
        r"zero|\bno\b|null|nil",
        r"one|once|first|single|\ban?\b",
        r"two|twi|second|double|both|pair|couple|half",
        r"three|thir(?!t)|triple|thrice|tri",
        r"four(?!t[ei])|quart|quadr",
        r"five|fif(?!t[eiy])",
        r"six(?!t[eiy])",
        r"seven(?!t[eiy])",
        r"eight(?!een|ies|y)",
        r"nin(?!et)",
    ),
    larger=r"\bten|elev|twel|teen|ty\b|tie[st]|dozen|hundred|thousand|illion|centur|decade|half",
    powers=("millions?|mn", "billions?|bn|thousand million", "trillions?|tn"),
)
_CLOCK = Clock(
    hours="one two three four five six seven eight nine ten eleven twelve",
    times=r"\b(?P<part>half[- ]past|(?:a )?quarter (?:past|after|to)) HOUR",
    more_times=r"\bHOUR[- ](?P<part>thirty|fifteen)\b(?!-)",
    minutes={
        "half": 30,
        "half-past": 30,
        "past": 15,
        "after": 15,
        "to": -15,
        "thirty": 30,
        "fifteen": 15,
    },
    signs=("alf", "uarter", "hirty", "ifteen"),
    told="noon|midday|midnight|quarter|half",
    after_hour=r"[ap]\.?\s?m\b|o['’]clock",
)
_STOPS = Stops(
    never_last="""
    mr mrs ms mx dr drs prof st mt gen col maj sgt capt cpt cmdr lt adm rev hon gov sen rep pres
    messrs cf approx vs viz ft e.g i.e v.a m.e
    """,
    before_numbers="""
    no nos fig figs vol ch chap sec eq p pp par
    jan feb mar apr jun jul aug sep sept oct nov dec
    """,
    often_last="a.m p.m a.d b.c",
    openers="""
    The He She It They We You I This That These Those There But And If When What Who Why How
    """,
)
_NAMES = Names(
    titles=("Mr", "Mrs", "Ms", r"Mr\.", r"Mrs\.", r"Ms\.", r"Dr\.", "Professor"),
    introductions=(r"[Nn]ame\sis",),
    offices="Ambassador|Chairman|Chancellor|Dr|Mayor|Minister|President|Prof|Professor|Right|Speaker",
    streets=(  # "221B Baker Street", "12 Park Road"
        (
            rf"(?<![\w.,])\d+[A-Za-z]?\s(?:{BIG}{WORD}\s){{1,3}}(?:Street|St\.|Road|Rd\.|Avenue|Ave\.|"
            r"Lane|Drive|Square|Boulevard|Terrace|Crescent)(?!\w)"
        ),
    ),
    foreign=r"\u00c0-\u024f",
)
_STRESSED = """
    not never none nothing nobody nowhere always all every everyone everything any anything
    only very so too must cannot can't don't doesn't didn't won't isn't aren't wasn't shouldn't
    do does now today immediately please note warning caution danger attention important urgent
    free new both before after more most less really again still this that these those your
    absolutely first last best worst big same different wrong right love hate stop yes
"""
ENGLISH = Tongue(
    negation=_NEGATION,
    numbers=_NUMBERS,
    sums=Sums(decimal=".", thousands=",", form="SIGNNUMBER"),
    clock=_CLOCK,
    stops=_STOPS,
    letters=LetterStyle(and_="and", no_names="Your|The|Our"),
    speech=SpeechStyle(stand_ins=("No", "Yes", "Tom")),
    names=_NAMES,
    enumeration=Enumeration(and_="and|or", commas=1),
    stressed=_STRESSED,
    small=(
        "a an the this that these those my your his her its our their i you he she it we they "
        "me him us them to in on at of with for from by as and or into onto about over under "
        "up out off then"
    ),
    short_forms=_SHORT_FORMS,
)
