"""Lines with direct speech are translated in pieces and joined with the marks of the language."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

import allyouneed
from allyouneed.decoding.options import BeamOptions
from allyouneed.text.languages import Direction
from allyouneed.text.normaliser import AS_TYPED, PlainMarks
from allyouneed.translation.confidence import SentenceConfidence
from allyouneed.translation.markup.plain_text import ALWAYS, Sifted
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.result import Translation
from allyouneed.translation.translator import Translator

GERMAN = {
    '"No," he said.': '"Nein", sagte er.',
    '"No," asked Tom.': '"Nein" fragte Tom.',
    '"No," said Anna.': '"Nein," sagte Anna.',
    '"No," she cried.': "Nein, schrie sie.",  # lost its quotes
    '"Yes," she cried.': '"Ja", schrie sie.',
    '"No," they sang.': "Sie sangen.",
    '"Yes," they sang.': "Sie sangen.",
    '"Tom," they sang.': "Sie sangen.",
    '"La," they sang.': '"La", sangen sie.',
    'He asked, "No."': 'Er fragte, "Nein".',
    'She whispered, "No," and left.': 'Sie flüsterte, "Nein", und ging.',
    "No.": "Nein.",
    "La.": "La.",
    "I can't come.": "Ich kann nicht kommen.",
    "because I'm ill.": "Weil ich krank bin.",
    "Where are you?": "Wo bist du?",
    "Where is it?": "Wo ist es?",
    "It's late. We should go.": "Es ist spät. Wir sollten gehen.",
    "We should go.": "Wir sollten gehen.",
    "I love you.": "Ich liebe dich.",
    "Stop!": "Halt!",
    "She left.": "Sie ging.",
}
ENGLISH = {
    '"Nein", sagte er.': '"No", he said.',
    '"Nein", fragte Tom.': '"No" Tom asked.',
    'Er fragte: "Nein."': 'He asked, "No".',
    "Nein.": "No.",
    "Ich kann nicht kommen.": "I can't come.",
    "weil ich krank bin.": "Because I'm ill.",
    "Wo bist du?": "Where are you?",
    "Wo ist es?": "Where is it?",
}


def translated(
    line: str, known: Mapping[str, str], languages: tuple[str, str] = ("en", "de"), n_best: int = 1
) -> tuple[Translation, list[str]]:
    """A line's translation by a model that knows some texts by heart, and all that was asked."""
    asked: list[str] = []

    def translate(texts: list[str], alignments: bool) -> list[Translation]:
        asked.extend(texts)
        return [_made(text, known[text], n_best) for text in texts]

    request = TranslationRequest(
        BeamOptions(n_best=n_best, beam=max(n_best, 4)),
        alignments=True,
        direction=Direction(*languages),
        protection=ALWAYS,
    )
    sifted = Sifted.of([line], request, PlainMarks())
    [found] = sifted.translations(translate(sifted.plain, True), translate)
    return found, asked


def _made(source: str, text: str, n_best: int) -> Translation:
    words = len(text.split())
    made = Translation(
        source=source,
        text=text,
        tokens=(*text.split(), ""),
        token_log_probabilities=(-0.5,) * (words + 1),
        alignment=tuple((n, n) for n in range(min(words, len(source.split())))),
        confidence=0.5,
        sentence_confidences=(SentenceConfidence(source, text, 0.5, words + 1),),
        word_confidences=tuple(1 / (n + 1) for n in range(words)),
    )
    return replace(made, alternatives=(made,) * n_best) if n_best > 1 else made


@pytest.mark.parametrize(
    ("line", "german"),
    [
        ('"No," he said.', '"Nein", sagte er.'),
        ("“No,” he said.", "„Nein“, sagte er."),
        ("‘No,’ he said.", "‚Nein‘, sagte er."),
        ("  “No,” he said. ", "  „Nein“, sagte er. "),
        ("- “No,” he said.", "- „Nein“, sagte er."),
        (
            "“I can’t come,” he said, “because I’m ill.”",
            "„Ich kann nicht kommen“, sagte er, „weil ich krank bin.“",
        ),
        ("“Where are you?” asked Tom.", "„Wo bist du?“, fragte Tom."),
        ("“Stop!” she cried.", "„Halt!“, schrie sie."),
        ("He asked, “Where is it?”", "Er fragte: „Wo ist es?“"),
        ("She whispered, “I love you,” and left.", "Sie flüsterte: „Ich liebe dich“, und ging."),
        (
            "“It’s late. We should go,” said Anna.",
            "„Es ist spät. Wir sollten gehen“, sagte Anna.",
        ),
        (
            "“No,” said Anna. “We should go.” She left.",
            "„Nein“, sagte Anna. „Wir sollten gehen.“ Sie ging.",
        ),
    ],
)  # fmt: skip
def test_speech_into_german(line: str, german: str) -> None:
    known = GERMAN | {"- " + text: "- " + GERMAN[text] for text in ('"No," he said.',)}
    found, _ = translated(line, known)
    assert found.source == line
    assert found.text == german
    assert len(found.word_confidences) == len(german.split())
    assert len(found.tokens) == len(found.token_log_probabilities)


@pytest.mark.parametrize(
    ("line", "english"),
    [
        ("„Nein“, sagte er.", "“No,” he said."),
        (
            "„Ich kann nicht kommen“, sagte er, „weil ich krank bin.“",
            "“I can't come,” he said, “because I'm ill.”",
        ),
        ("„Wo bist du?“, fragte Tom.", "“Where are you?” Tom asked."),
        ('Er fragte: "Wo ist es?"', 'He asked, "Where is it?"'),
    ],
)
def test_speech_into_english(line: str, english: str) -> None:
    assert translated(line, ENGLISH, ("de", "en"))[0].text == english


def test_words_are_aligned_through_the_pieces() -> None:
    line = "“I can’t come,” he said, “because I’m ill.”"
    found, _ = translated(line, GERMAN)
    typed, said = line.split(), found.text.split()
    assert [(typed[i], said[j]) for i, j in found.alignment or ()] == [
        ("“I", "„Ich"),
        ("can’t", "kann"),
        ("come,”", "nicht"),
        ("he", "sagte"),
        ("said,", "er,"),
        ("“because", "„weil"),
        ("I’m", "ich"),
        ("ill.”", "krank"),
    ]


def test_the_confidence_of_a_line_is_that_of_its_sentences() -> None:
    found, _ = translated("“No,” said Anna. “We should go.” She left.", GERMAN)
    assert [(one.source, one.text) for one in found.sentence_confidences] == [
        ("“No,” said Anna.", '"Nein", sagte Anna.'),
        ("“We should go.”", '"Wir sollten gehen."'),
        ("She left.", "Sie ging."),
    ]
    assert found.confidence == pytest.approx(0.5)
    assert found.word_confidences == (1, 1 / 2, 1 / 3, 1, 1 / 2, 1 / 3, 1, 1 / 2)


def test_another_stand_in_is_tried_where_quotes_are_lost() -> None:
    found, asked = translated('"Stop!" she cried.', GERMAN)
    assert found.text == '"Halt!", schrie sie.'
    assert asked == ["Stop!", '"No," she cried.', "Stop!", '"Yes," she cried.']


def test_without_a_stand_in_that_stays_the_line_is_translated_as_it_is() -> None:
    found, asked = translated('"La," they sang.', GERMAN)
    assert found.text == '"La", sangen sie.'
    assert asked[-1] == '"La," they sang.'


def test_alternatives_are_joined_by_rank() -> None:
    found, _ = translated('"No," he said.', GERMAN, n_best=2)
    assert [one.text for one in found.alternatives] == ['"Nein", sagte er.'] * 2


@pytest.mark.parametrize(
    ("line", "languages", "known", "text"),
    [
        (
            "He asked, “Where is it?”",
            ("en", "fr"),
            {"Where is it?": "Où est-ce ?", 'He asked, "No."': 'Il a demandé, " Non ".'},
            "Il a demandé\u00a0: «\u00a0Où est-ce\u00a0?\u00a0»",
        ),
        (
            '"I know," he said.',
            ("en", "fr"),
            {"I know.": "Je sais.", '"No," he said.': '"Non", dit-il.'},
            '"Je sais", dit-il.',
        ),
        (
            'He said, "I know."',
            ("en", "es"),
            {"I know.": "Lo sé.", 'He said, "No."': 'Dijo: "No".'},
            'Dijo: "Lo sé".',
        ),
        (
            "« Je sais », dit-il.",
            ("fr", "en"),
            {"Je sais.": "I know.", '"Non", dit-il.': '"No," he said.'},
            "“I know,” he said.",
        ),
        (
            "Dijo: «¿Dónde está?»",
            ("es", "en"),
            {"¿Dónde está?": "Where is it?", 'Dijo: "No."': 'He said, "No."'},
            "He said, “Where is it?”",
        ),
        (
            "He said, “I know.”",
            ("en", "nl"),
            {"I know.": "Ik weet het.", 'He said, "No."': 'Hij zei, "Nee".'},
            "Hij zei: “Ik weet het.”",
        ),
        (
            "“I know,” he said.",
            ("en", "sv"),
            {"I know.": "Jag vet.", '"No," he said.': '"Nej," sa han.'},
            "”Jag vet”, sa han.",
        ),
        (
            "He said, “I know.”",
            ("en", "pl"),
            {"I know.": "Wiem.", 'He said, "No."': 'Powiedział: "Nie."'},
            "Powiedział: „Wiem”.",
        ),
        (
            "Powiedział: „Wiem”.",
            ("pl", "en"),
            {"Wiem.": "I know.", 'Powiedział: "Nie."': 'He said, "No."'},
            "He said, “I know.”",
        ),
        (
            "He said, “I know.”",
            ("en", "it"),
            {"I know.": "Lo so.", 'He said, "No."': 'Disse: "No".'},
            "Disse: «Lo so».",
        ),
        (
            "“Eu sei”, disse ele.",
            ("pt", "en"),
            {"Eu sei.": "I know.", '"Não", disse ele.': '"No," he said.'},
            "“I know,” he said.",
        ),
    ],
)
def test_speech_in_other_languages(
    line: str, languages: tuple[str, str], known: Mapping[str, str], text: str
) -> None:
    found, _ = translated(line, known, languages)
    assert found.text == text
    assert len(found.word_confidences) == len(text.split())
    assert max(n for _, n in found.alignment or ()) < len(text.split())


@pytest.mark.parametrize("languages", [("en", "tr"), ("", ""), ("tr", "de")])
def test_other_languages_are_read_as_they_are(languages: tuple[str, str]) -> None:
    line = '"No," he said.'
    found, asked = translated(line, {line: "so"}, languages)
    assert (found.text, asked) == ("so", [line])


def test_a_model_that_reads_texts_as_typed_gets_whole_lines() -> None:
    request = TranslationRequest(BeamOptions(), direction=Direction("en", "de"), protection=ALWAYS)
    assert Sifted.of(['"No," he said.'], request, AS_TYPED).plain == ['"No," he said.']


DIALOGUE: Sequence[tuple[str, str]] = (
    ("‘No,’ he said.", "‚Nein‘, sagte er."),
    (
        "“I can’t come,” he said, “because I’m ill.”",
        "„Ich kann nicht kommen“, sagte er, „weil ich krank bin.“",
    ),
    ("“Where are you?” asked Tom.", "„Wo bist du?“, fragte Tom."),
    ("“It’s late,” said Anna. “We should go home.”",
     "„Es ist spät“, sagte Anna. „Wir sollten nach Hause gehen.“"),
)  # fmt: skip


def test_the_bundled_model_keeps_the_quotes_of_dialogue() -> None:
    english: Translator = allyouneed.load("en-de")
    for line, german in DIALOGUE:
        found = english(line)
        assert found.text == german
        assert english(line, alignments=True).text == german
        assert "".join(english.stream(line)) == english(line, beam=1).text
    mail = english("“Write to anna@example.org,” he said.")
    assert mail.text.count("anna@example.org") == 1
    assert mail.text.count("„") == mail.text.count("“") == 1


def test_a_dialogue_of_any_length_takes_time_in_proportion() -> None:
    line = "“No,” said Anna. “We should go.” " * 2000
    found, _ = translated(line.strip(), GERMAN)
    assert found.text.count("„Wir sollten gehen.“") == 2000
    assert len(found.alignment or ()) == 6 * 2000
