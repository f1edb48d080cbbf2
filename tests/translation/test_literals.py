"""Addresses, placeholders, code and numbers in plain text come through every front door as they
were typed."""

import math
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import allyouneed
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import UsageError
from allyouneed.model_folder.confidence import Calibration
from allyouneed.text.normaliser import AS_TYPED
from allyouneed.translation.faults import repetition, told
from allyouneed.translation.markup.lost_numbers import lost_numbers
from allyouneed.translation.markup.plain_text import ALWAYS, Sifted, protection_of
from allyouneed.translation.markup.protected import Protection
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.result import Translation
from allyouneed.translation.translator import Translator

SENTENCES = [
    ("Write to anna@example.org or see https://example.org/a?b=c.",
     ["anna@example.org", "https://example.org/a?b=c"]),
    ("You can find it at www.example.com.", ["www.example.com"]),
    ("The page http://localhost:8080/index.html does not open.",
     ["http://localhost:8080/index.html"]),
    ("Please send the bill to office@my-firm.co.uk tomorrow.", ["office@my-firm.co.uk"]),
    ("Hello {name}, how are you?", ["{name}"]),
    ("You have {count} new messages.", ["{count}"]),
    ("%s has sent you a letter.", ["%s"]),
    ("There are %d books on the table.", ["%d"]),
    ("%1$s gave %2$s the key.", ["%1$s", "%2$s"]),
    ("%(user)s is not at home.", ["%(user)s"]),
    ("The file is %d%% complete.", ["%d%%"]),
    ("More than %1$d%% of the memory is used.", ["%1$d%%"]),
    ("It is 100%% ready.", ["100%%"]),
    ("Your name is ${name}.", ["${name}"]),
    ("The price is {{ price }} today.", ["{{ price }}"]),
    ("Type `git commit` and wait.", ["`git commit`"]),
    ("The word `None` is written with a capital letter.", ["`None`"]),
    ("I like #winter very much.", ["#winter"]),
    ("Ask @anna_b about it.", ["@anna_b"]),
    ("The file is in /usr/local/bin.", ["/usr/local/bin"]),
    ("Open C:\\Users\\Tom\\letter.txt, please.", ["C:\\Users\\Tom\\letter.txt"]),
    ("Keep __VAR__ and [X5X] as they are.", ["__VAR__", "[X5X]"]),
    ("He was born in 1987 in Berlin.", ["1987"]),
    ("The code is 4711.", ["4711"]),
    ("Call me at 555-0199 tomorrow.", ["555-0199"]),
    ("My room has the number 237.", ["237"]),
    ("The book has 1234 pages.", ["1234"]),
    ("Is 192.168.0.1 your address?", ["192.168.0.1"]),
    ("The train to Boston leaves at 14:35.", ["14:35"]),
    ("Version 2.0.17 is out.", ["2.0.17"]),
    ("She paid 129 dollars for it.", ["129"]),
    ("We met on 2019-03-28.", ["2019-03-28"]),
    ("Order 88412 has not arrived yet.", ["88412"]),
    ("Do you know {first_name} {last_name}?", ["{first_name}", "{last_name}"]),
    ("The address ftp://files.example.org/pub is old.", ["ftp://files.example.org/pub"]),
    ("Tom's mail address is tom.smith+news@mail.example.com, not tom@example.com.",
     ["tom.smith+news@mail.example.com", "tom@example.com"]),
    ("I saw https://example.org/a, https://example.org/b and https://example.org/c.",
     ["https://example.org/a", "https://example.org/b", "https://example.org/c"]),
    ("“Look at https://example.org/x!” she said.", ["https://example.org/x"]),
    ("  Go to ~/notes/today.md now.  ", ["~/notes/today.md"]),
    ("VISIT https://example.org/Sale AND BUY BREAD.", ["https://example.org/Sale"]),
    ("Mail {name} at {mail}, or call 030-123456.", ["{name}", "{mail}", "030-123456"]),
    ("The first is `a b`. The second is `c d`. I need both.", ["`a b`", "`c d`"]),
    ("Press %KEY% to go on.", ["%KEY%"]),
    ("I live at Goethestraße 5, 80336 München.", ["Goethestraße 5, 80336 München"]),
    ("She moved from 12 Oak Street to Elbchaussee-Ring 7.", ["12 Oak Street"]),
    ("Do you know Jürgen Größmann?", ["Jürgen Größmann"]),
    ("Mr. Quibblethwaite is not here.", ["Quibblethwaite"]),
    ("Please open config.yaml and call get_user().", ["config.yaml", "get_user()"]),
    ("You can buy it at example.com.", ["example.com"]),
    ("A man rides a bike.\nSee https://example.org/bike.\n\nHe is 42.",
     ["https://example.org/bike", "42"]),
]  # fmt: skip


@pytest.fixture(scope="module")
def english() -> Translator:
    return allyouneed.load("en-de")


@pytest.mark.parametrize(("source", "literals"), SENTENCES)
def test_every_door_carries_literals_over(
    english: Translator, source: str, literals: Sequence[str]
) -> None:
    found = english(source)
    for literal in literals:
        assert found.text.count(literal) == source.count(literal), found.text
    assert found.source == source
    assert len(found.tokens) == len(found.token_log_probabilities) > 0
    assert "".join(english.stream(source)) == english(source, beam=1).text
    [line] = english.translate_lines([source])
    assert line == found


def test_texts_with_nothing_to_protect_take_the_same_path(english: Translator) -> None:
    texts = [
        "A man rides a bike.",
        "",
        "He can't swim! Can you?\nI have 3 apples.",
        "I'm fine & you",
    ]
    assert english(texts) == english(texts, protect=False)
    request = TranslationRequest(BeamOptions(), protection=ALWAYS)
    assert Sifted.of(texts, request, AS_TYPED).plain == texts


def test_protection_can_be_switched_off(english: Translator) -> None:
    source = "Mail {name} at anna_b@mail.example.com, or open C:\\Users\\Tom\\letter.txt."
    off = english(source, protect=False)
    assert "C:\\Users\\Tom\\letter.txt" in english(source).text
    assert "C:\\Users\\Tom\\letter.txt" not in off.text
    assert (
        "".join(english.stream(source, protect=False))
        == english(source, beam=1, protect=False).text
    )
    assert [*english.translate_lines([source], protect=False)] == [off]


def test_a_users_expressions_are_protected_too(english: Translator) -> None:
    source = "We live in the Big Apple, see https://example.org."
    found = english(source, protect=["Big Apple"])
    assert "Big Apple" in found.text
    assert "https://example.org" in found.text
    with pytest.raises(UsageError, match="no regular expression"):
        english(source, protect=["("])
    with pytest.raises(UsageError, match="protect=False is for plain text"):
        english(source, markup="html", protect=False)
    with pytest.raises(UsageError, match="say which kind"):
        english(source, ignore_tags=["b"])


def test_sums_of_money_are_written_as_in_the_target_language(english: Translator) -> None:
    text = "They paid $1,200 for the old sofa."
    found = english(text, alignments=True)
    words = found.text.split()
    assert " 1.200 $ " in found.text
    assert (2, words.index("1.200")) in (found.alignment or ())
    assert len(found.word_confidences) == len(words)
    assert "$1,200" in english(text, protect=[r"\$1,2\d+"]).text
    assert "Milliarden $ " in english("The company was sold for $2.3 billion today.").text


def test_alternatives_and_alignments_of_such_texts(english: Translator) -> None:
    source = "Write to a@example.org.\nA man rides a bike.\nType `a b` here."
    found = english(source, n_best=3, alignments=True)
    assert found.alternatives[0].text == found.text
    assert len({one.text for one in found.alternatives}) == 3
    for one in found.alternatives:
        assert "a@example.org" in one.text
        assert "`a b`" in one.text
    typed, said = source.split(), found.text.split()
    links = set(found.alignment or ())
    for literal in ("a@example.org", "`a", "b`"):
        [i] = [n for n, word in enumerate(typed) if literal in word]
        [j] = [n for n, word in enumerate(said) if literal in word]
        assert (i, j) in links
    bikes = (typed.index("bike."), next(n for n, word in enumerate(said) if "Fahrrad" in word))
    assert bikes in links
    assert english(source).alignment is None


def test_a_neighbour_changes_nothing(english: Translator) -> None:
    together = english([source for source, _ in SENTENCES])
    for (source, _), beside in zip(SENTENCES, together, strict=True):
        alone = english(source)
        assert (beside.text, beside.tokens, beside.notes) == (alone.text, alone.tokens, alone.notes)
        assert beside.token_log_probabilities == pytest.approx(
            alone.token_log_probabilities, abs=1e-5
        )


def test_with_a_prefix_what_is_missing_is_told(english: Translator) -> None:
    path = "C:\\Users\\Tom\\letter.txt"
    found = english(f"Open {path}, please.", prefix="Mach")
    assert found.text.startswith("Mach")
    assert path not in found.text
    assert any("letter.txt' was not carried over" in note for note in found.notes)


def test_lone_surrogates_around_literals(english: Translator) -> None:
    found = english("See {name}\ud800 or `\udfff`.")
    found.text.encode()
    assert "{name}" in found.text
    assert any("surrogate" in note for note in found.notes)


def test_long_texts_and_none(english: Translator) -> None:
    words = "This is a long text about nothing at all, and https://example.org/a is in it. "
    found = english(words * 29)  # 406 words
    assert found.text.count("https://example.org/a") == 29
    assert len(found.text.split()) > 200
    for text in ("", " ", "\n", "Yes", "https://example.org", "{x}", "4711", "@@@", "%"):
        assert english(text).text.strip() or not text.strip()


def test_what_a_model_drops_is_told() -> None:
    """The model of this test says the same of everything."""

    def deaf(texts: list[str], alignments: bool) -> list[Translation]:
        return [_made(text, "Nichts davon") for text in texts]

    request = TranslationRequest(BeamOptions(), protection=ALWAYS)
    sifted = Sifted.of(["See {name} now.", "It is 4711."], request, AS_TYPED)
    one, two = sifted.translations(deaf(sifted.plain, False), deaf)
    assert "{name}" in one.text
    assert any("{name}" in note for note in one.notes)
    assert "4711" in two.text
    assert any("4711" in note for note in two.notes)


def _made(source: str, text: str) -> Translation:
    return Translation(source=source, text=text, tokens=("x",), token_log_probabilities=(-1.0,))


@pytest.mark.parametrize(
    ("source", "target", "lost"),
    [
        ("Call 555-123 or 555-987.", "Ruf 55-123 oder 555-987 an.", 1),
        ("The 99 man sleeps.", "Der 99er Mann schläft.", 1),
        ("am 21. März", "on 21st March", 0),
        ("Call 555-123 or 555-987.", "Ruf 555 987 oder 555 123 an.", 0),
        ("He paid 1,000 dollars.", "Er zahlte 1.000 Dollar.", 0),
        ("He paid 1,000 dollars.", "Er zahlte 1 000 Dollar.", 0),
        ("He paid 1,000 dollars.", "Er zahlte tausend.", 1),
        ("I have 3 cats.", "Ich habe drei Katzen.", 0),
        ("It weighs 3.5 kg.", "Es wiegt 35.5 kg.", 1),
        ("At 10 p.m. or 5 pm.", "Um 22 Uhr oder um fünf.", 0),
        ("At 14:35.", "Um 14.35 Uhr.", 0),
        ("In the 1990s, A320s.", "In den Neunzigern.", 0),
        ("From 16 to 17.", "Von 167.", 2),
        ("The 21 ID is 7911, I 80 am.", "Der 21ausweis ist 791.1.", 3),
        ("In 1987.", "1987年に。", 0),
        ("On 2019-03-28.", "Am 28.03.2019.", 0),
        ("Il vaut 32 768 euros.", "It is worth 32,768 euros.", 0),
        ("Il vaut 32 768 euros.", "It is worth 32,786 euros.", 1),
        ("Le 28 juillet 1888.", "On July 28th, 1888.", 0),
        ("In the 18th century.", "Au XVIIIe siècle.", 0),
        ("Il part à 15 heures.", "He leaves at 3 p.m.", 0),
    ],
)
def test_numbers_that_a_translation_lacks(source: str, target: str, lost: int) -> None:
    assert len(lost_numbers(source, target)) == lost


@pytest.mark.parametrize(
    ("source", "target", "lost"),
    [
        ("It's 25°C outside.", "Draußen ist es am 25.", ["25°C"]),
        ("It's 25°C outside.", "Draußen sind es 25 °C.", []),
        ("It's 25°C outside.", "Es ist 25°C draußen.", []),
        ("The board is 5 cm long.", "Das Brett ist 5 Uhr.", ["5 cm"]),
        ("He is 1.5 km away.", "Er ist 1,5 km entfernt.", []),
        ("Um 15:30 Uhr.", "At 2:30.", ["15:30"]),
        ("Um 15:30 Uhr.", "At 3:30 p.m.", []),
        ("At 3:30 p.m.", "Um 15.30 Uhr.", []),
        ("At 3:30 p.m.", "Um halb vier.", []),
        ("At 12:15 a.m.", "Um 0:15 Uhr.", []),
        ("Um 14.35 Uhr.", "At 14 p.m.", ["14.35"]),
        ("Um 14.00 Uhr.", "At 2 p.m.", []),
        ("am 12.05.2024", "on 12,05.2024", ["12.05.2024"]),
        ("am 12.05.2024", "on 05/12/2024", []),
        ("1,234,567.89", "1.234.567.89", ["1,234,567.89"]),
        ("1,234,567.89", "1.234.567,89", []),
        ("83.200.000 Leute", "83.200,000 people", ["83.200.000"]),
        ("83.200.000 Leute", "83,200,000 people", []),
        ("83,200 people", "83 Leute, 200", ["83,200"]),
        ("1.234,5 Meter", "1,234.5 metres", []),
        ("1 250 kg", "1,250 kg", []),
        ("1,200 m² of land", "1.200 Milliarden", ["1,200 m²"]),
        ("1,200 m² of land", "1.200 m² Land", []),
    ],
)
def test_amounts_and_times_that_a_translation_lacks(
    source: str, target: str, lost: list[str]
) -> None:
    assert lost_numbers(source, target) == lost


@given(st.text(alphabet="{}%$s#@/a1 .:[]`&;\n\\_w", max_size=40))
def test_the_quick_test_misses_nothing(text: str) -> None:
    assert ALWAYS.is_needed(text) == bool([*Protection(numbers="free").spans(text)])


@pytest.mark.parametrize("text", ["1,", "1.1 ", "12 000 "])
def test_numbers_of_long_texts_take_little_time(text: str) -> None:
    whole = text * (40_000 // len(text))
    began = perf_counter()
    lost_numbers(whole, "")
    assert perf_counter() - began < 3


def test_what_protect_means() -> None:
    assert protection_of(True) is protection_of([]) is ALWAYS
    assert protection_of(False) is None
    one, several = protection_of("Ac+me"), protection_of(["Ac+me"])
    assert one is not None
    assert several is not None
    assert one.patterns == several.patterns == ("Ac+me",)


@pytest.mark.parametrize(
    ("text", "what", "times"),
    [("", "", 0), ("a", "a", 1), ("a b a b a b c", "a b", 3), ("so so so so", "so", 4)],
)
def test_repetition(text: str, what: str, times: int) -> None:
    assert repetition(text) == (what, times)


def test_a_translation_that_repeats_itself_is_told() -> None:
    [note] = told("I am very tired.", "Ich bin sehr sehr sehr sehr müde.")
    assert "'sehr' 4 times" in note
    assert told("no no no no", "nein nein nein nein") == []
    assert told("no", "nein") == []


def test_confidence_of_texts_with_literals(english: Translator) -> None:
    """A literal is certain; what stands around it is as sure as the model is."""
    weights = Calibration(threshold=50, text=(2.0, 1.0, *[0.0] * 7), word=(0.0, 1.0, 0.0, 0.0))
    rules = replace(english.rules, calibration=weights)
    sure = Translator(english.engine, english.tokenizer, lambda: english.model, rules)
    found = sure("Write to a@example.org or ask {name}, please.\nA man rides a bike.")
    assert found.confidence is not None
    assert 0 < found.confidence < 1
    words = found.text.split()
    assert len(found.word_confidences) == len(words)
    for word, confidence in zip(words, found.word_confidences, strict=True):
        assert (confidence == 1.0) == ("a@example.org" in word or "{name}" in word)
    unfitted = replace(english.rules, calibration=None)
    plain = Translator(english.engine, english.tokenizer, lambda: english.model, unfitted)
    assert plain("See a@example.org.").word_confidences == ()
    plain = sure("A man rides a bike.")
    [log_p] = {round(p, 9) for p in [sum(plain.token_log_probabilities) / len(plain.tokens)]}
    assert plain.confidence == pytest.approx(1 / (1 + math.exp(-2 - log_p)))


def test_a_name_of_a_person_that_was_lost_is_searched_for_again() -> None:
    text = "I met Mohammed Al-Sayed at the conference yesterday."
    assert "Mohammed Al-Sayed" in allyouneed.load("en-de")(text).text
