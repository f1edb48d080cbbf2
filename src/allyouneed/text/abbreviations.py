"""Words before a full stop that does not end a sentence, in English, German, French
and Spanish."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Never at the end of a sentence: "Dr. Smith", "z. B. Katzen", "5 Mio. Euro".
NEVER_LAST = _words(
    """
    mr mrs ms mx dr drs prof st mt gen col maj sgt capt cpt cmdr lt adm rev hon gov sen rep pres
    messrs mme mlle cf approx vs viz ft
    hr hrn fr frl dipl ing univ vgl sog geb gest bzw bspw ca evtl ggf inkl exkl zzgl bes allg
    insb mio mrd hl
    mmes mlles mgr sr sra srta sres sras dra dres dña gral ud uds vd vds lic avda
    p.ex p.ej ej c.-à-d
    e.g i.e z.b d.h u.a s.o s.u u.u o.ä i.d.r v.a m.e z.t o.g
    """
)

# Abbreviations only before a number: "No. 5", "S. 12", "Jan. 3". Otherwise they are ordinary words.
BEFORE_NUMBERS = _words(
    """
    no nos nr nrn fig figs vol ch chap sec eq p pp par tel art abs abb kap bd ziff anm tab
    jan feb mar apr jun jul aug sep sept oct okt nov dec dez
    janv févr avr juil déc ene abr dic núm pág págs teléf
    """
)

# Abbreviations with dots that often end a sentence: "at 5 p.m. He left."
OFTEN_LAST = frozenset({"a.m", "p.m", "a.d", "b.c", "u.s.w", "e.v"})

# Words before an ordinal in digits, which does not end a sentence: "am 3. Oktober".
BEFORE_ORDINALS = _words(
    """
    am im zum zur vom beim ab bis seit der die das dem den des ein eine einem einen einer eines
    jeder jede jedes jeden jedem mein meine meinen meinem meiner sein seine seinen seinem seiner
    ihr ihre ihren ihrem ihrer unser unsere unseren unserem unserer
    """
)

# Words after an ordinal in digits: "3. Oktober", "19. Jahrhundert".
AFTER_ORDINALS = _words(
    """
    januar jänner februar märz april mai juni juli august september oktober november dezember
    jan feb mär apr jun jul aug sept okt nov dez jahrhundert jahrhunderts jh weltkrieg weltkriegs
    klasse platz stock geburtstag jahrestag etage kapitel auflage
    """
)

# Capitalised words that begin a sentence even after an initial: "in the U.S. The ..."
OPENERS = _words(
    """
    The He She It They We You I This That These Those There But And If When What Who Why How
    Il Elle Ils Elles Nous Vous Je On Él Ella Ellos Ellas Nosotros Yo Pero Mais
    Der Die Das Er Sie Es Wir Ihr Ich Ein Eine Aber Und Wenn Was Wer Warum Wie Dies Diese Dieser
    """
)
