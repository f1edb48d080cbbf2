"""The service's own API: everything about a translation, and translations as they grow."""

import json
from dataclasses import replace
from typing import Any

import pytest

from allyouneed.model_folder.confidence import Calibration
from allyouneed.serving.shelf import Shelf
from allyouneed.translation.translator import Translator

Running = Any  # see conftest


def ask(served: Running, **values: Any) -> Any:
    answer = served.post("/v1/translate", json={"target": "de", "source": "en", **values})
    assert answer.status_code == 200, answer.text
    return answer.json()["translations"]


def test_a_translation_is_that_of_the_library(served: Running, copier: Translator) -> None:
    text = "Hello.\nThe dog sleeps."
    [found] = ask(served, text=text, n_best=3, alignments=True, tokens=True)
    expected = copier(text, beam=4, n_best=3, alignments=True)
    assert found["text"] == expected.text
    assert found["score"] == pytest.approx(expected.average_log_likelihood)
    assert [one["text"] for one in found["alternatives"]] == [
        one.text for one in expected.alternatives
    ]
    assert [tuple(pair) for pair in found["alignment"]] == list(expected.alignment or ())
    assert found["tokens"] == list(expected.tokens)


def test_what_was_not_asked_for_is_left_out(served: Running) -> None:
    [found] = ask(served, text="Hello.")
    assert set(found) == {"text", "score", "source"}


def test_neighbours_change_nothing(served: Running) -> None:
    texts = ["Hello.", "The dog sleeps.", "Ein Mann fährt Fahrrad.", "x"]
    together = ask(served, text=texts)
    assert together == [ask(served, text=text)[0] for text in texts]


def test_a_prefix_begins_the_translation(served: Running) -> None:
    [found] = ask(served, text="Hello.", prefix="Hallo")
    assert found["text"].startswith("Hallo")


def test_notes_say_what_was_done(served: Running) -> None:
    [found] = ask(served, text="The dog sleeps. " * 12)
    assert "translated in" in " ".join(found["notes"])


def test_terms_are_used_and_reported(served: Running) -> None:
    terms = {"dog": "Hund", "cat": ["Katze", "Katzen"]}
    [found] = ask(served, text="The dog sleeps.", terms=terms)
    assert "Hund" in found["text"]
    [used] = found["terms"]
    assert (used["term"], used["form"]) == ("dog", "Hund")
    assert "The dog sleeps."[slice(*used["source"])] == "dog"
    assert found["text"][slice(*used["target"])] == "Hund"
    [none] = ask(served, text="Hello.", terms=terms)
    assert none["terms"] == []
    answer = served.post(
        "/v1/translate", json={"text": "a", "source": "en", "target": "de", "terms": {"!": "b"}}
    )
    assert (answer.status_code, "has no letter" in answer.text) == (400, True)


def test_a_calibrated_model_says_how_sure_it_is(
    start: Any, shelf: Shelf, copier: Translator
) -> None:
    weights = Calibration(threshold=50, text=(2.0, 1.0, *[0.0] * 7), word=(0.0, 1.0, 0.0, 0.0))
    rules = replace(copier.rules, calibration=weights)
    sure = Translator(copier.engine, copier.tokenizer, lambda: copier.model, rules)
    text = "The dog sleeps.\nSee me@example.org now."
    with start() as one:
        shelved = replace(shelf.models["en", "de"], translator=sure)
        one.service.desk.shelf = Shelf([shelved])
        [found] = ask(one, text=text)
        *_, (_, streamed) = events(one, text=text)
    expected = sure(text)
    assert found["confidence"] == pytest.approx(expected.confidence)
    assert found["word_confidences"] == pytest.approx(expected.word_confidences)
    each = [one.to_dict() for one in expected.sentence_confidences]
    assert len(each) > 1
    assert [{**one, "confidence": pytest.approx(one["confidence"])} for one in each] == found[
        "sentence_confidences"
    ]
    assert streamed["confidence"] == pytest.approx(expected.confidence)
    assert streamed["word_confidences"] == pytest.approx(expected.word_confidences)


ADDRESSES = (
    "See https://example.org/a?b=1 at 10:45.\nThe dog sleeps.\nWrite to me@example.org, 2026."
)


def test_what_is_protected_comes_through(served: Running, copier: Translator) -> None:
    [found] = ask(served, text=ADDRESSES)
    for word in ("https://example.org/a?b=1", "me@example.org", "2026", "10:45"):
        assert word in found["text"]
    expected = copier(ADDRESSES)
    assert found["text"] == expected.text
    [plain] = ask(served, text=ADDRESSES, protect=False)
    assert plain["text"] == copier(ADDRESSES, protect=False).text


def test_the_model_does_not_see_what_is_protected(
    served: Running, copier: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    search = copier.engine.search

    def watched(sources: Any, *more: Any, **named: Any) -> Any:
        seen.extend(copier.tokenizer.decode(source) for source in sources)
        return search(sources, *more, **named)

    monkeypatch.setattr(copier.engine, "search", watched)
    [found] = ask(served, text="See https://example.org/a now.")
    assert "https://example.org/a" in found["text"]
    assert seen
    assert "example" not in " ".join(seen)
    ask(served, text="See https://example.org/a now.", protect=False)
    assert "example" in " ".join(seen)


def test_other_requests_of_a_batch_are_protected_by_themselves(served: Running) -> None:
    texts = [ADDRESSES, "Hello.", "{name}: 2026", "x"]
    assert ask(served, text=texts) == [ask(served, text=text)[0] for text in texts]


def test_a_protected_text_is_streamed_by_lines(served: Running) -> None:
    *pieces, (last, whole) = events(served, text=ADDRESSES)
    assert last == "done"
    assert "".join(piece["text"] for _, piece in pieces) == whole["text"]
    [found] = ask(served, text=ADDRESSES)
    assert len(pieces) == 3
    assert (whole["text"], whole["score"]) == (found["text"], pytest.approx(found["score"]))


def events(served: Running, **values: Any) -> list[tuple[str, Any]]:
    with served.client.stream(
        "POST", "/v1/translate", json={"source": "en", "target": "de", "stream": True, **values}
    ) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        blocks = "".join(answer.iter_text()).strip().split("\n\n")
    found = []
    for block in blocks:
        event, data = block.split("\n", 1)
        found.append((event.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_a_stream_grows_into_the_whole(served: Running) -> None:
    text = "\n".join(f"Hello {n}." for n in range(80))
    found = events(served, text=text)
    *pieces, (last, whole) = found
    assert last == "done"
    assert {name for name, _ in pieces} == {"piece"}
    assert len(pieces) > 1
    assert "".join(piece["text"] for _, piece in pieces) == whole["text"]
    assert whole["text"] == ask(served, text=text)[0]["text"]


def test_a_stream_that_cannot_begin_has_a_status(served: Running) -> None:
    values = {"text": ["a", "b"], "source": "en", "target": "de", "stream": True}
    assert served.post("/v1/translate", json=values).status_code == 400
    answer = served.post("/v1/translate", json={**values, "text": "a", "target": "zz"})
    assert (answer.status_code, answer.json()) == (400, {"error": "zz is not supported"})


def test_unknown_names_are_refused(served: Running) -> None:
    answer = served.post("/v1/translate", json={"text": "a", "target": "de", "bem": 3})
    assert answer.status_code == 400
    assert "bem" in answer.json()["error"]


def test_words_that_may_follow(served: Running) -> None:
    body = {"text": "Hello.", "source": "en", "target": "de", "prefix": ""}
    found = served.post("/v1/alternatives", json=body).json()["alternatives"]
    assert found[0]["word"] == "Hello."
    assert [one["probability"] for one in found] == sorted(
        (one["probability"] for one in found), reverse=True
    )
    assert all(one["text"].startswith(one["word"]) for one in found)
    answer = served.post("/v1/alternatives", json={**body, "text": "a\nb"})
    assert answer.json() == {"error": "alternatives are for a text of one line"}
