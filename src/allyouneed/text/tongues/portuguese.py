"""Portuguese words that the rules for texts look for."""

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

_WITH_NAO = "nada|ninguém|nunca|jamais|nenhum(?:a|as)?|nenhuns|nem|tampouco"
_NEGATION = Negation(
    # "não ... nunca nada" and "ninguém ... nada" are one negation.
    words=rf"\b(?:não|sem|{_WITH_NAO}|proibid[oa]s?)\b"
    rf"(?:(?:(?!\bnão\b)[^,;:.!?]){{0,100}}?\b(?:{_WITH_NAO})\b)*",
    # "não só", "não é?", "não cumprido", "sem dúvida", "de nada", "como ninguém", "a não ser"
    idle=r"\bnão (?:só|somente|apenas|obstante)\b|\bnão(?: é| foi)?\?|\b(?:ou|pois) não\b"
    r"|\bnão \w+[aiu]d[oa]s?\b|\ba não ser\b|\b(?:se|até que) não\b|\bnada mal\b|\bde nada\b"
    r"|\bsem (?:acesso|dúvida|dificuldade|parar|querer)\b|\bcomo ninguém\b"
    r"|\b(?:que|como) nunca\b|\bnem\b(?=[^;.!?]*\bnem\b)"
    r"|\bnão\b(?:(?!\bnão\b)[^,;.!?]){0,100}?\b(?:mais que|mais do que|senão)\b",
    half=r"\b(?:in|im|ir|il|des(?!de)|mal|anti)\w{3,}|\b(?:apenas|quase|pouc[oa]s?|rar\w*|só|somente|"
    r"sozinh\w*|falt\w*|neg\w*|recus\w*|rejeit\w*|evit\w*|deix\w*|par(?:e|ou|ar)|esquec\w*|ignor\w*|"
    r"perd\w*|perc\w*|exceto|salvo|outr[oa]s?|antes|até|demais|vazi\w*|fals\w*|longe|livre\w*|"
    r"exclu\w*|proib\w*|nul[oa]s?|menos|mas|senão|em vez|lugar|carec\w*|diferent\w*|odi\w*|"
    r"detest\w*|fracass\w*|falh\w*|duvid\w*|dúvida\w*|ausen\w*|fora)\b",
)
_NUMBERS = Numbers(
    ones=(
        r"zero|nul|nenhum|\bnão\b",
        r"\buma?s?\b|primeir|únic|\bsó\b",
        r"\bdois\b|\bduas\b|segund|dobr|\bpar\b|ambos|ambas|metade|mei[oa]|bi",
        r"três|tri|terc",
        r"quatro(?!c)|quart|quádr",
        r"cinco|quint",
        r"seis(?!c)|sext",
        r"sete(?![mc])|s[eé]tim",
        r"oito(?!c)|oitav",
        r"nove(?![mcn])|\bnon[oa]s?\b",
    ),
    larger=r"\bdez|décim|onze|doze|treze|c?atorze|quinze|vint|vigés|[eai]nta|gésim|cem\b|cent|"
    r"quinhent|\bmil|milh|bilh|dezena|século|década|mei[oa]|quarto|trimestr|dúzia",
    powers=("(?<!mil )milh(?:ão|ões)", "bi(?:lh(?:ão|ões))?|mil milhões", "tri(?:lh(?:ão|ões))?"),
)
_CLOCK = Clock(
    hours="uma duas três quatro cinco seis sete oito nove dez onze doze",
    times=r"\b(?:às?|as?|são|é|das?) HOUR (?P<part>e (?:meia|quinze)|menos (?:um )?quarto)\b",
    minutes={"meia": 30, "quinze": 15, "menos": -15},
    signs=("meia", "quinze", "quarto"),
    told=r"meio-dia|meia-noite|e meia|e quinze",
    before_hour="às|das",
    after_hour=r"h(?:oras?)?\b|da (?:manhã|tarde|noite)",
)
_STOPS = Stops(
    never_last="sr sra srta srs sras dr dra profa exmo exma",
    before_numbers="fev dez",
    openers="Ele Ela Eles Elas Nós Eu Mas",
)
_NAMES = Names(
    titles=(r"Sr\.", r"Sra\.", r"Dr\.", r"Dra\.", r"[Ss]enhor", r"[Ss]enhora"),
    introductions=(r"[Mm]e\schamo", r"[Cc]hamo-me", r"[Mm]eu\snome\sé"),
    offices="Diretor|Diretora|Doutor|Doutora|Embaixador|Embaixadora|General|Juiz|Juíza|Ministra|"
    "Ministro|Prefeita|Prefeito|Presidente|Prof|Professor|Professora",
    streets=(  # "Rua Augusta, 500, 01305-000 São Paulo"
        (
            r"(?<!\w)(?i:rua|avenida|av\.|praça|travessa|alameda)\s(?:(?:de|do|da|dos|das)\s)*"
            rf"{BIG}{WORD}(?:\s(?:d[aeo]s?\s)?{BIG}{WORD})*,?\s{HOUSE_NUMBER}"
            rf"(?:,?\s\d{{4,5}}-\d{{3}}\s{BIG}{WORD}(?:\s{BIG}{WORD})*)?"
        ),
    ),
)
_STRESSED = """
    não nunca jamais nada ninguém nenhum nenhuma sempre tudo todos todas toda cada só somente
    apenas muito tão demais deve devem sim agora hoje imediatamente atenção aviso nota
    importante urgente grátis gratuito novo nova novos novas ambos antes depois mais menos
    realmente ainda este esta estes estas primeiro último devo deves pode podem absolutamente
"""
PORTUGUESE = Tongue(
    negation=_NEGATION,
    numbers=_NUMBERS,
    sums=Sums(decimal=",", thousands=".", form="SIGN NUMBER"),
    clock=_CLOCK,
    stops=_STOPS,
    letters=LetterStyle(and_="e", no_names="Seu|Sua|Noss[oa]|Os?|As?|Uma?"),
    speech=SpeechStyle(stand_ins=("Não", "Sim", "Tom"), mark_before=":", stop_outside=True),
    names=_NAMES,
    enumeration=Enumeration(and_="e|ou", commas=1),
    stressed=_STRESSED,
    small=(
        "o a os as um uma uns umas de do da dos das ao à aos às em no na nos nas num numa por "
        "pelo pela pelos pelas com para sem sobre e ou que eu tu ele ela você nós eles elas "
        "me te se lhe seu sua este esta esse essa então"
    ),
)
