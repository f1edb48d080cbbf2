"""A service that is told to end: it finishes what runs, refuses the rest, and leaves no trace."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from allyouneed.serving import ending
from allyouneed.serving.ending import ANSWER_SECONDS, CREW_SECONDS, FINISH_SECONDS

Running = Any  # see conftest
Start = Any
PAIR = {"source": "en", "target": "de"}
LINES = ["The dog sleeps."] * 50
FILE = {"file": ("a.txt", b"Hello.\n\nThe dog sleeps.\n")}
HTML = "<p>The <b>dog</b> sleeps.</p>"

Answer = Future[httpx.Response]


def asked(one: Running, path: str, **named: Any) -> Answer:
    """An answer that comes while the test goes on, once its translation has begun."""
    before = one.service.queue.running
    answer = ThreadPoolExecutor(1).submit(httpx.post, f"{one.address}{path}", **named, timeout=60)
    until(lambda: one.service.queue.running > before)
    return answer


def crew_is_done(one: Running) -> bool:
    return not any(thread.is_alive() for thread in one.service.crew._threads)


def until(happened: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_parts_of_the_end_stay_below_what_the_files_of_deploy_grant() -> None:
    deploy = Path(__file__).parents[2] / "deploy"
    assert "stop_grace_period: 40s" in (deploy / "compose.yaml").read_text()
    assert FINISH_SECONDS + ANSWER_SECONDS + CREW_SECONDS < 40


def test_what_runs_is_finished_and_what_comes_is_refused(
    start: Start, held: threading.Event
) -> None:
    with start() as one:
        long = asked(one, "/translate", json={"q": LINES, **PAIR})
        one.service.drain()
        time.sleep(0.3)  # some rounds of the server
        assert one.get("/ready").status_code == 503
        assert one.get("/health").status_code == 200
        for path, body, told in (
            ("/translate", {"q": "Hello.", **PAIR}, "error"),
            ("/v1/translate", {"text": "Hello.", **PAIR}, "error"),
            ("/v2/translate", {"text": ["Hello."], "target_lang": "DE"}, "message"),
        ):
            answer = one.post(path, json=body)
            assert answer.status_code == 503
            assert "the service is ending" in answer.json()[told]
            assert int(answer.headers["retry-after"]) == ending.RETRY_SECONDS
        held.set()
        assert long.result().json() == {"translatedText": LINES}


def test_a_document_is_finished_and_can_be_fetched(start: Start, held: threading.Event) -> None:
    with start() as one:
        begun = one.post("/v2/document", data={"target_lang": "DE"}, files=FILE).json()
        until(lambda: one.service.queue.running > 0)
        key = {"document_key": begun["document_key"]}
        one.service.drain()
        time.sleep(0.3)
        held.set()
        path = f"/v2/document/{begun['document_id']}"
        until(lambda: one.post(path, json=key).json()["status"] == "done")
        time.sleep(0.3)
        assert one.post(f"{path}/result", json=key).content == FILE["file"][1]
        until(lambda: crew_is_done(one))


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/translate", {"json": {"q": LINES, **PAIR}}, "error"),
        ("/translate", {"json": {"q": HTML, "format": "html", **PAIR}}, "error"),
        ("/v2/translate", {"json": {"text": ["Hello."], "target_lang": "DE"}}, "message"),
        ("/translate_file", {"data": PAIR, "files": FILE}, "error"),
    ],
)
def test_what_cannot_be_finished_is_refused_in_the_form_of_its_api(
    start: Start,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    path: str,
    body: Any,
    told: str,
) -> None:
    monkeypatch.setattr(ending, "FINISH_SECONDS", 0.5)
    with start() as one, caplog.at_level(logging.INFO):
        headers = {"request-timeout": "600"}
        long = asked(one, path, **body, headers=headers)
        one.post("/v2/document", data={"target_lang": "DE"}, files=FILE)
        one.service.drain()
        answer = long.result()
        assert answer.status_code == 503
        assert "the service is ending" in answer.json()[told]
        assert int(answer.headers["retry-after"]) == ending.RETRY_SECONDS
        until(lambda: crew_is_done(one))  # though searches would go on for ever
        assert one.service.queue.sentences == 0
    [status] = [record.told["status"] for record in caplog.records if record.args == ("POST", path)]
    assert status == 503
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.usefixtures("held")
def test_a_request_that_the_server_cancels_is_refused_too(
    start: Start, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "FINISH_SECONDS", 0.1)
    with start() as one, caplog.at_level(logging.INFO):
        monkeypatch.setattr(one.service.guard.ending, "give_up", lambda: None)
        long = asked(one, "/translate", json={"q": HTML, "format": "html", **PAIR})
        one.service.drain()
        answer = long.result()
        assert answer.status_code == 503
        assert "the service is ending" in answer.json()["error"]
        until(lambda: crew_is_done(one))
    assert "Traceback" not in caplog.text
    assert "CancelledError" not in caplog.text


@pytest.mark.usefixtures("held")
def test_a_stream_tells_that_the_service_ends(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "FINISH_SECONDS", 0.3)
    with start() as one:
        body = {"text": "Hello.\nhttp://a.example\nHello.", "stream": True, **PAIR}
        long = asked(one, "/v1/translate", json=body)
        one.service.drain()
        answer = long.result()
    assert answer.status_code == 503 or "event: error" in answer.text
    assert "the service is ending" in answer.text
