"""Sentences of little confidence are told, though the text as a whole is sure."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import pytest

from allyouneed.decoding.options import BeamOptions
from allyouneed.model_folder.confidence import TEXT, WORD, Calibration
from allyouneed.text.normaliser import AS_TYPED
from allyouneed.translation.confidence import (
    SentenceConfidence,
    confidence_of,
    doubtful_words,
    doubts,
    sureness,
)
from allyouneed.translation.joining import joined
from allyouneed.translation.markup.marked_text import translate_marked
from allyouneed.translation.markup.plain_text import ALWAYS, Sifted
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.result import Translation


def sure(source: str, confidence: float, tokens: int = 2) -> SentenceConfidence:
    return SentenceConfidence(source, source.upper(), confidence, tokens)


def translate(texts: list[str], alignments: bool) -> Sequence[Translation]:
    """A translator that is sure of nothing that holds the word "blah"."""
    found = []
    for text in texts:
        one = sure(text, 0.1 if "blah" in text else 0.9)
        made = Translation(
            source=text,
            text=text,
            tokens=("x", "y"),
            token_log_probabilities=(-1.0, -1.0),
            confidence=one.confidence,
            sentence_confidences=(one,),
            notes=("seen", *doubts([one])),
        )
        found.append(made)
    return found


def test_which_sentences_are_told() -> None:
    known = [sure("Good morning.", 0.9), sure("I am here.", 0.8, 4)]
    assert doubts(known) == doubts([]) == []
    [note] = doubts([*known, sure("blah " * 20, 0.123), sure("Bleh.", 0.05)])
    assert note == (
        "little confidence in 2 of 4 sentences: 'blah blah blah blah blah blah blah blah…' (0.12), "
        "'Bleh.' (0.05); check them"
    )
    [note] = doubts([*known * 4, *(sure(f"Bleh {n}.", 0.01) for n in range(5))])
    assert "5 of 13 sentences: 'Bleh 0.' (0.01), 'Bleh 1.' (0.01), 'Bleh 2.' (0.01), 2 more" in note
    [note] = doubts([sure("Bleh.", 0.05), sure("Blah.", 0.15)])
    assert note.startswith("little confidence: 0.10; check the translation")


def test_a_word_by_itself_has_to_be_surer_than_a_sentence() -> None:
    assert doubts([sure("Yes.", 0.7)]) == doubts([sure("I am here.", 0.5)]) == []
    [note] = doubts([sure("wow", 0.4)])
    assert note.startswith("little confidence: 0.40; ")
    [note] = doubts([sure("wow", 0.4), sure("I am here.", 0.9)])
    assert note == "little confidence in 1 of 2 sentences: 'wow' (0.40); check them"


def test_a_text_is_no_surer_than_its_only_word() -> None:
    text, word = (9.0, *[0.0] * len(TEXT)), (-3.0, *[0.0] * len(WORD))
    sure_of_texts = Calibration(threshold=50, text=text, word=word)

    def confidence(source: str) -> float:
        pieces, ids = ["Mauer", "</s>"], [7, 1]
        return sureness(
            sure_of_texts, [-0.1, -0.1], pieces, ids, ids, source, "Mauer", finished=True
        )[0]

    assert confidence("wow") < 0.1
    assert confidence("the wall") > 0.9


def test_words_that_a_glossary_demands_count_like_the_others() -> None:
    calibration = Calibration(
        threshold=50,
        text=(3.0, 1.0, 1.0, *[0.0] * (len(TEXT) - 2)),  # by the mean and the minimum
        word=(3.0, 1.0, 1.0, 0.0),
    )
    pieces, ids = ["Das", " Wol", "ke", " ist", "</s>"], [7, 8, 9, 10, 1]

    def confidence(*log_p: float, terms: Collection[int] = ()) -> tuple[float, ...]:
        whole, words = sureness(
            calibration, log_p, pieces, ids, ids, "It is", "Das Wolke ist", terms, finished=True
        )
        return whole, *words

    doubted = confidence(-0.1, -9.0, -5.0, -0.3, -0.2)
    assert doubted[0] < 0.01
    assert doubted[2] < 0.01
    demanded = confidence(-0.1, -9.0, -5.0, -0.3, -0.2, terms={1})
    assert demanded == pytest.approx(confidence(-0.1, -0.2, -0.2, -0.3, -0.2))
    assert confidence(-9.0, -9.0, -9.0, -9.0, -0.2, terms={0, 1, 2})[0] > 0.9
    assert confidence(-0.1, -9.0, -5.0, -9.0, -0.2, terms={1})[0] < 0.01  # "ist" is unlikely, too


def test_words_of_little_confidence_are_told() -> None:
    assert doubtful_words([0.9, 0.5, 0.01, 0.02, 0.02], "Tom zog („Start“ Start -") == ("Start",)
    assert doubtful_words([0.05], "two words") == ()
    some = replace(sure("I am here.", 0.9), doubtful=("Start", "Amus"))
    [note] = doubts([some, sure("I am there.", 0.9)])
    assert note == "little confidence in the words 'Amus', 'Start'; check them"
    assert doubts([replace(some, confidence=0.1)])[0].startswith("little confidence: 0.10")


def test_the_confidence_of_a_text_is_the_mean_by_token() -> None:
    assert confidence_of([sure("a", 0.9, 1), sure("b", 0.3, 3)]) == pytest.approx(0.45)
    assert confidence_of([]) is None


def test_a_joined_text_tells_its_doubts_once() -> None:
    parts = translate(["one", "blah", "two", "three", "four"], False)
    found = joined("one\nblah\ntwo\nthree\nfour", parts, ["\n"] * 4 + [""])
    assert found.notes == (
        "seen",
        "little confidence in 1 of 5 sentences: 'blah' (0.10); check them",
    )
    assert found.confidence == pytest.approx(0.74)
    assert [one.source for one in found.sentence_confidences] == [one.source for one in parts]
    assert found.to_dict()["sentence_confidences"][1] == {
        "source": "blah",
        "text": "BLAH",
        "confidence": 0.1,
    }
    doubtful = joined("blah\nblah", [parts[1]] * 2, ["\n", ""])
    assert [note[:17] for note in doubtful.notes] == ["seen", "little confidence"]


def test_so_do_texts_with_literals_and_with_tags() -> None:
    text = "See {x} now. A blah is here. I am here."
    request = TranslationRequest(BeamOptions(), protection=ALWAYS)
    sifted = Sifted.of([f"{text}\nAnd more."], request, AS_TYPED)
    [plain] = sifted.translations(translate(sifted.plain, False), translate)
    [marked] = translate_marked(translate, [f"<p>{text}</p><p>And more.</p>"], "html")
    for found in (plain, marked):
        assert found.text.count("{x}") == 1
        sources = [one.source for one in found.sentence_confidences]
        assert sources == ["See {x} now.", "A blah is here.", "I am here.", "And more."]
        assert found.notes == (
            "seen",
            "little confidence in 1 of 4 sentences: 'A blah is here.' (0.10); check them",
        )
        assert replace(found, notes=()).confidence == pytest.approx(0.7)
