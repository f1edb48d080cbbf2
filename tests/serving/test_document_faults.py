"""Documents that cannot be kept, or that unpack to too much: their job fails, others go on."""

import errno
import io
import logging
import os
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from allyouneed.documents import archive
from allyouneed.serving import document_job, documents
from allyouneed.serving.document_job import KEPT_SECONDS
from allyouneed.serving.keys import KeyFile

Running = Any  # see conftest
Start = Any
PAIR = {"source": "en", "target": "de"}
TEXT = {"file": ("a.txt", b"Hello.\n")}


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def translates(one: Running) -> bool:
    return bool(one.post("/translate", json={"q": "Hello.", **PAIR}).status_code == 200)


def test_a_full_disk_ends_the_job_with_a_reason(
    served: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        answer = served.post("/translate_file", files=TEXT, data=PAIR)
        assert translates(served)
    assert answer.status_code == 507
    assert "the disk may be full" in answer.json()["error"]
    assert served.post("/translate_file", files=TEXT, data=PAIR).status_code == 200


def test_a_document_may_have_no_more_characters_than_a_text(start: Start) -> None:
    page = {"file": ("a.html", b"<!-- a long comment --><p>Hello.</p>" + b"<p>Bye.</p>" * 5)}
    with start(max_characters=25, max_texts=2) as one:
        refused = one.post("/translate_file", files=page, data=PAIR)
        message = "Invalid request: request (26) exceeds text limit (25)"
        assert (refused.status_code, refused.json()) == (400, {"error": message})
        begun = one.post("/v2/document", files=page, data={"target_lang": "DE"}).json()
        key = {"document_key": begun["document_key"]}
        path = f"/v2/document/{begun['document_id']}"
        until = time.monotonic() + 20
        while (told := one.post(path, json=key).json())["status"] != "error":
            assert time.monotonic() < until
            time.sleep(0.01)
        assert told["error_message"] == message
    with start(max_characters=26, max_texts=2) as one:
        assert one.post("/translate_file", files=page, data=PAIR).status_code == 200


def test_a_full_queue_is_told_as_for_texts(start: Start) -> None:
    with start(queue_tokens=10) as one:
        many = {"file": ("a.txt", b"".join(b"Text %d.\n\n" % n for n in range(50)))}
        answer = one.post("/translate_file", files=many, data=PAIR)
    assert answer.status_code == 503
    assert answer.json()["error"].startswith("too much is waiting")
    assert int(answer.headers["retry-after"]) >= 1


def test_a_key_that_is_used_up_is_told_as_for_texts(start: Start, tmp_path: Path) -> None:
    key = KeyFile(tmp_path / "keys.sqlite").add("me", characters=3)
    with start() as one:
        text = one.post("/translate", json={"q": "Hello.", "api_key": key, **PAIR})
        file = one.post("/translate_file", files=TEXT, data={"api_key": key, **PAIR})
    assert (file.status_code, file.json()) == (text.status_code, text.json())
    assert file.status_code == 403


def test_a_full_disk_keeps_no_half_glossary(
    start: Start, tmp_path: Path, full_disk: pytest.MonkeyPatch
) -> None:
    body = {"name": "a", "source_lang": "en", "target_lang": "de", "entries_format": "tsv"}
    with start(glossaries=tmp_path / "glossaries") as one:
        answer = one.post("/v2/glossaries", json={**body, "entries": "dog\tHund"})
        assert answer.status_code == 507
        assert one.get("/v2/glossaries").json() == {"glossaries": []}
        full_disk.undo()
        assert one.post("/v2/glossaries", json={**body, "entries": "dog\tHund"}).status_code == 201


def test_a_zip_bomb_is_refused(served: Running) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr("word/document.xml", b"a" * (2 * archive.LARGE))
    bomb = {"file": ("a.docx", packed.getvalue())}
    answer = served.post("/translate_file", files=bomb, data=PAIR)
    assert answer.status_code == 400
    assert "cannot be read as docx" in answer.json()["error"]
    assert translates(served)


def test_elements_within_elements_hurt_nobody(served: Running) -> None:
    deep = b"<p>" + b"<b>" * 10_000 + b"x"
    answer = served.post("/translate_file", files={"file": ("a.xhtml", deep)}, data=PAIR)
    assert answer.status_code in (200, 400)
    body = {"q": "<b>" * 10_000 + "x", "format": "html", **PAIR}
    assert served.post("/translate", json=body).status_code in (200, 400)
    assert translates(served)


@pytest.mark.usefixtures("held")
def test_a_file_has_the_time_that_its_request_names(start: Start) -> None:
    with start() as one:
        headers = {"request-timeout": "0.5"}
        answer = one.post("/translate_file", files=TEXT, data=PAIR, headers=headers)
        assert answer.status_code == 503
        assert "the time for this request is up" in answer.json()["error"]
        assert int(answer.headers["retry-after"]) >= 1
        until = time.monotonic() + 20
        while one.service.queue.sentences or one.service.queue.running:
            assert time.monotonic() < until
            time.sleep(0.01)


def test_a_file_is_refused_at_once_where_its_time_does_not_suffice(start: Start) -> None:
    with start() as one:
        one.service.queue.rate.add(1, 10.0)
        headers = {"request-timeout": "5"}
        answer = one.post("/translate_file", files=TEXT, data=PAIR, headers=headers)
        assert answer.status_code == 503
        assert answer.json()["error"].startswith("too much is waiting")
        assert one.post("/translate_file", files=TEXT, data=PAIR).status_code == 200


def test_the_log_counts_the_texts_of_documents(
    start: Start, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    key = KeyFile(tmp_path / "keys.sqlite").add("me")
    bearer = {"authorization": f"Bearer {key}"}
    page = {"file": ("Geheimnis.html", b"<p>Hello.</p><p>Bye.</p>")}
    with start() as one, caplog.at_level(logging.INFO, "allyouneed.serving"):
        assert one.post("/translate_file", files=page, data=PAIR, headers=bearer).is_success
        one.post("/v2/document", files=page, data={"target_lang": "DE"}, headers=bearer)
        until = time.monotonic() + 20
        while not (ended := [one for one in caplog.records if one.name.endswith("documents")]):
            assert time.monotonic() < until
            time.sleep(0.01)
    told = {one.args[1]: one.told for one in caplog.records if one.name.endswith("requests")}
    file, document = told["/translate_file"], told["/v2/document"]
    assert (file["texts"], file["characters"]) == (2, 10)
    assert "texts" not in document
    [end] = ended
    assert end.getMessage() == "document done"
    counted = {name: end.told[name] for name in ("status", "texts", "characters", "key")}
    assert counted == {"status": 200, "texts": 2, "characters": 10, "key": "me"}
    assert "Geheimnis" not in repr([vars(record) for record in caplog.records])


def begun(one: Running, **headers: str) -> Any:
    return one.post("/v2/document", files=TEXT, data={"target_lang": "DE"}, headers=headers)


def fetched(one: Running, job: Any) -> bytes:
    path, key = f"/v2/document/{job['document_id']}", {"document_key": job["document_key"]}
    until = time.monotonic() + 20
    while one.post(path, json=key).json()["status"] != "done":
        assert time.monotonic() < until
        time.sleep(0.01)
    return bytes(one.post(f"{path}/result", json=key).content)


def test_a_client_has_a_share_of_the_documents_that_are_kept(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MOST_OF_A_CLIENT", 2)
    monkeypatch.setattr(documents, "MOST_JOBS", 3)
    keys = KeyFile(tmp_path / "keys.sqlite")
    a, b, c = ({"authorization": f"Bearer {keys.add(name)}"} for name in "abc")
    with start() as one:
        jobs = [begun(one, **a).json() for _ in range(2)]
        refused = begun(one, **a)
        assert refused.status_code == 429
        assert "2 of your documents are kept here" in refused.json()["message"]
        assert int(refused.headers["retry-after"]) > KEPT_SECONDS - 60
        assert int(refused.headers["retry-after"]) <= 2 * KEPT_SECONDS
        assert begun(one, **b).is_success
        full = begun(one, **c)
        assert full.status_code == 503
        assert int(full.headers["retry-after"]) > KEPT_SECONDS - 60
        one.client.headers.update(a)
        for job in jobs:
            assert fetched(one, job) == TEXT["file"][1]
        until = time.monotonic() + 20
        for client in (c, a):  # a place is free when the result has been sent
            while not begun(one, **client).is_success:
                assert time.monotonic() < until


def test_a_client_without_a_key_is_known_by_its_address(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MOST_OF_A_CLIENT", 1)
    with start() as one:
        assert begun(one, connection="close").is_success
        assert begun(one, connection="close").status_code == 429


def test_retry_after_says_when_a_document_is_no_longer_kept(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MOST_OF_A_CLIENT", 1)
    monkeypatch.setattr(document_job, "KEPT_SECONDS", 1.5)
    with start() as one:
        assert one.post("/translate_file", files=TEXT, data=PAIR).is_success
        refused = one.post("/translate_file", files=TEXT, data=PAIR)
        assert refused.status_code == 429
        wait = int(refused.headers["retry-after"])
        assert 1 <= wait <= 2
        time.sleep(wait)
        assert one.post("/translate_file", files=TEXT, data=PAIR).is_success


def test_documents_that_failed_take_no_place(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_OF_A_CLIENT", 1)
    broken = {"file": ("a.docx", b"PK\x03\x04 not a zip")}
    with start() as one:
        for _ in range(3):
            assert one.post("/translate_file", files=broken, data=PAIR).status_code == 400
        assert one.post("/translate_file", files=TEXT, data=PAIR).is_success
