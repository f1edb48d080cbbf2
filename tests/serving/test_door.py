"""What comes through the door: hosts, origins, sizes, broken and slow clients, errors, counters."""

import asyncio
import json
import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from allyouneed.serving import app, door, protocol
from allyouneed.serving.shelf import open_shelf
from allyouneed.translation.translator import Translator

Running = Any  # see conftest
Start = Any
HELLO = {"q": "Hello.", "source": "en", "target": "de"}


def connect(served: Running) -> socket.socket:
    parts = urlsplit(served.address)
    return socket.create_connection((parts.hostname, parts.port), timeout=30)


def exchange(served: Running, request: bytes) -> bytes:
    with connect(served) as opened:
        opened.sendall(request)
        received = b""
        while piece := opened.recv(65536):
            received += piece
        return received


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:5000", "", "192.168.0.9"])
def test_on_loopback_other_names_are_refused(served: Running, host: str) -> None:
    answer = served.post("/translate", json=HELLO, headers={"host": host})
    assert answer.status_code == 403
    assert "Hello" not in answer.text


@pytest.mark.parametrize("host", ["localhost:5000", "127.0.0.1", "[::1]:80", "LOCALHOST"])
def test_names_of_this_machine_are_let_in(served: Running, host: str) -> None:
    assert served.post("/translate", json=HELLO, headers={"host": host}).status_code == 200


def test_a_name_can_be_allowed(start: Start) -> None:
    with start(allow_host=["translate.example"]) as one:
        answer = one.get("/health", headers={"host": "translate.example"})
        assert answer.status_code == 200


def test_pages_of_named_origins_alone_may_read(start: Start) -> None:
    with start(allow_origin=["https://good.example"]) as one:
        for origin, allowed in (("https://good.example", True), ("https://bad.example", False)):
            asked = one.client.options(
                "/translate",
                headers={"origin": origin, "access-control-request-method": "POST"},
            )
            assert asked.status_code == 204
            assert ("access-control-allow-origin" in asked.headers) is allowed
            answer = one.post("/translate", json=HELLO, headers={"origin": origin})
            assert answer.headers.get("access-control-allow-origin") == (
                origin if allowed else None
            )


def test_no_origin_is_allowed_by_itself(served: Running) -> None:
    answer = served.post("/translate", json=HELLO, headers={"origin": "https://any.example"})
    assert "access-control-allow-origin" not in answer.headers


def test_large_bodies_are_refused_before_they_are_read(served: Running) -> None:
    head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\n\r\n"
    assert b" 413 " in exchange(served, head).split(b"\r\n")[0]


def test_large_bodies_without_a_length_are_refused_too(start: Start) -> None:
    def chunks() -> Any:
        for _ in range(100):
            yield b"x" * 1024

    with start(max_body=2048) as one:
        answer = one.post(
            "/translate", content=chunks(), headers={"content-type": "application/json"}
        )
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 10_000 + b"]" * 10_000,
        b'{"q": ' * 10_000 + b"1" + b"}" * 10_000,
        b'{"q": "\xff\xfe", "source": "en", "target": "de"}',
        b'{"q": "Hello."',
        b"null",
        b"[]",
        b'{"q": NaN}',
        b"\x00\x01",
    ],
)
def test_broken_json_is_refused(served: Running, body: bytes) -> None:
    for path in ("/translate", "/v2/translate", "/v1/translate"):
        answer = served.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 400
        assert len(answer.content) < 500


@pytest.mark.parametrize(
    "body", [b"q=%ff%fe&source=en&target=de", b"q=\xff", b"&".join([b"a=1"] * 20_000)]
)
def test_broken_forms_are_refused(served: Running, body: bytes) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert served.post("/translate", content=body, headers=headers).status_code == 400


def test_a_multipart_form_without_a_boundary(served: Running) -> None:
    answer = served.post(
        "/translate", content=b"xx", headers={"content-type": "multipart/form-data"}
    )
    assert answer.status_code == 400


def test_lone_surrogates_are_translated_and_answered(served: Running) -> None:
    body = b'{"q": "a\\ud800b", "source": "en", "target": "de"}'
    answer = served.post("/translate", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (200, 400)


def test_values_of_other_kinds_are_refused(served: Running) -> None:
    for values in ({"q": 5}, {"q": {"a": 1}}, {"q": [1]}, {"q": "a", "source": ["en"]}):
        answer = served.post("/translate", json={**HELLO, **values})
        assert answer.status_code == 400, values


def test_headers_are_bounded(served: Running) -> None:
    head = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000 + b"\r\n\r\n"
    assert b" 400 " in exchange(served, head).split(b"\r\n")[0]
    assert served.get("/health").status_code == 200


def test_slow_headers_and_bodies_are_not_waited_for(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEADER_SECONDS", 0.2)
    monkeypatch.setattr(door, "BODY_SECONDS", 0.2)
    with start() as one:
        began = time.monotonic()
        assert exchange(one, b"POST /trans") == b""
        head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{"
        assert b" 408 " in exchange(one, head).split(b"\r\n")[0]
        assert time.monotonic() - began < 10
        assert one.get("/health").status_code == 200


def test_idle_connections_do_not_hold_up_others(served: Running) -> None:
    idle = [connect(served) for _ in range(200)]
    try:
        assert served.post("/translate", json=HELLO).json() == {"translatedText": "Hello."}
    finally:
        for opened in idle:
            opened.close()


HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_as_many_connections_as_wanted_are_served_and_others_told(start: Start) -> None:
    with start(max_connections=2) as one, connect(one) as first, connect(one) as second:
        for opened in (first, second):
            opened.sendall(HEALTH)
            assert b" 200 " in opened.recv(65536)
        for path, name in ((b"/translate", "error"), (b"/v2/translate", "message")):
            head, _, body = exchange(one, HEALTH.replace(b"/health", path)).partition(b"\r\n\r\n")
            assert b" 503 " in head
            assert b"\r\nretry-after: 5\r\n" in head
            assert b"\r\ncontent-type: application/json\r\n" in head
            assert list(json.loads(body)) == [name]
        second.close()
        wait_for(lambda: b" 503 " not in status_line(one))
        first.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b'allyouneed_rejected_total{reason="connections"}' in first.recv(65536)


def status_line(served: Running) -> bytes:
    with connect(served) as opened:
        opened.sendall(HEALTH)
        return opened.recv(65536).partition(b"\r\n")[0]


def test_far_too_many_connections_are_closed_at_once(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "TOLD", 1)
    with start(max_connections=1) as one, connect(one), connect(one) as told, connect(one) as not_:
        assert not_.recv(1) == b""
        told.sendall(HEALTH)
        assert b" 503 " in told.recv(65536)


def test_a_connection_too_many_is_not_waited_for(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "SURPLUS_SECONDS", 0.2)
    with start(max_connections=1) as one, connect(one):
        began = time.monotonic()
        assert exchange(one, b"GET /hea") == b""
        assert time.monotonic() - began < 10


@pytest.mark.parametrize("told", ["allyouneed.left", "nothing that a visit knows"])
def test_a_client_that_leaves_takes_its_sentences_along(
    start: Start, copier: Translator, monkeypatch: pytest.MonkeyPatch, told: str
) -> None:
    """With this service's protocol, and with a server whose protocol tells nothing of leaving."""
    monkeypatch.setattr(protocol, "LEFT", told)
    go_on, search = threading.Event(), copier.engine.search

    def slow(*arguments: Any, **named: Any) -> Any:
        go_on.wait(30)
        return search(*arguments, **named)

    with start(threads=1) as one:
        monkeypatch.setattr(copier.engine, "search", slow)
        body = json.dumps({**HELLO, "q": ["Hello."] * 300}).encode()
        head = f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        opened = connect(one)
        opened.sendall(head.encode() + body)
        wait_for(lambda: one.service.queue.running >= 1)
        opened.close()
        wait_for(lambda: one.service.queue.sentences == 0)
        go_on.set()
        monkeypatch.setattr(copier.engine, "search", search)
        assert one.post("/translate", json=HELLO).json() == {"translatedText": "Hello."}
        counters = one.get("/metrics").text
    assert 'allyouneed_cancelled_total{stage="gone"} 2' in counters


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/translate", HELLO),
        ("/translate", {**HELLO, "source": "xx"}),
        ("/translate", {}),
        ("/v2/translate", {"text": ["Hello."], "target_lang": "DE"}),
        ("/v1/translate", {}),
        ("/health", None),
        ("/languages", None),
    ],
)
def test_the_short_way_to_a_handler_answers_as_the_routes_do(
    start: Start, path: str, body: Any
) -> None:
    with start() as one:
        method = "GET" if body is None else "POST"
        short = one.client.request(method, path, json=body)
        one.service.app.handlers = {}
        long = one.client.request(method, path, json=body)
    assert (short.status_code, short.content) == (long.status_code, long.content)
    assert {**short.headers, "date": ""} == {**long.headers, "date": ""}


def test_headers_and_body_of_an_answer_come_together(served: Running) -> None:
    with connect(served) as opened:
        opened.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert opened.recv(65536).endswith(b'\r\n\r\n{"status":"ok"}')


def test_headers_are_sent_with_the_first_part_of_the_body() -> None:
    sent: list[bytes] = []

    class Transport:
        def write(self, data: bytes) -> None:
            sent.append(data)

        def close(self) -> None:
            sent.append(b"closed")

    gathering = protocol.Gathering(Transport())  # type: ignore[arg-type]
    headers, go_on = b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"
    gathering.write(go_on)
    assert sent == [go_on]
    gathering.write(headers)
    assert sent == [go_on]
    gathering.write(b"one, ")
    gathering.write(b"two")
    assert sent[1:] == [headers + b"one, ", b"two"]
    gathering.write(headers)
    gathering.flush()
    assert sent[3:] == [headers]
    gathering.flush()
    gathering.write(headers)
    gathering.close()
    assert sent[4:] == [headers, b"closed"]


def wait_for(happened: Any) -> None:
    until = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_request_that_takes_too_long_is_given_up(
    start: Start, copier: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, search = threading.Event(), copier.engine.search

    def slow(*arguments: Any, **named: Any) -> Any:
        go_on.wait(30)
        return search(*arguments, **named)

    with start() as one:
        monkeypatch.setattr(copier.engine, "search", slow)
        answer = one.post("/translate", json=HELLO, headers={"request-timeout": "0.2"})
        go_on.set()
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "1"
        bad = one.post("/translate", json=HELLO, headers={"request-timeout": "soon"})
        assert bad.status_code == 400


def test_a_client_that_connects_anew_is_limited_all_the_same(start: Start) -> None:
    with start(requests_per_minute=2) as one:
        answers = [httpx.post(f"{one.address}/translate", json=HELLO) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
    assert int(answers[-1].headers["retry-after"]) <= 61


def test_what_cannot_be_done_in_time_is_refused_at_once(start: Start) -> None:
    with start() as one:
        one.service.queue.rate.add(10, 10.0)  # a token a second
        answer = one.post("/translate", json={**HELLO, "q": ["Hello."] * 500})
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 100
        assert 'allyouneed_rejected_total{reason="deadline"} 1.0' in one.get("/metrics").text


def test_estimates_leave_a_part_of_the_time_unused(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "LAG_SECONDS", 3600.0)
    with start() as one:
        for wait, status in ((1.5, 200), (1.9, 503)):
            monkeypatch.setattr(one.service.queue, "expected_wait", lambda *_, wait=wait: wait)
            answer = one.post("/translate", json=HELLO, headers={"request-timeout": "2"})
            assert answer.status_code == status


def test_time_lost_before_a_request_is_seen_counts_too(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "LAG_SECONDS", 3600.0)
    with start() as one:
        one.service.guard.lag = 5.0
        late = one.post("/translate", json=HELLO, headers={"request-timeout": "2"})
        assert late.status_code == 503
        assert int(late.headers["retry-after"]) >= 3
        assert one.post("/translate", json=HELLO).status_code == 200


def test_a_request_that_can_only_be_late_is_refused_unread(
    start: Start, copier: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, search = threading.Event(), threading.Event(), copier.engine.search

    def slow(*arguments: Any, **named: Any) -> Any:
        begun.set()
        go_on.wait(30)
        return search(*arguments, **named)

    monkeypatch.setattr(copier.engine, "search", slow)
    with start(threads=1) as one, ThreadPoolExecutor(8) as pool:
        one.service.queue.batch_sentences = 1
        patient = {"json": HELLO, "headers": {"request-timeout": "600"}}
        waiting = [pool.submit(one.post, "/translate", **patient) for _ in range(8)]
        assert begun.wait(30)
        while one.service.queue.sentences < 7:
            time.sleep(0.01)
        one.service.queue.rate.add(1, 1.0)  # a token a second
        broken: dict[str, Any] = {"content": b"{", "headers": {"request-timeout": "0.5"}}
        refused = one.post("/translate", **broken)
        assert refused.status_code == 503
        assert int(refused.headers["retry-after"]) >= 1
        assert one.post("/detect", **broken).status_code == 400
        broken["headers"] = {"request-timeout": "600"}
        assert one.post("/translate", **broken).status_code == 400
        go_on.set()
        assert {one.result().status_code for one in waiting} == {200}


def test_the_lag_of_a_busy_loop_is_measured(start: Start) -> None:
    seen: list[float] = []

    async def busy(*_: Any) -> Any:
        time.sleep(0.5)  # holds up the event loop
        for _ in range(10):  # turns of the loop, in which the look at the clock has its own
            await asyncio.sleep(0)
            seen.append(one.service.guard.lag)
        return []

    with start() as one:
        one.service.desk.detect = busy
        one.post("/detect", json={"q": "Hello."})
    assert max(seen) > 0.3


def test_a_full_queue_refuses(start: Start) -> None:
    with start(queue_tokens=10) as one:
        answer = one.post("/translate", json={**HELLO, "q": ["Hello."] * 50})
        assert answer.status_code == 503
        assert one.post("/translate", json=HELLO).status_code == 200


def test_an_error_of_ours_tells_nothing_of_the_inside(
    start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("a secret text")

    with start() as one, caplog.at_level(logging.INFO):
        monkeypatch.setattr(one.service.desk, "check_size", broken)
        answer = one.post("/translate", json=HELLO)
    assert (answer.status_code, answer.json()) == (500, {"error": "internal error"})
    assert "secret" not in caplog.text
    assert "RuntimeError" in caplog.text


def test_the_log_holds_no_text(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    with start() as one, caplog.at_level(logging.INFO, "allyouneed.serving"):
        one.post("/translate", json={**HELLO, "q": "Geheimnis"}, params={"q": "Geheimnis"})
        one.get("/Geheimnis")
        for _ in range(100):  # a line is written after its answer has been sent
            logged = [record for record in caplog.records if record.name.endswith("requests")]
            if len(logged) == 2:
                break
            time.sleep(0.05)
    assert len(logged) == 2
    assert "Geheimnis" not in repr([vars(record) for record in logged])


def test_metrics_hold_no_text_address_or_key(served: Running) -> None:
    served.post("/translate", json={**HELLO, "q": "Geheimnis"})
    served.get("/Geheimnis")
    shown = served.get("/metrics").text
    assert 'http_response_status_code="200",http_route="/translate"' in shown
    assert 'http_response_status_code="404",http_route="other"' in shown
    assert "Geheimnis" not in shown
    assert "127.0.0.1" not in shown
    assert 'allyouneed_model_loaded{model="en-de"} 1.0' in shown


def test_translated_characters_are_counted(start: Start) -> None:
    with start(queue_tokens=50) as one:
        assert one.post("/translate", json={**HELLO, "q": ["Hello."] * 50}).status_code == 503
        assert one.post("/translate", json={**HELLO, "q": ["Hello.", "Bye."]}).status_code == 200
        assert "allyouneed_characters_total 10.0" in one.get("/metrics").text


def test_traceparent_is_passed_on(served: Running) -> None:
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    answer = served.get("/health", headers={"traceparent": trace})
    assert answer.headers["traceparent"] == trace
    answer = served.get("/health", headers={"traceparent": "rubbish"})
    assert "traceparent" not in answer.headers


def test_ready_is_taken_back_when_the_service_ends(served: Running) -> None:
    assert served.get("/ready").status_code == 200
    served.service.drain()
    try:
        assert served.get("/ready").status_code == 503
        assert served.get("/health").status_code == 200
    finally:
        served.service.probes.ready = True


def test_a_reload_takes_the_models_anew(start: Start) -> None:
    with start() as one:
        before = one.service.desk.shelf
        asyncio.run(one.service.reload())
        assert one.post("/translate", json=HELLO).status_code == 200
        assert one.service.desk.shelf is before  # what this fixture opens


@pytest.mark.parametrize("log_texts", [False, True])
def test_a_failed_reload_is_logged_without_a_path(
    start: Start, caplog: pytest.LogCaptureFixture, tmp_path: Path, log_texts: bool
) -> None:
    folder = tmp_path / "my-model"
    folder.mkdir()
    with start(log_texts=log_texts) as one:
        one.service._open_models = lambda: open_shelf([f"en-fr={folder}"])
        asyncio.run(one.service.reload())
        assert one.post("/translate", json=HELLO).status_code == 200
    assert "my-model cannot be opened (ModelFolderError)" in caplog.text
    assert (str(tmp_path) in caplog.text) is log_texts


def test_a_failed_reload_for_another_reason_is_logged_too(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> Any:
        raise PermissionError(13, "Permission denied", "/secret/model")

    with start() as one:
        one.service._open_models = broken
        asyncio.run(one.service.reload())
    assert "one cannot be opened (PermissionError)" in caplog.text
    assert "/secret" not in caplog.text


def test_every_operation_is_described(served: Running) -> None:
    document = served.get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    for operation in served.service.operations:
        assert operation.method.lower() in document["paths"][operation.path]
    assert served.get("/spec").json() == document
    for path in ("/translate_file", "/v2/document"):
        [form] = document["paths"][path]["post"]["requestBody"]["content"].values()
        name = form["schema"]["$ref"].rpartition("/")[2]
        assert "file" in document["components"]["schemas"][name]["required"]
    text = json.dumps(document)
    for reference in set(text.split('"$ref": "#/components/schemas/')[1:]):
        assert reference.split('"')[0] in document["components"]["schemas"]


def test_the_page_asks_nobody_else(served: Running) -> None:
    page = served.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for path in (
        "/",
        "/page.css",
        *(f"/{name}.js" for name in ("page", "words", "files", "glossary")),
    ):
        content = served.get(path).text.replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in content
        assert "https://" not in content


def test_many_clients_at_once_get_their_own_answers(served: Running) -> None:
    async def ask_all() -> list[str]:
        async with httpx.AsyncClient(base_url=served.address, trust_env=False) as client:
            answers = await asyncio.gather(
                *(
                    client.post("/translate", json={**HELLO, "q": f"Text {n}."}, timeout=60)
                    for n in range(64)
                )
            )
        return [answer.json()["translatedText"] for answer in answers]

    alone = [
        served.post("/translate", json={**HELLO, "q": f"Text {n}."}).json()["translatedText"]
        for n in range(64)
    ]
    assert asyncio.run(ask_all()) == alone
