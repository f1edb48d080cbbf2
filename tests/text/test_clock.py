"""Times that a translation lacks, and times by a clock of 24 hours."""

import pytest

from allyouneed.text.clock import in_12_hours, in_24_hours, times_lost
from allyouneed.translation.markup.rewriting import Rewriting

EN_DE, DE_EN = ("en", "de"), ("de", "en")


@pytest.mark.parametrize(
    ("source", "target", "languages"),
    [
        ("at half past seven", "um halb acht", EN_DE),
        ("Half past 12.", "Halb eins.", EN_DE),
        ("at half past seven", "um 19:30 Uhr", EN_DE),
        ("It is a quarter to three.", "Es ist Viertel vor drei.", EN_DE),
        ("um halb eins", "at 12:30", DE_EN),
        ("um halb sieben heute", "at six-thirty today, at half-past six", DE_EN),
        ("um halb sieben", "at 6:30 or six thirty-five", DE_EN),
        ("at 9:00-18:00", "von 9 bis 18 Uhr", EN_DE),
        ("at 2:30", "um zwei Uhr dreißig", EN_DE),
        ("at 7:30 pm", "um halb acht", EN_DE),
        ("at 7:30 pm", "um 19:30 Uhr", EN_DE),
        ("at 7:30", "um acht", EN_DE),
        ("Es ist Viertel nach drei.", "It's a quarter past three.", DE_EN),
        ("um halb \u017fieben", "at half past \u017fix or 6:30", DE_EN),
        ("99:75, 16:61", "99 zu 75", EN_DE),
        ("Er war halb tot.", "He was half dead.", DE_EN),
        ("Es ist halb acht.", "Saat yedi.", ("de", "tr")),
        ("at half past seven", "à sept heures et demie", ("en", "fr")),
        ("It is a quarter to three.", "Il est trois heures moins le quart.", ("en", "fr")),
        ("It is a quarter to three.", "Il est 14 h 45.", ("en", "fr")),
        ("at half past seven", "à 7h30", ("en", "fr")),
        ("à 3 heures et quart", "at a quarter past three", ("fr", "en")),
        ("at half past seven", "a las siete y media", ("en", "es")),
        ("Son las tres menos cuarto.", "It's a quarter to three.", ("es", "en")),
        ("at half past six", "om half zeven", ("en", "nl")),
        ("Het is kwart over één.", "It's a quarter past one.", ("nl", "en")),
        ("Kom om kwart voor 8.", "Come at 7:45.", ("nl", "en")),
        ("at half past six", "klockan halv sju", ("en", "sv")),
        ("Den är kvart i ett.", "It's a quarter to one.", ("sv", "en")),
        ("kvart över tolv", "12:15", ("sv", "en")),
        ("at half past six", "o wpół do siódmej", ("en", "pl")),
        ("kwadrans po drugiej", "a quarter past two", ("pl", "en")),
        ("Jest za kwadrans pierwsza.", "It's a quarter to one.", ("pl", "en")),
        ("wpół do pierwszej", "12.30", ("pl", "en")),
        ("at half past six", "alle sei e mezza", ("en", "it")),
        ("Sono le sei meno un quarto.", "It's a quarter to six.", ("it", "en")),
        ("all'una e un quarto", "1:15", ("it", "en")),
        ("at half past six", "às seis e meia", ("en", "pt")),
        ("São sete e quinze.", "It's a quarter past seven.", ("pt", "en")),
        ("un quarto di vino e mezza mela, meia maçã", "a quarter and half", ("it", "en")),
        ("een half brood in een kwartier", "half a loaf in a quarter", ("nl", "en")),
        ("un demi-frère et la media naranja", "a half-brother", ("fr", "en")),
    ],
)
def test_no_lost_time(source: str, target: str, languages: tuple[str, str]) -> None:
    assert times_lost(source, target, languages) == []


@pytest.mark.parametrize(
    ("source", "target", "languages", "lost"),
    [
        ("at half past seven", "um halb sieben", EN_DE, ["half past seven"]),
        ("It is a quarter to three.", "Es ist drei.", EN_DE, ["a quarter to three"]),
        ("um halb acht", "at 8:30", DE_EN, ["halb acht"]),
        ("at 7:30 pm", "um halb sieben", EN_DE, ["7:30"]),
        ("from 9:00-18:00", "ab 9:00 Uhr", EN_DE, ["18:00"]),
        ("at 2:30", "um 2 Uhr", EN_DE, ["2:30"]),
        ("um halb sieben", "at six thirty-five", DE_EN, ["halb sieben"]),
        ("from 7:30 to 8:15", "von halb acht bis Viertel vor acht", EN_DE, ["8:15"]),
        ("at half past seven", "à sept heures", ("en", "fr"), ["half past seven"]),
        ("à huit heures et demie", "half past seven", ("fr", "en"), ["huit heures et demie"]),
        ("a la una menos cuarto", "at one", ("es", "en"), ["la una menos cuarto"]),
        ("om half zeven", "at half past seven", ("nl", "en"), ["half zeven"]),
        ("klockan halv sju", "at seven", ("sv", "en"), ["halv sju"]),
        ("o wpół do siódmej", "at half past seven", ("pl", "en"), ["wpół do siódmej"]),
        ("at half past six", "o szóstej", ("en", "pl"), ["half past six"]),
        ("a quarter to six", "kwart over zes", ("en", "nl"), ["a quarter to six"]),
        ("alle sei e mezza", "at half past seven", ("it", "en"), ["alle sei e mezza"]),
        ("às onze e meia", "at eleven", ("pt", "en"), ["às onze e meia"]),
        ("at half past six", "às seis", ("en", "pt"), ["half past six"]),
        ("Viertel nach drei, nicht halb 4", "quarter to three, not 3.30", DE_EN, 1),
    ],
)
def test_a_lost_time(
    source: str, target: str, languages: tuple[str, str], lost: list[str] | int
) -> None:
    found = times_lost(source, target, languages)
    assert (len(found) if isinstance(lost, int) else found) == lost


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("at 7:30 pm", "at 19:30"),
        ("at 5 p.m., not 5 a.m.", "at 17:00, not 5:00."),
        ("Come at 5 p.m.", "Come at 17:00."),
        ("Is 5 p.m. too late? 11PM!", "Is 17:00 too late? 23:00!"),
        ("12 am, 12 pm, 12.05 a. m. now", "0:00, 12:00, 0:05 now"),
        ("3-4 pm, 11-2 pm, 10:30 - 11 am", "15:00-16:00, 11:00-14:00, 10:30 - 11:00"),
        ("from 3 to 4 pm, between 2 and 3 pm", "from 15:00 to 16:00, between 14:00 and 15:00"),
        ("10 to 5 pm, 10–1 am, 5-5 pm", "10 to 17:00, 22:00–1:00, 17:00-17:00"),
        ('"At 5 p.m."', '"At 17:00."'),
        ("It costs $5 pm.", None),
        ("9 am - 5:15 pm, Mon-Fri 9am-6pm", "9:00 - 17:15, Mon-Fri 9:00-18:00"),
        ("13 pm 0 am 17:30 pm 1.5pm x5am 5amp 5a", None),
    ],
)
def test_times_of_the_afternoon_by_a_clock_of_24_hours(text: str, written: str | None) -> None:
    found = Rewriting(text, in_24_hours(text, EN_DE)).text
    assert found == (written or text)
    assert list(in_24_hours(text, ("en", "en"))) == list(in_24_hours(text, DE_EN)) == []


def test_times_with_an_h() -> None:
    text = "à 19h30 ou 9 h 05, en 24 h, 3h, 25h10, x19h30, 19h300"
    found = Rewriting(text, in_24_hours(text, ("fr", "en"))).text
    assert found == "à 19:30 ou 9:05, en 24 h, 3h, 25h10, x19h30, 19h300"
    assert list(in_24_hours(text, ("fr", "fr"))) == list(in_24_hours(text, EN_DE)) == []


def test_no_times_of_24_hours_with_pm() -> None:
    text = "at 19:30 p.m., 17 p.m. and 22pm, not 12 pm, 7 p.m., 24 pm or 13 a.m."
    assert in_12_hours(text) == "at 7:30 p.m., 5 p.m. and 10pm, not 12 pm, 7 p.m., 24 pm or 13 a.m."
