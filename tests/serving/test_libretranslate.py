"""LibreTranslate's API: shapes and messages as its clients know them; its clients themselves."""

import json
from typing import Any

import httpx
import pytest

from allyouneed.documents.memory import read_tmx
from allyouneed.serving import desk
from allyouneed.serving.shelf import open_shelf

Running = Any  # see conftest
Start = Any


def translate(served: Running, **values: Any) -> Any:
    answer = served.post("/translate", json={"source": "en", "target": "de", **values})
    return answer.json()


def test_a_text(served: Running) -> None:
    assert translate(served, q="Hello.") == {"translatedText": "Hello."}


def test_a_list_keeps_its_order_and_its_blanks(served: Running) -> None:
    texts = ["The dog sleeps.", "", "Hello.", " \n "]
    assert translate(served, q=texts) == {"translatedText": texts}


def test_line_ends_and_spaces_stay(served: Running) -> None:
    text = "  Hello.\n\n\tThe dog sleeps. \n"
    assert translate(served, q=text)["translatedText"] == text


@pytest.mark.parametrize("way", ["json", "data", "params", "files"])
def test_json_forms_and_query_say_the_same(served: Running, way: str) -> None:
    values: Any = {"q": "Hello.", "source": "en", "target": "de", "api_key": ""}
    if way == "files":
        values = {name: (None, value) for name, value in values.items()}
    answer = served.post("/translate", **{way: values})
    assert answer.json() == {"translatedText": "Hello."}


@pytest.mark.parametrize("way", ["data", "files"])
def test_a_form_has_its_line_ends_as_lf(served: Running, way: str) -> None:
    form: Any = {"q": "Hello.\r\nHello.", "source": "en", "target": "de"}
    if way == "files":
        form = {name: (None, value) for name, value in form.items()}
    answer = served.post("/translate", **{way: form})
    assert answer.json() == {"translatedText": "Hello.\nHello."}


@pytest.mark.parametrize("path", ["/translate", "/v2/translate", "/v1/translate"])
def test_a_query_has_to_be_utf_8_as_a_form_has(served: Running, path: str) -> None:
    pairs = "q=%ff&text=%ff&source=en&target=de&target_lang=DE"
    refused = served.post(f"{path}?{pairs}")
    assert (refused.status_code, "the query is not UTF-8" in refused.text) == (400, True)
    form = {"content-type": "application/x-www-form-urlencoded"}
    refused = served.post(path, content=pairs.encode(), headers=form)
    assert (refused.status_code, "the form is not UTF-8" in refused.text) == (400, True)


def test_letters_of_a_form_need_no_escapes(served: Running) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    answer = served.post("/translate", content="q=Größe&source=en&target=de".encode(), headers=form)
    escaped = served.post("/translate", data={"q": "Größe", "source": "en", "target": "de"})
    assert (answer.status_code, answer.json()) == (200, escaped.json())


def test_each_text_is_detected_by_itself(served: Running) -> None:
    texts = ["The dog sleeps under the table.", "Der Hund schläft unter dem Tisch."]
    found = translate(served, q=texts, source="auto", target="de")
    assert [one["language"] for one in found["detectedLanguage"]] == ["en", "de"]
    assert all(50 < one["confidence"] <= 100 for one in found["detectedLanguage"])
    assert found["translatedText"] == texts
    one = translate(served, q=texts[0], source="auto", target="de")
    assert one["detectedLanguage"]["language"] == "en"


def test_html_keeps_its_tags_and_entities(served: Running) -> None:
    text = "<p>Tom &lt;b&gt; <b>Hello.</b></p>"
    found = translate(served, q=text, format="html", alternatives=1)
    assert found["translatedText"].startswith("<p>")
    assert "&lt;b&gt;" in found["translatedText"]
    assert found["translatedText"].count("<b>") == found["translatedText"].count("</b>") == 1
    assert found["alternatives"] == []


def test_alternatives_come_when_asked_for(served: Running) -> None:
    assert "alternatives" not in translate(served, q="Hello.", alternatives=0)
    one = translate(served, q="Hello.", alternatives=2)
    assert len(one["alternatives"]) == 2
    assert one["translatedText"] not in one["alternatives"]
    two = translate(served, q=["Hello.", "dog"], alternatives="1")
    assert [len(those) for those in two["alternatives"]] == [1, 1]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"q": None}, "Invalid request: missing q parameter"),
        ({"q": "a", "source": None}, "Invalid request: missing source parameter"),
        ({"q": "a", "target": ""}, "Invalid request: missing target parameter"),
        ({"q": "a", "source": "zz"}, "zz is not supported"),
        ({"q": "a", "target": "zz"}, "zz is not supported"),
        ({"q": "a", "format": "docx"}, "docx format is not supported"),
        (
            {"q": "a", "alternatives": "x"},
            "Invalid request: alternatives parameter is not a number",
        ),
        ({"q": "a", "alternatives": 11}, "Invalid request: alternatives parameter must be <= 10"),
        ({"q": "a", "alternatives": -1}, "Invalid request: alternatives parameter must be >= 0"),
    ],
)
def test_messages_are_those_that_clients_know(
    served: Running, values: dict[str, Any], message: str
) -> None:
    given = {"source": "en", "target": "de", **values}
    answer = served.post(
        "/translate", json={name: value for name, value in given.items() if value is not None}
    )
    assert (answer.status_code, answer.json()) == (400, {"error": message})


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1.7", "true", "false", "[1]", '"1.5"'])
def test_a_number_of_alternatives_is_a_whole_number(served: Running, number: str) -> None:
    body = f'{{"q": "Hi", "source": "en", "target": "de", "alternatives": {number}}}'
    answer = served.post("/translate", content=body.encode())
    message = "Invalid request: alternatives parameter is not a number"
    assert (answer.status_code, answer.json()) == (400, {"error": message})


def test_a_language_of_no_model_in_this_direction(start: Start, shelf: Any) -> None:
    with start() as one:
        one.service.desk.shelf = type(shelf)([shelf.models["en", "de"]])
        answer = one.post("/translate", json={"q": "a", "source": "de", "target": "en"})
    assert answer.json() == {
        "error": "English (en) is not available as a target language from German (de)"
    }


def test_too_much_is_refused(start: Start) -> None:
    with start(max_characters=10, max_texts=2) as one:
        for q, count, most in (("a" * 11, 11, 10), (["a"] * 3, 3, 2)):
            answer = one.post("/translate", json={"q": q, "source": "en", "target": "de"})
            message = f"Invalid request: request ({count}) exceeds text limit ({most})"
            assert (answer.status_code, answer.json()) == (400, {"error": message})


def test_detect(served: Running) -> None:
    found = served.post("/detect", data={"q": "Der Hund schläft unter dem Tisch."}).json()
    assert [one["language"] for one in found] == ["de", "en"]
    assert found[0]["confidence"] > 90
    assert served.post("/detect", data={}).json() == {
        "error": "Invalid request: missing q parameter"
    }


def test_languages_settings_and_health(served: Running) -> None:
    assert served.get("/languages").json() == [
        {"code": "de", "name": "German", "targets": ["de", "en"]},
        {"code": "en", "name": "English", "targets": ["de", "en"]},
    ]
    settings = served.get("/frontend/settings").json()
    assert settings["keyRequired"] is False
    assert settings["language"]["target"] == {"code": "de", "name": "German"}
    assert served.get("/health").json() == {"status": "ok"}


def test_suggestions_are_switched_off(served: Running) -> None:
    answer = served.post("/suggest", data={"q": "a"})
    assert (answer.status_code, answer.json()) == (
        403,
        {"error": "Suggestions are disabled on this server."},
    )


def test_suggestions_are_kept_in_a_file_that_a_memory_can_be_read_from(
    start: Start, tmp_path: Any
) -> None:
    path = tmp_path / "kept" / "suggestions.tmx"
    pairs = {
        "Hello\x00.": ("en", "de", "Guten <Tag> & Hallo."),
        "dog\ud800": ("en", "de", "Hund"),
        "Katze": ("de", "en", "cat"),
    }
    with start(suggestions=path) as one:
        for text, (source, target, wanted) in pairs.items():
            values = {"q": text, "s": wanted, "source": source, "target": target}
            body = json.dumps(values).encode()
            answer = one.post("/suggest", content=body)
            if "\ud800" in text:
                assert answer.status_code in (200, 400)
            else:
                assert (answer.status_code, answer.json()) == (200, {"success": True})
        assert one.get("/frontend/settings").json()["suggestions"] is True
        missing = one.post("/suggest", json={"q": "a", "source": "en", "target": "de"})
        assert missing.status_code == 400
        unknown = one.post("/suggest", json={"q": "a", "s": "b", "source": "en", "target": "zz"})
        assert unknown.json() == {"error": "zz is not supported"}
        same = one.post("/suggest", json={"q": "a", "s": "b", "source": "en", "target": "EN"})
        assert same.status_code == 400
        assert same.json() == {"error": "Invalid request: source and target are both en"}
        english = read_tmx(path, "en", "de").pairs
        assert english["Hello."] == "Guten <Tag> & Hallo."
        assert english["cat"] == "Katze"
        path.write_text("something else")
        changed = one.post("/suggest", json={"q": "a", "s": "b", "source": "en", "target": "de"})
        assert changed.status_code == 507
        assert path.read_text() == "something else"


def test_a_file_is_translated_and_fetched(served: Running) -> None:
    content = b"Hello.\nThe dog sleeps.\n"
    answer = served.post(
        "/translate_file",
        files={"file": ("my notes.txt", content)},
        data={"source": "en", "target": "de"},
    )
    assert answer.status_code == 200, answer.text
    fetched = served.get(answer.json()["translatedFileUrl"])
    assert fetched.content == content
    assert "my%20notes_de.txt" in fetched.headers["content-disposition"]
    assert served.get("/download_file/0000.x.txt").status_code == 404


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"", "Invalid request: empty file"),
        ("a.exe", b"MZ", "file format not supported"),
        ("a.docx", b"PK\x03\x04 not a zip", "cannot be read as docx"),
    ],
)
def test_files_that_cannot_be_translated(
    served: Running, name: str, content: bytes, message: str
) -> None:
    answer = served.post(
        "/translate_file",
        files={"file": (name, content)},
        data={"source": "en", "target": "de"},
    )
    assert answer.status_code == 400
    assert message in answer.json()["error"]


def test_methods_as_the_tests_of_libretranslate_have_them(served: Running) -> None:
    for path in ("/languages", "/health", "/spec"):
        assert served.post(path).status_code == 405
    assert served.get("/detect").status_code == 405


def test_libretranslatepy(served: Running) -> None:
    client = pytest.importorskip("libretranslatepy").LibreTranslateAPI(f"{served.address}/")
    assert client.translate("Hello.", "en", "de") == "Hello."
    assert client.detect("The dog sleeps under the table.")[0]["language"] == "en"
    assert {one["code"] for one in client.languages()} == {"de", "en"}


def test_keys_are_asked_for_where_there_are_some(start: Start, tmp_path: Any) -> None:
    from allyouneed.serving.keys import KeyFile

    key = KeyFile(tmp_path / "keys.sqlite").add("me", requests=2)
    values = {"q": "Hello.", "source": "en", "target": "de"}
    with start() as one:

        def asked(**more: str) -> httpx.Response:
            answer: httpx.Response = one.post("/translate", json={**values, **more})
            return answer

        none = asked()
        assert none.status_code == 400
        assert none.json() == {"error": "Please contact the server operator to get an API key"}
        wrong = asked(api_key="wrong")
        assert (wrong.status_code, wrong.json()) == (403, {"error": "Invalid API key"})
        assert [asked(api_key=key).status_code for _ in range(3)] == [200, 200, 429]
        last = asked(api_key=key)
        assert last.json() == {"error": "Slowdown: 2 per 1 minute"}
        assert 1 <= int(last.headers["retry-after"]) <= 61
        assert one.get("/languages").status_code == 200
        assert one.get("/frontend/settings").json()["keyRequired"] is True
    [entry] = KeyFile(tmp_path / "keys.sqlite").keys().values()
    assert (entry.used_characters, entry.used_requests) == (12, 2)


def test_libretranslate_aio(served: Running) -> None:
    module = pytest.importorskip("libretranslate_aio")
    client = module.LibreTranslate(served.address)
    found = client.translate(["The dog sleeps here.", "Hello."], source="auto", target="de")
    assert found.translated_text == ["The dog sleeps here.", "Hello."]
    assert found.detected_language[0].language == "en"
    assert client.detect("The dog sleeps under the table.")[0].language == "en"
    assert [one.code for one in client.languages()] == ["de", "en"]
    assert client.frontend_settings().key_required is False
    with pytest.raises(module.BadRequestError, match="zz is not supported"):
        client.translate("a", source="zz", target="de")
    client.close()


@pytest.mark.parametrize("kind", ["text", "html"])
def test_a_lost_number_ends_as_it_does_in_the_library(
    start: Start, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The model changes this number however it is given: each try asks for no further try, and a
    thread that waits for others takes the place of none of them."""
    text = "Americans who are over sixty-five make up 12.5% of the total population."
    shelf = open_shelf(["en-de"])
    translator = shelf.models["en", "de"].translator
    monkeypatch.setattr(desk, "READERS", 1)
    with start(deadline=20) as one:
        one.service.desk.shelf = shelf
        asked = {"q": text, "source": "en", "target": "de", "format": kind}
        answer = one.post("/translate", json=asked)
    assert answer.status_code == 200, answer.text
    assert answer.json()["translatedText"] == translator(text, markup=kind).text
