"""DeepL's glossaries: its official client makes, lists, reads and deletes them."""

from pathlib import Path
from typing import Any

import pytest

from allyouneed.serving.glossaries import Glossaries, read_entries
from allyouneed.serving.keys import KeyFile
from allyouneed.serving.refusal import Refused

Running = Any  # see conftest
Start = Any
BODY = {
    "name": "bikes",
    "source_lang": "EN",
    "target_lang": "DE",
    "entries": "bike\tRad\nsaddle\tSattel",
    "entries_format": "tsv",
}


def test_the_official_client(start: Start, tmp_path: Path) -> None:
    deepl = pytest.importorskip("deepl")
    with start(glossaries=tmp_path / "glossaries") as one:
        client = deepl.Translator("any", server_url=one.address)
        pairs = {(pair.source_lang, pair.target_lang) for pair in client.get_glossary_languages()}
        assert pairs == {("en", "de"), ("de", "en")}
        entries = {"bike": "Rad", "traffic light": "Ampel"}
        made = client.create_glossary("bikes", "EN", "DE", entries)
        assert (made.name, made.ready, made.entry_count) == ("bikes", True, 2)
        assert (made.source_lang, made.target_lang) == ("EN", "DE")
        assert client.get_glossary_entries(made) == entries
        assert client.get_glossary(made.glossary_id).creation_time == made.creation_time
        csv = 'bike,"Rad, das",en,de\n"a ""b""",c\n'
        other = client.create_glossary_from_csv("csv", "DE", "EN-US", csv)
        assert client.get_glossary_entries(other) == {"bike": "Rad, das", 'a "b"': "c"}
        assert [each.name for each in client.list_glossaries()] == ["bikes", "csv"]
    with start(glossaries=tmp_path / "glossaries") as one:  # they outlive the service
        client = deepl.Translator("any", server_url=one.address)
        assert len(client.list_glossaries()) == 2
        client.delete_glossary(made)
        assert [each.name for each in client.list_glossaries()] == ["csv"]
        with pytest.raises(deepl.GlossaryNotFoundException):
            client.get_glossary(made.glossary_id)


def test_a_glossary_is_used(start: Start, tmp_path: Path) -> None:
    deepl = pytest.importorskip("deepl")
    with start(glossaries=tmp_path / "glossaries") as one:
        client = deepl.Translator("any", server_url=one.address)
        made = client.create_glossary("dogs", "EN", "DE", {"dog": "Hund", "table": "Tisch|Tische"})

        def translated(text: str, **more: Any) -> str:
            asked = {"source_lang": "EN", "target_lang": "DE", "glossary": made}
            found = client.translate_text(text, **{**asked, **more})
            return str(found.text)

        text = "The dog sleeps under the table."
        assert "Hund" in translated(text)
        assert "Tisch" in translated(text)
        assert "dog" in translated("dog", glossary=None)
        tagged = translated("The <b>dog</b> sleeps.", tag_handling="xml")
        assert "Hund" in tagged
        assert tagged.count("<b>") == tagged.count("</b>") == 1
        document = client.translate_document_upload(
            b"The dog sleeps.", filename="a.txt", source_lang="EN", target_lang="DE", glossary=made
        )
        client.translate_document_wait_until_done(document)
        found = b"".join(client.translate_document_download(document).iter_content(100))
        assert b"Hund" in found
        body = {"text": ["a"], "target_lang": "DE", "glossary_id": made.glossary_id}
        auto = one.post("/v2/translate", json=body)
        assert (auto.status_code, "needs source_lang" in auto.text) == (400, True)
        wrong = {**body, "source_lang": "DE", "target_lang": "EN"}
        refused = one.post("/v2/translate", json=wrong)
        assert refused.status_code == 400
        assert "from en to de, not from de to en" in refused.json()["message"]
        client.delete_glossary(made)
        assert one.post("/v2/translate", json={**body, "source_lang": "EN"}).status_code == 404


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": ""}, "name"),
        ({"entries": ""}, "no entries"),
        ({"entries": "bike"}, "line 1 has no source or no target"),
        ({"entries": "a\tb\n\tc"}, "line 2 has no source or no target"),
        ({"entries": "a\tb\na\tc"}, "line 2 repeats a source"),
        ({"entries": "a" * 1025 + "\tb"}, "line 1 is longer than 1024"),
        ({"entries": "...\tb"}, "has no letter"),
        ({"entries": 'a,"b', "entries_format": "csv"}, "no CSV"),
        ({"entries": 'a,b\n"c\td",e', "entries_format": "csv"}, "line 2 has a tab"),
        ({"entries": '"a\nb",c', "entries_format": "csv"}, "line 1 has a tab, a line end"),
        ({"entries": 'a,"b\r\nc"', "entries_format": "csv"}, "line 1 has a tab, a line end"),
        ({"entries": "a\u2028b\tc"}, "line 1 has a tab, a line end"),
        ({"entries_format": "tbx"}, "entries_format"),
        ({"source_lang": "ZZ"}, "'source_lang' not supported"),
        ({"target_lang": "EN"}, "not available"),
    ],
)
def test_what_is_no_glossary_is_refused(
    start: Start, tmp_path: Path, values: dict[str, str], message: str
) -> None:
    with start(glossaries=tmp_path / "glossaries") as one:
        answer = one.post("/v2/glossaries", json={**BODY, **values})
        assert answer.status_code == 400
        assert message in answer.json()["message"]
        assert one.get("/v2/glossaries").json() == {"glossaries": []}


UNKNOWN = "0b7e6f1a-3c52-4d7e-9a0e-5d1c2b3a4f60"  # of the form of an id


@pytest.mark.parametrize("id", ["x", UNKNOWN, "..%2F..%2Fetc%2Fpasswd", "%00"])
def test_there_is_no_way_to_other_files(start: Start, tmp_path: Path, id: str) -> None:
    with start(glossaries=tmp_path / "glossaries") as one:
        for ask in (one.get, one.client.delete):
            assert ask(f"/v2/glossaries/{id}").status_code == 404
        assert one.get(f"/v2/glossaries/{id}/entries").status_code == 404


def test_a_glossary_belongs_to_its_key(start: Start, tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "keys.sqlite")
    keys = {name: {"authorization": f"DeepL-Auth-Key {file.add(name)}"} for name in ("me", "you")}
    with start(glossaries=tmp_path / "glossaries") as one:
        assert one.post("/v2/glossaries", json=BODY).status_code == 403
        made = one.post("/v2/glossaries", json=BODY, headers=keys["me"])
        assert made.status_code == 201
        path = f"/v2/glossaries/{made.json()['glossary_id']}"
        assert one.get(path, headers=keys["me"]).json() == made.json()
        assert one.get(path, headers=keys["you"]).status_code == 404
        assert one.client.delete(path, headers=keys["you"]).status_code == 404
        assert one.get("/v2/glossaries", headers=keys["you"]).json() == {"glossaries": []}
        assert one.client.delete(path, headers=keys["me"]).status_code == 204


def test_files_that_are_none_of_ours_are_left_alone(tmp_path: Path) -> None:
    for number, content in enumerate((b"{", b"[]", b"{}", b"\xff", b'{"entries": [1]}')):
        (tmp_path / f"{number}.json").write_bytes(content)
    kept = Glossaries(tmp_path)
    assert kept.all("") == []
    made = kept.make("a", "en", "de", [("b", "c")], "")
    assert kept.all("") == [made]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused, match="cannot be kept"):
        Glossaries(tmp_path / "file" / "folder").make("a", "en", "de", [("b", "c")], "")


def test_windows_line_ends_and_blank_lines() -> None:
    assert read_entries("a\tb\r\n\r\nc\td\r\n", "tsv") == [("a", "b"), ("c", "d")]
