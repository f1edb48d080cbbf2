"""Whether a translation has lost its negation."""

from time import perf_counter

import pytest

from allyouneed.text.negation import negation_lost


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("French is definitely not a difficult language.", "Französisch ist eine Sprache."),
        ("He can't swim.", "Er kann schwimmen."),
        ("He cannot swim.", "Er kann schwimmen."),
        ("Nobody came.", "Alle kamen."),
        ("I DON'T KNOW.", "ICH WEISS ES."),
        ("He said no.", "Er sagte ja."),
        ("No. Never.", "Ja."),
        ("Unless it rains, we will go.", "Wenn es regnet, gehen wir."),
        ("There is no milk, no bread and no butter.", "Es gibt keine Milch, kein Brot und Butter."),
    ],
)
def test_a_lost_negation(english: str, german: str) -> None:
    assert negation_lost(english, german, ("en", "de"))


@pytest.mark.parametrize(
    ("german", "english"),
    [
        ("Geh nicht!", "Go!"),
        ("Er hat kein Geld.", "He has money."),
        ("Nein.", "Yes."),
        ("Rauchen verboten", "Smoking"),
        ("Ich habe kein Brot und keine Milch.", "I have no bread and milk."),
    ],
)
def test_a_lost_negation_from_german(german: str, english: str) -> None:
    assert negation_lost(german, english, ("de", "en"))


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("He can't swim.", "Er kann nicht schwimmen."),
        ("It is not possible.", "Es ist unmöglich."),
        ("It's big, isn't it?", "Es ist groß, oder?"),
        ("No matter what happens.", "Was auch passiert."),
        ("The Source No. field", "Das Feld Herkunftsnummer"),
        ("Customer Phone No.", "Kundentelefon"),
        ("He sleeps.", "Er schläft."),
        ("Neither Tom nor Mary came.", "Weder Tom noch Maria kam."),
        ("I have no bread and no milk.", "Ich habe weder Brot noch Milch, nichts."),
        ("Unless it rains, we will go.", "Wir gehen, es sei denn, es regnet; sonst nicht."),
        ("Unless it rains, we will go.", "Außer bei Regen gehen wir."),
        ("He did not forget.", "Er hat daran gedacht, kaum zu glauben."),
    ],
)
def test_no_negation_is_lost(english: str, german: str) -> None:
    assert not negation_lost(english, german, ("en", "de"))


@pytest.mark.parametrize("languages", [("en", "tr"), ("", ""), ("ru", "de")])
def test_other_languages_are_not_judged(languages: tuple[str, str]) -> None:
    assert not negation_lost("He can't swim.", "Er kann schwimmen.", languages)


def test_the_answer_no_is_a_negation() -> None:
    assert not negation_lost("Nein.", "No.", ("de", "en"))
    assert negation_lost("Nein, keine.", "Room No. 5", ("de", "en"))


EN_FR, FR_EN, EN_ES, ES_EN = ("en", "fr"), ("fr", "en"), ("en", "es"), ("es", "en")


@pytest.mark.parametrize(
    ("source", "target", "languages"),
    [
        ("He can't swim.", "Il sait nager.", EN_FR),
        ("Nobody came.", "Tout le monde est venu.", EN_FR),
        ("I have no bread and no milk.", "Je n'ai pas de pain et de lait.", EN_FR),
        ("Il ne sait pas nager.", "He can swim.", FR_EN),
        ("Je n'ai plus d'argent.", "I have more money.", FR_EN),
        ("Pas de sucre, merci.", "Sugar, thanks.", FR_EN),
        ("Personne ne vient.", "Someone comes.", FR_EN),
        ("Elle est partie sans moi.", "She left with me.", FR_EN),
        ("Jamais !", "Always!", FR_EN),
        ("DÉFENSE DE FUMER", "SMOKING", FR_EN),
        ("Ni toi ni moi.", "You and me.", FR_EN),
        ("Je sais que ce n'est pas vrai.", "I know that it's true.", FR_EN),
        ("J'ai pas faim et je n'ai aucune envie.", "I am not hungry and I want to.", FR_EN),
        ("He can't swim.", "Él sabe nadar.", EN_ES),
        ("No sabe nadar.", "He can swim.", ES_EN),
        ("¿No tienes dinero?", "Do you have money?", ES_EN),
        ("Nunca he estado en París.", "I have been to Paris.", ES_EN),
        ("Nadie vino.", "Everybody came.", ES_EN),
        ("Café sin azúcar.", "Coffee with sugar.", ES_EN),
        ("No quiero ir y tampoco puedo.", "I don't want to go and I can.", ES_EN),
    ],
)
def test_a_negation_lost_in_french_or_spanish(
    source: str, target: str, languages: tuple[str, str]
) -> None:
    assert negation_lost(source, target, languages)


@pytest.mark.parametrize(
    ("source", "target", "languages"),
    [
        ("He can't swim.", "Il ne sait pas nager.", EN_FR),
        ("It is not possible.", "C'est impossible.", EN_FR),
        ("He neither smokes nor drinks.", "Il ne fume ni ne boit.", EN_FR),
        ("Il ne fume ni ne boit.", "He doesn't smoke or drink.", FR_EN),
        ("Je n'ai que dix euros.", "I have just ten euros.", FR_EN),
        ("Il fait beau, n'est-ce pas ?", "It's a nice day, right?", FR_EN),
        ("Pas seulement toi, tout le monde.", "You and everybody.", FR_EN),
        ("Il y a plus de monde que je n'en attendais.", "There are more people.", FR_EN),
        ("J'en veux plus.", "I want more.", FR_EN),
        ("Une personne attend.", "A person is waiting.", FR_EN),
        ("C'est le meilleur livre que j'aie jamais lu.", "It's the best book ever.", FR_EN),
        ("Personne n'a jamais rien dit.", "Nobody has ever said anything.", FR_EN),
        ("Il viendra sans doute.", "He will probably come.", FR_EN),
        ("Il avance à grands pas.", "He walks fast.", FR_EN),
        ("De rien !", "You're welcome!", FR_EN),
        ("He neither smokes nor drinks.", "No fuma ni bebe.", EN_ES),
        ("No tengo nada.", "I have nothing.", ES_EN),
        ("Nunca he visto nada.", "I have never seen anything.", ES_EN),
        ("Hace buen tiempo, ¿no?", "The weather is fine, right?", ES_EN),
        ("No solo tú, todos.", "You and everybody.", ES_EN),
        ("Nada más llegar, llamó.", "As soon as he arrived, he called.", ES_EN),
        ("De nada.", "You're welcome.", ES_EN),
        ("Sin embargo, vino.", "However, he came.", ES_EN),
        ("Mi padre nada muy bien.", "My father swims very well.", ES_EN),
    ],
)
def test_no_negation_is_lost_in_french_or_spanish(
    source: str, target: str, languages: tuple[str, str]
) -> None:
    assert not negation_lost(source, target, languages)


EN_NL, NL_EN, EN_SV, SV_EN = ("en", "nl"), ("nl", "en"), ("en", "sv"), ("sv", "en")
EN_PL, PL_EN = ("en", "pl"), ("pl", "en")


@pytest.mark.parametrize(
    ("source", "target", "languages"),
    [
        ("He can't swim.", "Hij kan zwemmen.", EN_NL),
        ("I have no bread and no milk.", "Ik heb geen brood en wel melk.", EN_NL),
        ("Ik heb nog nooit in Parijs gewoond.", "I have lived in Paris.", NL_EN),
        ("Kom je niet?", "Are you coming?", NL_EN),
        ("Niemand kwam.", "Everybody came.", NL_EN),
        ("Koffie zonder suiker.", "Coffee with sugar.", NL_EN),
        ("Roken verboden", "Smoking", NL_EN),
        ("He can't swim.", "Han kan simma.", EN_SV),
        ("Nobody came.", "Alla kom.", EN_SV),
        ("Han har inga pengar.", "He has money.", SV_EN),
        ("Kaffe utan socker.", "Coffee with sugar.", SV_EN),
        ("Han gick, utan att säga hej.", "He left and said hello.", SV_EN),
        ("Ingenting hände.", "Something happened.", SV_EN),
        ("Varken du eller jag.", "You and me.", SV_EN),
        ("He can't swim.", "On umie pływać.", EN_PL),
        ("Nobody came.", "Wszyscy przyszli.", EN_PL),
        ("Nikt nie przyszedł.", "Everybody came.", PL_EN),
        ("Nie mam żadnych pieniędzy.", "I have money.", PL_EN),
        ("Kawa bez cukru.", "Coffee with sugar.", PL_EN),
        ("Nie chcę iść i nie mogę.", "I don't want to go and I can.", PL_EN),
        ("Nigdy nie byłem w Paryżu.", "I have been to Paris.", PL_EN),
        ("NIE WIEM", "I KNOW", PL_EN),
        ("Ani ty, ani ja.", "You and me.", PL_EN),
    ],
)
def test_a_negation_lost_in_dutch_swedish_or_polish(
    source: str, target: str, languages: tuple[str, str]
) -> None:
    assert negation_lost(source, target, languages)


@pytest.mark.parametrize(
    ("source", "target", "languages"),
    [
        ("He can't swim.", "Hij kan niet zwemmen.", EN_NL),
        ("It is not possible.", "Het is onmogelijk.", EN_NL),
        ("He neither smokes nor drinks.", "Hij rookt noch drinkt.", EN_NL),
        ("Niet alleen jij, iedereen.", "You and everybody.", NL_EN),
        ("Mooi weer, niet?", "Nice weather, right?", NL_EN),
        ("Geen dank.", "You're welcome.", NL_EN),
        ("Noch Tom noch Maria kwam.", "Neither Tom nor Maria came.", NL_EN),
        ("It is not possible.", "Det är omöjligt.", EN_SV),
        ("Kommer du i dag, utan din bror?", "Are you coming today without him?", SV_EN),
        ("Inte i dag, utan i morgon.", "Not today, but tomorrow.", SV_EN),
        ("Han kom, utan alla visste det, i går.", "He came yesterday.", SV_EN),
        ("Inte bara du, alla.", "You and everybody.", SV_EN),
        ("Ingen orsak.", "You're welcome.", SV_EN),
        ("It is not possible.", "To niemożliwe.", EN_PL),
        ("Nikt nigdy nikomu nic nie powiedział.", "Nobody ever told anybody.", PL_EN),
        ("Nie mam ani brata, ani siostry.", "I have no brother or sister.", PL_EN),
        ("Nie ma za co.", "You're welcome.", PL_EN),
        ("Nie tylko ty, wszyscy.", "You and everybody.", PL_EN),
        ("Ładnie tu, nie?", "It's nice here, right?", PL_EN),
        ("Niektórzy przyszli bezpośrednio.", "Some came directly.", PL_EN),
        ("Why don't you sit down?", "Może usiądziesz?", EN_PL),
    ],
)
def test_no_negation_is_lost_in_dutch_swedish_or_polish(
    source: str, target: str, languages: tuple[str, str]
) -> None:
    assert not negation_lost(source, target, languages)


def test_words_that_begin_with_a_negation_may_be_none() -> None:
    assert negation_lost("He did not come.", "Han kom också ofta.", EN_SV)
    assert negation_lost("He did not come.", "Hij kwam onder de brug.", EN_NL)
    assert negation_lost("He did not come.", "Niektórzy przyszli bezpośrednio.", EN_PL)


EN_IT, IT_EN, EN_PT, PT_EN = ("en", "it"), ("it", "en"), ("en", "pt"), ("pt", "en")


@pytest.mark.parametrize(
    ("source", "target", "languages"),
    [
        ("He can't swim.", "Sa nuotare.", EN_IT),
        ("I have no bread and no milk.", "Ho pane e non ho latte.", EN_IT),
        ("Non ho mai vissuto a Parigi.", "I have lived in Paris.", IT_EN),
        ("Nessuno è venuto.", "Everybody came.", IT_EN),
        ("Caffè senza zucchero.", "Coffee with sugar.", IT_EN),
        ("Vietato fumare", "Smoking", IT_EN),
        ("NON LO SO", "I KNOW", IT_EN),
        ("He can't swim.", "Ele sabe nadar.", EN_PT),
        ("Nobody came.", "Todos vieram.", EN_PT),
        ("Nunca estive em Paris.", "I have been to Paris.", PT_EN),
        ("Não tenho dinheiro.", "I have money.", PT_EN),
        ("Café sem açúcar.", "Coffee with sugar.", PT_EN),
        ("Não quero ir e não posso.", "I don't want to go and I can.", PT_EN),
    ],
)
def test_a_negation_lost_in_italian_or_portuguese(
    source: str, target: str, languages: tuple[str, str]
) -> None:
    assert negation_lost(source, target, languages)


@pytest.mark.parametrize(
    ("source", "target", "languages"),
    [
        ("It is not possible.", "È impossibile.", EN_IT),
        ("Nessuno ha mai detto niente.", "Nobody ever said anything.", IT_EN),
        ("Sei mai stato a Parigi?", "Have you ever been to Paris?", IT_EN),
        ("È il libro più bello che abbia mai letto.", "It is the best book.", IT_EN),
        ("Non solo tu, tutti.", "You and everybody.", IT_EN),
        ("Non ho né fratelli né sorelle.", "I have no brothers or sisters.", IT_EN),
        ("Bello, no?", "Nice, right?", IT_EN),
        ("Le promesse non mantenute", "The broken promises", IT_EN),
        ("It is not possible.", "É impossível.", EN_PT),
        ("Ele nunca diz nada a ninguém.", "He never says anything.", PT_EN),
        ("Não só você, todos.", "You and everybody.", PT_EN),
        ("De nada.", "You're welcome.", PT_EN),
        ("Bonito, não é?", "Nice, right?", PT_EN),
        ("Está mais frio do que nunca.", "It is cold.", PT_EN),
    ],
)
def test_no_negation_is_lost_in_italian_or_portuguese(
    source: str, target: str, languages: tuple[str, str]
) -> None:
    assert not negation_lost(source, target, languages)


@pytest.mark.parametrize("language", ["fr", "es", "it", "pl", "pt"])
@pytest.mark.parametrize(
    "word", ["no ", "ne ", "non ", "nie ", "não ", "más ", "più ", "sem ", "senza "]
)
def test_long_texts_take_little_time(word: str, language: str) -> None:
    text = word * (20_000 // len(word))
    began = perf_counter()
    negation_lost(text, text, (language, "en"))
    assert perf_counter() - began < 3
