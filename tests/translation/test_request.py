"""A request knows the languages of a text, also of one whose language the user did not name, and
says whether translations are judged."""

from dataclasses import replace

import pytest

import allyouneed
from allyouneed.decoding.options import BeamOptions
from allyouneed.text.languages import Direction
from allyouneed.translation.job import Job
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.translator import Translator


@pytest.mark.parametrize(
    ("direction", "text", "languages"),
    [
        (Direction("es", "en"), "Je ne sais pas nager.", ("es", "en")),
        (Direction("", "en", sources=("es", "fr")), "Je ne sais pas nager.", ("fr", "en")),
        (Direction("", "en", sources=("es", "fr")), "No sé nadar.", ("es", "en")),
        (Direction(), "No sé nadar.", ("", "")),
    ],
)
def test_languages_of_a_text(direction: Direction, text: str, languages: tuple[str, str]) -> None:
    assert TranslationRequest(BeamOptions(), direction=direction).languages_of(text) == languages


def test_a_translation_that_is_not_judged_has_the_same_text() -> None:
    translator: Translator = allyouneed.load("en-de")
    texts = ["Das ist ein deutscher Satz, kein anderer. I like it.", "He is here."]
    judged = TranslationRequest(BeamOptions(), direction=Direction("en", "de"))
    found = {}
    for request in (judged, replace(judged, judged=False)):
        job = Job.of(texts, request, translator.segmenter)
        results = translator.search(job)
        found[request.judged] = job.translations(results, translator.segmenter)
    assert any("reads like German" in note for note in found[True][0].notes)
    for one, bare in zip(found[True], found[False], strict=True):
        assert one.confidence is not None
        assert one.word_confidences
        parts = {"confidence": None, "sentence_confidences": (), "word_confidences": ()}
        assert bare == replace(one, notes=(), **parts)
