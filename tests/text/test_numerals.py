"""Numbers that a translation lacks are found, and numbers that it writes in another way are not."""

import pytest

from allyouneed.text.numerals import numbers_lost

EN_DE, DE_EN = ("en", "de"), ("de", "en")
EN_NL, NL_EN, EN_SV, SV_EN = ("en", "nl"), ("nl", "en"), ("en", "sv"), ("sv", "en")
EN_PL, PL_EN = ("en", "pl"), ("pl", "en")
EN_IT, IT_EN, EN_PT, PT_EN = ("en", "it"), ("it", "en"), ("en", "pt"), ("pt", "en")
EN_FR, FR_EN, EN_ES, ES_EN = ("en", "fr"), ("fr", "en"), ("en", "es"), ("es", "en")


@pytest.mark.parametrize(
    ("source", "target", "languages", "lost"),
    [
        ("The train leaves from platform 9.", "Der Zug fährt vom Bahnsteig ab.", EN_DE, ["9"]),
        ("Er wurde am 4. Juli 1976 geboren.", "He was born in July.", DE_EN, ["4", "1976"]),
        ("Peel 3 of the 19 potatoes.", "Schäle von den 19 Kartoffeln 13.", EN_DE, ["3"]),
        # Spanish "o" is "or"; Polish "o 3" is a time.
        ("Trae 2 o 3 a las 15.00 h.", "Bring two at 15:00.", ("es", "en"), ["3"]),
        ("Przyjdź o 3.", "Come at 15:00.", ("pl", "en"), []),
        ("It grew to 3,400,000.", "Es wuchs auf 3.400.", EN_DE, ["3,400,000"]),
        ("It leaves at 10:30 on 3 May.", "Er fährt um zehn Uhr dreißig im Mai ab.", EN_DE, ["3"]),
        ("Es sind 6 von ihnen.", "There are sixty of them.", DE_EN, ["6"]),
        ("At 10:30 a.m. on 3 May, he left.", "Am 3. Mai ging er.", EN_DE, ["10:30"]),
        ("Er ging um 16:15 Uhr.", "He left.", DE_EN, ["16:15"]),
        # in another form
        ("At 10:30 a.m. on 3 May, he left.", "Am 3. Mai um halb elf ging er.", EN_DE, []),
        ("He left at 4:15 pm.", "Er ging um 16 Uhr 15.", EN_DE, []),
        ("He left at 4:15 pm.", "Um Viertel nach vier ging er.", EN_DE, []),
        ("Er ging um 12:00 Uhr.", "He left at noon.", DE_EN, []),
        ("It grew to 3,400,000.", "Es wuchs auf 3.400.000.", EN_DE, []),
        ("It grew to 3,400,000.", "Es wuchs auf 3 400 000.", EN_DE, []),
        ("Es kostet 3,50 Euro.", "It costs 3.50 euros.", DE_EN, []),
        ("Er kommt um 7.45 Uhr.", "He comes at 7:45.", DE_EN, []),
        ("Wir kommen am 3. Juni.", "We come on June 3rd.", DE_EN, []),
        ("I have 2 dogs.", "Ich habe zwei Hunde.", EN_DE, []),
        ("Sie wurden 4., 8. und 9.", "They came fourth, eighth and ninth.", DE_EN, []),
        ("Wir haben 1 Kind.", "We have a child.", DE_EN, []),
        ("He won by 20 points.", "Er gewann mit zwanzig Punkten.", EN_DE, []),
        ("Das 19. Jahrhundert", "The nineteenth century", DE_EN, []),
        ("Over 12,000 people", "Über zwölftausend Menschen", EN_DE, []),
        # hours of another clock
        ("Er kommt um 15 Uhr.", "He comes at 3 p.m.", DE_EN, []),
        ("He left at 3 pm.", "Il est parti à 15 heures.", EN_FR, []),
        ("Il est parti à 15 h.", "He left at 3 pm.", FR_EN, []),
        ("Er kommt um 15 Uhr.", "He comes at 5 p.m.", DE_EN, ["15"]),
        # French and Spanish
        ("I have 2 dogs.", "J'ai deux chiens.", EN_FR, []),
        ("I have 2 dogs.", "J'ai des chiens.", EN_FR, ["2"]),
        ("Il a 80 ans.", "He is eighty years old.", FR_EN, []),
        ("I have 4.", "J'en ai quatre-vingts.", EN_FR, ["4"]),
        ("Il vient à 14 h 30.", "He comes at 2:30 p.m.", FR_EN, []),
        ("He comes at 2:30 p.m.", "Il vient à 30 p.m.", EN_FR, ["2:30"]),
        ("He comes at 2:30 p.m.", "Viene a las dos y media.", EN_ES, []),
        ("Il vient à 14h30.", "He comes at half past two.", FR_EN, []),
        ("Il vient à 14 h 30.", "He comes.", FR_EN, ["14 h 30"]),
        ("Ça coûte 12 000 euros.", "It costs 12,000 euros.", FR_EN, []),
        ("Ça coûte 12 000 euros.", "It costs 12 euros.", FR_EN, ["12000"]),
        ("Le 1er mai", "The first of May", FR_EN, []),
        ("It costs 3.50 euros.", "Ça coûte 3,50 euros.", EN_FR, []),
        ("Son las 3 de la tarde.", "It's 3 p.m.", ES_EN, []),
        ("He left at 3 pm.", "Salió a las 15 horas.", EN_ES, []),
        ("I am 30.", "Tengo treinta años.", EN_ES, []),
        ("I am 30.", "Tengo tres años.", EN_ES, ["30"]),
        ("El 2.º piso", "The second floor", ES_EN, []),
        ("Hay 1.500 personas.", "There are 1,500 people.", ES_EN, []),
        # Dutch, Swedish and Polish
        ("I have 2 dogs.", "Ik heb twee honden.", EN_NL, []),
        ("I have 2 dogs.", "Ik heb honden.", EN_NL, ["2"]),
        ("I have 4 dogs.", "Ik heb veertig honden.", EN_NL, ["4"]),
        ("I have 8 dogs.", "Ik heb tachtig honden.", EN_NL, ["8"]),
        ("Hij kwam als 3e van de 19.", "He came third of nineteen.", NL_EN, []),
        ("Er waren 24 honden.", "There were twenty-four dogs.", NL_EN, []),
        ("Over 12,000 people", "Meer dan twaalfduizend mensen", EN_NL, []),
        ("He left at 3 pm.", "Hij ging om 15 uur.", EN_NL, []),
        ("Het kost 3,50 euro.", "It costs 3.50 euros.", NL_EN, []),
        ("Hij komt om 15.30 uur.", "He comes.", NL_EN, ["15.30"]),
        ("I have 2 dogs.", "Jag har två hundar.", EN_SV, []),
        ("I have 2 dogs.", "Jag har hundar.", EN_SV, ["2"]),
        ("I have 8 dogs.", "Jag har åttio hundar.", EN_SV, ["8"]),
        ("Den 2:a gången", "The second time", SV_EN, []),
        ("There are 21.", "Det finns tjugoen.", EN_SV, []),
        ("He left at 3 pm.", "Han gick kl. 15.", EN_SV, []),
        ("He left at 3:30 pm.", "Han gick klockan 15.30.", EN_SV, []),
        ("Han kommer kl. 15.30.", "He comes at 3:30 p.m.", SV_EN, []),
        ("Han kommer kl 15.30.", "He comes at half past three.", SV_EN, []),
        ("Han kommer kl. 15.30.", "He comes.", SV_EN, ["kl. 15.30"]),
        ("Det kostar 12 000 kronor.", "It costs 12 kronor.", SV_EN, ["12000"]),
        ("I have 2 dogs.", "Mam dwa psy.", EN_PL, []),
        ("I have 2 dogs.", "Mam dwadzieścia psów.", EN_PL, ["2"]),
        ("I have 5 dogs.", "Mam pięćdziesiąt psów.", EN_PL, ["5"]),
        ("I have 3 dogs.", "Mam trzynaście psów.", EN_PL, ["3"]),
        ("With 2 friends, on the 3rd day", "Z dwojgiem przyjaciół, trzeciego dnia", EN_PL, []),
        ("Miał 300 koni.", "He had three hundred horses.", PL_EN, []),
        ("He had 300 horses.", "Miał trzysta koni.", EN_PL, []),
        ("He left at 3 pm.", "Wyszedł o 15.", EN_PL, []),
        ("He left at 3:30 pm.", "Wyszedł o godz. 15.30.", EN_PL, []),
        ("Pociąg odjeżdża o 15:30.", "The train leaves at 3:30 p.m.", PL_EN, []),
        ("Pociąg odjeżdża o 15.30.", "The train leaves.", PL_EN, ["o 15.30"]),
        ("He left at 3 pm.", "Wyszedł o 17.", EN_PL, ["3"]),
        # Italian and Portuguese
        ("I have 2 dogs.", "Ho due cani.", EN_IT, []),
        ("I have 2 dogs.", "Ho dei cani.", EN_IT, ["2"]),
        ("I have 7 dogs.", "Ho settanta cani.", EN_IT, ["7"]),
        ("I have 8 dogs.", "Ho ottocento cani.", EN_IT, ["8"]),
        ("Il 3º piano", "The third floor", IT_EN, []),
        ("Ci sono 1.500 persone.", "There are 1,500 people.", IT_EN, []),
        ("He left at 3 pm.", "È partito alle 15.", EN_IT, []),
        ("I am 30.", "Ho trent'anni.", EN_IT, []),
        ("I have 2 dogs.", "Tenho dois cachorros.", EN_PT, []),
        ("I have 2 dogs.", "Tenho cachorros.", EN_PT, ["2"]),
        ("I have 9 dogs.", "Tenho noventa cachorros.", EN_PT, ["9"]),
        ("O 2º andar", "The second floor", PT_EN, []),
        ("São 3 da tarde.", "It's 3 p.m.", PT_EN, []),
        ("He left at 3 pm.", "Ele saiu às 15h.", EN_PT, []),
        ("He left at 2:30 p.m.", "Ele saiu às duas e meia.", EN_PT, []),
        # no numbers of their own
        ("Use the A4 paper in room B22.", "Nutzen Sie das Papier.", EN_DE, []),
        ("The meeting is on 03/04/2025 at 3:30.", "Das Treffen ist dann.", EN_DE, []),
        # languages without a list of words
        ("I have 2 dogs.", "İki köpeğim var.", ("en", "tr"), []),
        ("I have 2 dogs.", "Hunde", ("", ""), []),
    ],
)
def test_numbers_that_are_lost(
    source: str, target: str, languages: tuple[str, str], lost: list[str]
) -> None:
    assert numbers_lost(source, target, languages) == lost
