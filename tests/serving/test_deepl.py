"""DeepL's API: its official client works, and what is not there is refused by name."""

from typing import Any

import pytest

from allyouneed.serving import own
from allyouneed.serving.keys import KeyFile
from allyouneed.serving.refusal import Refused

Running = Any  # see conftest
Start = Any

deepl = pytest.importorskip("deepl")


@pytest.fixture
def translator(served: Running) -> Any:
    return deepl.Translator("any-key", server_url=served.address)


def test_the_official_client_translates(translator: Any) -> None:
    found = translator.translate_text(["Hello.", "The dog sleeps."], target_lang="DE")
    assert [one.text for one in found] == ["Hello.", "The dog sleeps."]
    assert [one.detected_source_lang for one in found] == ["EN", "EN"]
    assert [one.billed_characters for one in found] == [6, 15]
    one = translator.translate_text("Hallo.", source_lang="DE", target_lang="EN-US")
    assert one.text == "Hallo."


def test_the_official_client_lists_languages(translator: Any) -> None:
    assert [one.code for one in translator.get_source_languages()] == ["DE", "EN"]
    targets = translator.get_target_languages()
    assert [one.code for one in targets] == ["DE", "EN-GB", "EN-US"]
    assert {one.supports_formality for one in targets} == {False}


def test_weblates_way_to_ask_for_targets(served: Running) -> None:
    found = served.get("/v2/languages", params={"type": "target"}).json()
    assert "DE" in [one["language"] for one in found]
    answer = served.get("/v2/languages", params={"type": "x"})
    assert answer.status_code == 400
    assert "'type'" in answer.json()["message"]


def test_form_bodies_are_read_too(served: Running) -> None:
    answer = served.post(
        "/v2/translate",
        data={"text": ["Hello.", "dog"], "source_lang": "EN", "target_lang": "DE"},
    )
    assert [one["text"] for one in answer.json()["translations"]] == ["Hello.", "dog"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"target_lang": "ZZ"}, "Value for 'target_lang' not supported"),
        ({"source_lang": "ZZ"}, "Value for 'source_lang' not supported"),
        ({"formality": "more"}, "does not support formality"),
        ({"split_sentences": "invalid"}, "split_sentences"),
        ({"tag_handling": "rtf"}, "tag_handling"),
        ({"preserve_formatting": "some"}, "preserve_formatting"),
        ({"splitting_tags": ["p"]}, "splitting_tags is not supported"),
        ({"non_splitting_tags": ["p"]}, "non_splitting_tags is not supported"),
        ({"outline_detection": False}, "outline_detection cannot be switched off"),
        ({"tag_handling_version": "v9"}, "tag_handling_version"),
        ({"ignore_tags": ["x"]}, "ignore_tags needs tag_handling"),
        ({"translation_memory_threshold": 0}, "translation_memory_threshold is not supported"),
        ({"enable_beta_languages": True}, "enable_beta_languages"),
        ({"custom_instructions": ["be kind"]}, "custom_instructions is not supported"),
        ({"style_id": "x"}, "style_id is not supported"),
        ({"translation_memory_id": "x"}, "translation_memory_id is not supported"),
        ({"glossary_ids": ["x"]}, "glossary_ids is not supported"),
        ({"text": []}, "text"),
        ({"text": ["a"] * 51}, "Too many texts: 51"),
    ],
)
def test_what_cannot_be_done_is_refused(
    served: Running, values: dict[str, Any], message: str
) -> None:
    body = {"text": ["Hello."], "source_lang": "EN", "target_lang": "DE", **values}
    answer = served.post("/v2/translate", json=body)
    assert answer.status_code == 400
    assert message in answer.json()["message"]


@pytest.mark.parametrize("values", [{"split_sentences": "0"}, {"preserve_formatting": True}])
def test_what_the_docs_call_unused_changes_nothing(translator: Any, values: dict[str, Any]) -> None:
    text = "Hello.  The dog sleeps.\nHello."
    unused = {"tag_handling_version": "v2", "outline_detection": True, "context": "dogs"}
    asked = {"source_lang": "EN", "target_lang": "DE", "model_type": "latency_optimized"}
    found = translator.translate_text(text, **asked, **unused, **values)
    assert found.text == translator.translate_text(text, source_lang="EN", target_lang="DE").text


def test_options_that_are_left_empty_are_not_refused(served: Running) -> None:
    body = {"text": "Hello.", "target_lang": "DE", "splitting_tags": [], "style_id": None}
    body["outline_detection"] = None
    assert served.post("/v2/translate", json=body).status_code == 200


def test_newlines_are_no_ends_where_that_is_asked(served: Running) -> None:
    body = {
        "text": ["The dog\nsleeps."],
        "source_lang": "EN",
        "target_lang": "DE",
        "split_sentences": "nonewlines",
    }
    answer = served.post("/v2/translate", json=body)
    assert answer.json()["translations"][0]["text"] == "The dog sleeps."


def test_keys_usage_and_quota(start: Start, tmp_path: Any) -> None:
    key = KeyFile(tmp_path / "keys.sqlite").add("me", characters=10)
    with start() as one:
        with pytest.raises(deepl.AuthorizationException):
            deepl.Translator("invalid", server_url=one.address).get_usage()
        client = deepl.Translator(key, server_url=one.address)
        client.translate_text("Hello.", source_lang="EN", target_lang="DE")
        usage = client.get_usage()
        assert (usage.character.count, usage.character.limit) == (6, 10)
        with pytest.raises(deepl.QuotaExceededException):
            client.translate_text("Hello.", source_lang="EN", target_lang="DE")


def test_a_request_that_is_refused_later_is_not_charged(start: Start, tmp_path: Any) -> None:
    key = KeyFile(tmp_path / "keys.sqlite").add("me")
    headers = {"authorization": f"DeepL-Auth-Key {key}"}
    body = {"text": ["Hello."], "source_lang": "EN", "target_lang": "DE"}
    long = " ".join(f"The {'very ' * n} old dog." for n in range(20))

    def status(one: Any, path: str, **named: Any) -> int:
        return int(one.post(path, headers=headers, **named).status_code)

    with start(queue_tokens=30) as one:
        assert status(one, "/v2/translate", json={**body, "text": [long]}) == 503
        assert status(one, "/v2/translate", json={**body, "glossary_id": "none"}) == 404
        file = {"file": ("a.txt", long.encode())}
        assert (
            status(one, "/translate_file", files=file, data={"source": "en", "target": "de"}) == 503
        )
        streamed = {"text": long, "source": "en", "target": "de", "stream": True}
        assert status(one, "/v1/translate", json=streamed) == 503
        assert status(one, "/v2/translate", json=body) == 200
        assert one.get("/v2/usage", headers=headers).json()["character_count"] == len("Hello.")
    [entry] = KeyFile(tmp_path / "keys.sqlite").keys().values()
    assert (entry.used_characters, entry.used_requests) == (len("Hello."), 1)


def test_a_stream_that_breaks_off_is_not_charged(
    start: Start, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def breaks_off(*_: Any) -> Any:
        yield "Hallo"
        raise Refused(503, "the time is up")

    monkeypatch.setattr(own, "grow", breaks_off)
    key = KeyFile(tmp_path / "keys.sqlite").add("me")
    headers = {"authorization": f"Bearer {key}"}
    with start() as one:
        body = {"text": "Hello.", "source": "en", "target": "de", "stream": True}
        assert "the time is up" in one.post("/v1/translate", json=body, headers=headers).text
        assert one.get("/v2/usage", headers=headers).json()["character_count"] == 0


def test_omegat(served: Running) -> None:
    values = {"source": "en-US", "target": "de-DE", "text": "Hello."}
    assert served.get("/omegat", params=values).json() == {"translation": "Hello."}
    assert served.get("/omegat?source=en&target=de&text=%ff").status_code == 400
    assert served.get("/omegat?source=en&target=de&text=a&text=b").status_code == 400


def test_tags_come_back(translator: Any) -> None:
    found = translator.translate_text(
        'The <b>dog</b> sleeps &amp; <x id="5"></x>',
        source_lang="EN",
        target_lang="DE",
        tag_handling="xml",
        ignore_tags=["x"],
    )
    assert found.text.count("<b>") == found.text.count("</b>") == 1
    assert found.text.count('<x id="5"></x>') == 1
    assert "&amp;" in found.text


def test_the_language_of_tagged_texts_is_that_of_their_words(translator: Any) -> None:
    found = translator.translate_text(
        ["<p>Der <em>Hund</em> schläft unter dem Tisch.</p>", "<p>The dog sleeps here.</p>"],
        target_lang="DE",
        tag_handling="html",
    )
    assert [one.detected_source_lang for one in found] == ["DE", "EN"]
    assert found[0].text == "<p>Der <em>Hund</em> schläft unter dem Tisch.</p>"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"formality": "more"}, "does not support formality"),
        ({"output_format": "pdf"}, "output_format is not supported"),
        ({"tag_handling": "xml"}, "tag_handling"),
        ({"enable_document_minification": "true"}, "enable_document_minification"),
        ({"filename": ["a.txt", "b.txt"]}, "filename"),
        ({"anything": "else"}, "anything"),
        ({"target_lang": "ZZ"}, "Value for 'target_lang' not supported"),
    ],
)
def test_a_document_that_cannot_be_done_as_asked_is_refused(
    served: Running, values: dict[str, Any], message: str
) -> None:
    file = {"file": ("a.txt", b"Hello.")}
    answer = served.post("/v2/document", data={"target_lang": "DE", **values}, files=file)
    assert answer.status_code == 400
    assert message in answer.json()["message"]


def test_a_document_goes_there_and_back(served: Running, translator: Any) -> None:
    begun = translator.translate_document_upload(
        b"<html><p>The <b>dog</b> sleeps.</p></html>", target_lang="DE", filename="a.html"
    )
    translator.translate_document_wait_until_done(begun)
    found = b"".join(translator.translate_document_download(begun).iter_content(1000))
    assert found == b"<html><p>The <b>dog</b> sleeps.</p></html>"
    wrong = served.post(f"/v2/document/{begun.document_id}", json={"document_key": "x"})
    assert wrong.status_code == 404
    no_ascii = served.post(f"/v2/document/{begun.document_id}", json={"document_key": "Schlüssel"})
    assert no_ascii.status_code == 404
    missing = served.post("/v2/document/0", json={"document_key": "x"})
    assert missing.status_code == 404
