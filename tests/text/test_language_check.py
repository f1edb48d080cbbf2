"""Texts that are not in the language that they should be in are told, and others are not."""

import pytest

from allyouneed.text.language_check import FLOOR, SURE, _lines, _table, likeliest, misfit, trigrams

SENTENCES = {
    "cs": "Kde je tady nejbližší nádraží, prosím vás?",
    "de": "Ich lasse meine Schwester meinen neuen Computer benutzen.",
    "en": "I let my sister use my new computer.",
    "es": "No sé por qué ayer no quería hablar conmigo ni con mis padres.",
    "fr": "Je ne parle pas français du tout.",
    "it": "Non so perché ieri sera non è venuto da noi con gli altri.",
    "nl": "Ik weet niet waarom hij gisteren niet gekomen is.",
    "pl": "Nie wiem, dlaczego on wczoraj nie przyszedł.",
    "pt": "Não sei por que ele não veio ontem à noite.",
    "ro": "Nu știu de ce nu a venit aseară la noi.",
    "ru": "Я не знаю, почему он вчера не пришёл.",
    "sv": "Jag vet inte varför han inte kom i går kväll.",
    "tr": "Dün akşam neden gelmediğini bilmiyorum.",
    "uk": "Я не знаю, чому він учора не прийшов до нас, хоча обіцяв.",
    "vi": "Tôi không biết tại sao hôm qua anh ấy không đến.",
}


@pytest.mark.parametrize("asked", SENTENCES)
@pytest.mark.parametrize("written", SENTENCES)
def test_each_language_is_told_from_each_other(asked: str, written: str) -> None:
    found = misfit(SENTENCES[written], asked)
    assert (found is None) == (asked == written)


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        (SENTENCES["de"], "English", "reads like German, not English"),
        (SENTENCES["de"].upper(), "en", "reads like German, not English"),
        (SENTENCES["fr"], "en", "reads like French, not English"),
        ("xkq vzwp jhgf qqrt zzlm wvxk pqzj", "en", "does not read like English"),
        ("Где находится вокзал?", "en", "is in Cyrillic letters, not in English"),
        ("請問火車站在哪裡", "en", "is in Chinese signs, not in English"),
        ("Where is the station?", "ja", "is in Latin letters, not in Japanese"),
        # too little to go by, or a name
        ("Bitte.", "en", None),
        ("Azure", "ja", None),
        ("Tom Müller", "en", None),
        ("Max Schröder, Düsseldorf-Gerresheim", "en", None),
        ("ICH HEISSE MAX UND WOHNE HIER", "en", "reads like German, not English"),
        ("", "en", None),
        ("12.5 % + 3 !!", "en", None),
        # a language that there is no table for
        ("I let my sister use my new computer.", "fi", None),
        (SENTENCES["de"], "", None),
    ],
)
def test_what_is_said(text: str, language: str, found: str | None) -> None:
    assert misfit(text, language) == found


def test_no_false_alarm_in_everyday_english() -> None:
    for text in (
        "Tom lives in Berlin.",
        "No, Maria!",
        "He can't swim, but she can.",
        "Angela Merkel was the chancellor of Germany.",
        "Our new house has three rooms and a garden.",
        "GOOD MORNING, EVERYBODY!",
        "“Hello,” she said.",
        "Dear Sir or Madam,",
        "Albert Einstein was born in Ulm.",
        "Angela Merkel met Emmanuel Macron in Brussels.",
        "Wolfgang Schmidt lives in Bad Homburg.",
        "Dear Mr. Nguyen and Mrs. Oliveira,",
    ):
        assert misfit(text, "en") is None


@pytest.mark.parametrize(
    ("text", "languages", "found"),
    [
        (SENTENCES["fr"], ("es", "fr"), "fr"),
        (SENTENCES["es"], ("es", "fr"), "es"),
        ("Où est la gare ?", ("es", "fr"), "fr"),
        ("Cordialement", ("es", "fr"), "fr"),
        ("12.5 %", ("es", "fr"), "es"),
        (SENTENCES["fr"], ("fr",), "fr"),
        (SENTENCES["fr"], ("fi", "fr"), ""),  # there is no table for one of them
        (SENTENCES["fr"], (), ""),
        (SENTENCES["fr"], ("ru", "zh", "fr", "es"), "fr"),
        ("東京駅はどこですか。", ("de", "zh", "ja"), "ja"),
        ("株価は大幅上昇", ("de", "zh", "ja"), "ja"),
        ("火车站在哪里？", ("de", "ja", "zh"), "zh"),
        ("火车站在哪里？", ("zh", "ja"), "zh"),
        (SENTENCES["fr"], ("zh", "ja"), ""),
        ("我的 iPhone 坏了", ("en", "zh"), "zh"),
        ("我用 Microsoft Word 写信", ("en", "de", "zh"), "zh"),
        ("The sign 火车 means train.", ("de", "en", "zh"), "en"),
        ("Де вокзал і коли їде потяг?", ("de", "ru", "uk"), "uk"),
        ("iPhone працює", ("de", "ru", "uk", "ja"), "uk"),
    ],
)
def test_the_likeliest_of_some_languages(text: str, languages: list[str], found: str) -> None:
    assert likeliest(text, languages) == found


def test_the_first_language_is_preferred() -> None:
    assert likeliest("Hola", ("de", "es"), SURE) == "de"
    assert likeliest("Hola", ("de", "es", "ja", "zh"), SURE) == "de"
    assert likeliest(SENTENCES["es"], ("de", "es"), SURE) == "es"


def test_letters_are_composed_first() -> None:
    decomposed = "La fenêtre a été réparée".replace("ê", "e\u0302").replace("é", "e\u0301")
    assert trigrams(decomposed) == trigrams("La fenêtre a été réparée")
    assert trigrams("Don’t!") == trigrams("don't") == {" do", "don", "on'", "n't", "'t "}


def test_the_file_holds_log_probabilities() -> None:
    assert sorted(_lines()) == sorted(SENTENCES)
    for code in _lines():
        table = _table(code)
        assert len(table) == 1500
        assert all(len(trigram) == 3 for trigram in table)
        assert FLOOR <= min(table.values()) < max(table.values()) < 0


@pytest.mark.parametrize(("word", "language"), [("lundi", "fr"), ("Hund", "en"), ("lunes", "en")])
def test_a_single_short_word_is_not_judged(word: str, language: str) -> None:
    assert misfit(word, language) is None
