"""Directions that lead through a third language: listed, translated, and said in a note."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from allyouneed.errors import UsageError
from allyouneed.serving.shelf import Shelf, ShelvedModel
from allyouneed.translation.pivot import translate_through, way
from allyouneed.translation.translator import Translator

Running = Any  # see conftest
TEXTS = ["Der Hund schläft.", "Siehe https://example.org/a?b=1 um 10:45.\nEin Mann."]


@pytest.fixture
def served(start: Callable[..., Any], copier: Translator) -> Iterator[Running]:
    """From German into English, and from English into French and Spanish."""
    pairs = [("de", "en"), ("en", "fr"), ("en", "es")]
    shelf = Shelf([ShelvedModel("-".join(pair), *pair, copier) for pair in pairs])
    with start() as one:
        one.service.desk.shelf = shelf
        yield one


def test_what_leads_through_a_third_language_is_listed(served: Running) -> None:
    targets = {one["code"]: one["targets"] for one in served.get("/languages").json()}
    assert targets["de"] == ["de", "en", "es", "fr"]
    assert targets["fr"] == ["fr"]
    listed = served.get("/v1/models").json()
    assert {"source": "de", "target": "fr", "via": "en"} in listed
    assert [one for one in listed if "engine" not in one] == [
        {"source": "de", "target": target, "via": "en"} for target in ("es", "fr")
    ]
    assert {one["language"] for one in served.get("/v2/languages?type=target").json()} >= {"FR"}


def test_english_is_preferred_between_and_a_model_to_both() -> None:
    pairs = [("de", "cs"), ("cs", "fr"), ("de", "en"), ("en", "fr"), ("en", "cs")]
    models = [ShelvedModel("-".join(pair), *pair, None) for pair in pairs]  # type: ignore[arg-type]
    assert Shelf(models).pivoted == {("de", "fr"): "en"}
    assert Shelf(models[:2]).pivoted == {("de", "fr"): "cs"}


def test_a_model_of_two_languages_goes_before_a_model_of_many() -> None:
    pairs = [("de", "en"), ("en", "de"), ("en", "fr"), ("fr", "en")]
    many = [ShelvedModel("many", *pair, None) for pair in pairs]  # type: ignore[arg-type]
    alone = ShelvedModel("alone", "en", "de", None)  # type: ignore[arg-type]
    shelf = Shelf([*many, alone])
    assert shelf.models["en", "de"] is alone
    assert shelf.models["de", "en"] is many[0]
    assert shelf.pivoted == {("de", "fr"): "en", ("fr", "de"): "en"}
    with pytest.raises(UsageError, match="two models translate from en to de"):
        Shelf([*many, alone, ShelvedModel("again", "en", "de", None)])  # type: ignore[arg-type]


def test_a_text_goes_through_the_third_language(served: Running, copier: Translator) -> None:
    asked = {"text": TEXTS, "source": "de", "target": "fr", "alignments": True}
    found = served.post("/v1/translate", json=asked).json()["translations"]
    expected = translate_through(copier, copier, TEXTS, via="en", alignments=True)
    for one, other in zip(found, expected, strict=True):
        assert one["text"] == other.text
        assert one["notes"] == list(other.notes)
        assert way("en") in one["notes"]
        assert [tuple(link) for link in one["alignment"]] == list(other.alignment or ())
    body = {"q": TEXTS, "source": "de", "target": "fr"}
    answer = served.post("/translate", json=body).json()
    assert answer["translatedText"] == [one.text for one in expected]
    body = {"text": TEXTS, "source_lang": "DE", "target_lang": "FR"}
    answer = served.post("/v2/translate", json=body).json()
    assert [one["text"] for one in answer["translations"]] == [one.text for one in expected]


def test_a_stream_comes_in_one_piece(served: Running) -> None:
    asked = {"text": TEXTS[0], "source": "de", "target": "fr", "stream": True}
    events = served.post("/v1/translate", json=asked).text
    assert events.count("event: piece") == 1
    assert way("en") in events


def test_terms_and_alternatives_need_a_model_of_their_own(served: Running) -> None:
    terms = {"text": "Hund.", "source": "de", "target": "fr", "terms": {"Hund": "chien"}}
    refused = served.post("/v1/translate", json=terms)
    assert (refused.status_code, "through en" in refused.text) == (400, True)
    refused = served.post("/v1/alternatives", json={"text": "a", "source": "de", "target": "fr"})
    assert (refused.status_code, "through English" in refused.text) == (400, True)


def test_without_a_way_it_is_refused(served: Running) -> None:
    refused = served.post("/translate", json={"q": "a", "source": "fr", "target": "de"})
    assert (refused.status_code, "is not available" in refused.text) == (400, True)
