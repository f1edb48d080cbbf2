"""Numbers that a translation lacks are found, and numbers that it writes in another way are not."""

import pytest

from allyouneed.text.numerals import numbers_lost

EN_DE, DE_EN = ("en", "de"), ("de", "en")


@pytest.mark.parametrize(
    ("source", "target", "languages", "lost"),
    [
        ("The train leaves from platform 9.", "Der Zug fährt vom Bahnsteig ab.", EN_DE, ["9"]),
        ("Er wurde am 4. Juli 1976 geboren.", "He was born in July.", DE_EN, ["4", "1976"]),
        ("Peel 3 of the 19 potatoes.", "Schäle von den 19 Kartoffeln 13.", EN_DE, ["3"]),
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
        # no numbers of their own
        ("Use the A4 paper in room B22.", "Nutzen Sie das Papier.", EN_DE, []),
        ("The meeting is on 03/04/2025 at 3:30.", "Das Treffen ist dann.", EN_DE, []),
        # languages without a list of words
        ("I have 2 dogs.", "J'ai deux chiens.", ("en", "fr"), []),
        ("I have 2 dogs.", "Hunde", ("", ""), []),
    ],
)
def test_numbers_that_are_lost(
    source: str, target: str, languages: tuple[str, str], lost: list[str]
) -> None:
    assert numbers_lost(source, target, languages) == lost
