"""A model with a normaliser reads what it has learnt, and its user sees what was typed."""

from dataclasses import replace
from typing import Any

import pytest

import allyouneed
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.options import BeamOptions
from allyouneed.insight.trace import trace
from allyouneed.text.languages import Languages
from allyouneed.translation.rules import TextRules
from allyouneed.translation.translator import Translator

CURLY = "“It’s late” — the dog\u00a0slee\u00adps…"
DRESSED = "„It’s late“ – the dog sleeps…"  # as the copier says it, in German marks


@pytest.fixture(scope="module")
def reader(copier: Translator) -> Translator:
    """The model that says what it reads, and reads plain marks."""
    return Translator(
        copier.engine,
        copier.tokenizer,
        lambda: copier.model,
        TextRules(normaliser="plain-marks", language="German"),
    )


def test_the_model_reads_plain_marks_and_the_user_gets_those_of_the_language(
    reader: Translator, copier: Translator
) -> None:
    assert reader(CURLY).text == DRESSED
    found = reader("“A\u00a0dog” – sl\u00adeeps…")
    assert found.source == "“A\u00a0dog” – sl\u00adeeps…"
    assert found.text == "„A dog“ – sleeps…"
    assert found.tokens == copier('"A dog" - sleeps...').tokens
    assert found.notes == ()


def test_copied_numbers_are_written_as_the_language_does(copier: Translator) -> None:
    def into(source: str, target: str) -> Translator:
        speaks = Languages.of_pair(source, target)
        rules = TextRules(normaliser="plain-marks", speaks=speaks)
        return Translator(copier.engine, copier.tokenizer, lambda: copier.model, rules)

    text = "The dog sleeps 3.5 km away."
    assert into("English", "German")(text).text == "The dog sleeps 3,5 km away."
    assert copier(text).text == text
    evening = "The dog sleeps at 19:30 p.m. now."
    assert into("German", "English")(evening).text == "The dog sleeps at 7:30 p.m. now."


def test_the_model_reads_times_of_24_hours(copier: Translator) -> None:
    rules = TextRules(normaliser="plain-marks", speaks=Languages.of_pair("English", "German"))
    reader = Translator(copier.engine, copier.tokenizer, lambda: copier.model, rules)
    found = reader("The dog sleeps at 7:30 pm.", alignments=True)
    assert found.tokens == copier("The dog sleeps at 19:30.").tokens
    assert found.text == "The dog sleeps at 19:30."
    assert found.alignment is not None
    assert dict(found.alignment)[5] == 4  # "7:30 pm" is tied by its last word
    assert reader("THE DOG SLEEPS AT 5 PM").text == "THE DOG SLEEPS AT 17:00"
    assert trace(reader, "The dog sleeps at 7:30 pm.").text == found.text
    [score] = reader.score(["The dog sleeps at 7:30 pm."], [found.text])
    assert score.log_probability == pytest.approx(found.log_probability, abs=1e-4)
    english = replace(rules, speaks=Languages.of_pair("English", "English"))
    same = Translator(copier.engine, copier.tokenizer, lambda: copier.model, english)
    assert same("The dog sleeps at 7:30 pm.").text == "The dog sleeps at 7:30 pm."


def test_plain_text_is_translated_as_without_a_normaliser(
    reader: Translator, copier: Translator
) -> None:
    for text in ('"It\'s" - so...', "The dog sleeps.\n\n A man.", "", "  "):
        assert reader(text) == copier(text)


def test_all_doors_agree(reader: Translator) -> None:
    lines = [CURLY, "The dog sleeps.", "“A man” –"]
    texts = [reader(line).text for line in lines]
    assert [found.text for found in reader.translate_lines(lines)] == texts
    assert ["".join(reader.stream(line)) for line in lines] == texts
    plain, curly = reader.score(['It\'s "so"', "It’s “so”"], ['It\'s "so"', "It’s „so“"])
    assert plain == curly
    assert reader.attention("“so”", "„so“")[:2] == reader.attention('"so"', '"so"')[:2]


def test_lines_end_where_unicode_says(reader: Translator) -> None:
    text = "The dog.\u2028A man.\x85\r\nA bike.\vSo."
    found = reader(text)
    assert found.text == text
    assert found.tokens.count(reader.tokenizer.piece(reader.config.end)) == 4


def test_alignments_count_the_words_that_were_typed(reader: Translator) -> None:
    found = reader("so—late\u00a0“man” \u200b dog", alignments=True)
    assert found.text == "so – late „man“ dog"
    assert found.alignment == (
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 3),
        (3, 4),
    )  # "\u200b" is a word to Python, and unseen


def test_what_nobody_sees_is_blank(reader: Translator) -> None:
    found = reader("\u200b\n\ufeffA man.")
    assert found.text == "\u200b\nA man."


def test_a_prefix_stays_exact(reader: Translator) -> None:
    options = BeamOptions(beam=1, max_length=12)
    found = reader("“A” “A”", options=options, prefix='"A')
    assert found.text.startswith('"A')
    assert found.text.endswith("„A“")
    assert "".join(reader.stream("“A” “A”", prefix='"A')) == found.text


def test_the_trace_has_the_places_of_what_was_typed(reader: Translator) -> None:
    found = trace(reader, CURLY, lens=False)
    assert found.source_text == CURLY
    read = [CURLY[slice(*token.span)] for token in found.source]
    assert "".join(read).rstrip("…").replace(" ", "") == CURLY.rstrip("…").replace(" ", "")
    assert read[-2:] == ["…", ""]  # one of three full stops, and the end
    assert any("quotes, dashes" in note for note in found.notes)


@pytest.mark.parametrize("model", ["en-de", "de-en"])
def test_the_bundled_models_read_what_people_type(model: str) -> None:
    translator = allyouneed.load(model)
    plain = ["He can't swim.", "A man rides a bike.", '"Hallo", sagte sie.']
    typed = ["He can’t swim.", "A man\trides\u00a0a bi\u00adke.", "„Hallo“, sagte sie."]
    for one, other in zip(translator(plain), translator(typed), strict=True):
        assert one.tokens == other.tokens


# Capitals


@pytest.fixture
def small_reader(reader: Translator, monkeypatch: pytest.MonkeyPatch) -> Translator:
    """The same model, to which small letters are always the more probable ones."""
    search = reader.engine.search

    def shouting(one: Hypothesis) -> bool:
        return reader.tokenizer.decode(one.ids).isupper()

    def prefer_small(ids: Any, *rest: Any, **named: Any) -> Any:
        found = search(ids, *rest, **named)
        return [
            [replace(one, log_probability=one.log_probability - 50 * shouting(one)) for one in best]
            for best in found
        ]

    monkeypatch.setattr(reader.engine, "search", prefer_small)
    return reader


def test_a_line_in_capitals_is_read_in_small_letters_and_given_back_in_capitals(
    small_reader: Translator,
) -> None:
    found = small_reader("THE DOG.\nThe man SO.", alignments=True)
    assert found.text == "THE DOG.\nThe man SO."
    assert "".join(found.tokens).startswith(" The dog.")  # what the model said
    assert found.alignment == ((0, 0), (1, 1), (2, 2), (3, 3), (4, 4))
    assert "".join(small_reader.stream("THE DOG.\nThe man SO.")) == found.text


def test_where_capitals_are_more_probable_they_are_taken(reader: Translator) -> None:
    with pytest.MonkeyPatch.context() as patch:
        search = reader.engine.search

        def prefer_capitals(ids: Any, *rest: Any, **named: Any) -> Any:
            found = search(ids, *rest, **named)
            return [
                [replace(h, log_probability=h.log_probability - 50 * n) for h in best]
                for n, best in enumerate(found)
            ]

        patch.setattr(reader.engine, "search", prefer_capitals)
        assert "".join(reader("THE DOG.").tokens).startswith(" THE")
        assert reader("THE DOG.").text == "THE DOG."


def test_a_prefix_says_how_the_translation_is_written(small_reader: Translator) -> None:
    assert small_reader("THE DOG.", prefix="THE").text.startswith("THE")
    assert "".join(small_reader("THE DOG.", prefix="THE").tokens).startswith(" THE")


def test_alternatives_are_in_capitals_too(small_reader: Translator) -> None:
    found = small_reader("THE DOG.", n_best=3)
    assert all(one.text.isupper() for one in found.alternatives)


# Edges


@pytest.mark.parametrize(
    ("text", "tokens_of"),
    [
        ("- The dog.", "The dog."),
        ("1. The dog.\n2. A man.", "The dog.\nA man."),
        ("“The dog.”", "The dog."),
        ("(A man.)", "A man."),
        ("The dog. 🎉", "The dog."),
        ("dog\tman", "dog\nman"),
    ],
)
def test_the_model_reads_a_sentence_without_its_edges(
    reader: Translator, text: str, tokens_of: str
) -> None:
    found = reader(text)
    assert found.text == text.replace("“", "„").replace("”", "“")
    assert found.tokens == reader(tokens_of).tokens
    assert "".join(reader.stream(text)) == found.text
    assert reader(text, alignments=True).text == found.text


def test_edges_do_not_move_an_alignment(reader: Translator) -> None:
    plain = reader("The dog sleeps.", alignments=True).alignment
    quoted = reader("“The dog sleeps.”", alignments=True).alignment
    listed = reader("1. The dog sleeps.", alignments=True).alignment
    assert plain
    assert quoted == plain
    assert listed == tuple((i + 1, j + 1) for i, j in plain)


def test_a_prefix_stands_before_everything(reader: Translator) -> None:
    found = reader("“The dog.”", prefix="A man")
    assert found.text.startswith("A man")


def test_a_trace_shows_the_edges(reader: Translator) -> None:
    found = trace(reader, "- “The dog.” 🎉", lens=False)
    assert found.text == '- "The dog." 🎉'
    assert "".join(token.text for token in found.target if token.text).strip()


def test_a_text_of_symbols_stays_as_it_is(reader: Translator) -> None:
    for text in ("🎉", "---", "...", "?!"):
        found = reader(text)
        assert (found.text, found.tokens) == (text, ())
