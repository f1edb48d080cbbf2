"""The page's server: who may ask, what it serves, and that nothing else gets through."""

import http.client
import json
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from allyouneed.errors import UsageError
from allyouneed.widget import server as server_module
from allyouneed.widget.packing import ViewAnswer
from allyouneed.widget.page import Start
from allyouneed.widget.server import LARGEST_BODY, PageServer

QUESTION = {"kind": "about", "payload": {}}


class Page:
    """A browser's side of the connection."""

    def __init__(self, server: PageServer) -> None:
        self.server = server
        self.root = urlsplit(server.address).path

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=10)
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, names)
        response = connection.getresponse()
        found = response.status, dict(response.getheaders()), response.read()
        connection.close()
        return found

    def ask(self, question: Any = QUESTION, path: str = "ask", **headers: str) -> Any:
        body = json.dumps(question).encode()
        headers = {"Content_Type": "application/json", **headers}
        return self.request("POST", self.root + path, body, **headers)


@pytest.fixture
def heard() -> list[tuple[str, Any, int]]:
    return []


@pytest.fixture
def page(heard: list[tuple[str, Any, int]]) -> Iterator[Page]:
    def ask(kind: str, payload: Any, number: int) -> ViewAnswer:
        heard.append((kind, payload, number))
        return ViewAnswer({"hello": "</script>"}, {"weights": np.eye(2)})

    with PageServer(ask, Start.of(["A man."], 4, 1)) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield Page(server)
        server.shutdown()
        thread.join()


def test_it_is_bound_to_this_machine_with_a_token_of_its_own(page: Page) -> None:
    assert page.server.server_address[0] == "127.0.0.1"
    with PageServer(page.server.ask, page.server.start_with) as other:
        assert other.token != page.server.token
        assert len(other.token) >= 32
    assert page.server.address == f"http://127.0.0.1:{page.server.port}{page.root}"


def test_the_page_and_its_parts(page: Page) -> None:
    for path, kind in (
        ("", "text/html"),
        ("start.js", "text/javascript"),
        ("view.js", "text/javascript"),
        ("view.css", "text/css"),
    ):
        status, headers, body = page.request("GET", page.root + path)
        assert (status, headers["Content-Type"]) == (200, f"{kind}; charset=utf-8"), path
        assert body
    assert b"<script>" not in page.request("GET", page.root)[2]


def test_each_page_has_a_number_for_its_questions(page: Page, heard: list[Any]) -> None:
    scripts = [page.request("GET", f"{page.root}start.js")[2].decode() for _ in range(2)]
    assert 'httpTransport("ask?page=1")' in scripts[0]
    assert 'httpTransport("ask?page=2")' in scripts[1]
    assert json.dumps(Start.of(["A man."], 4, 1).options()) in scripts[0]
    page.ask(path="ask?page=2")
    page.ask(path="ask?page=x")
    assert [number for _, _, number in heard] == [2, 0]


def test_an_answer_is_packed(page: Page, heard: list[Any]) -> None:
    status, headers, body = page.ask({"kind": "maps", "payload": {"id": "7"}})
    assert (status, headers["Content-Type"]) == (200, "application/octet-stream")
    (length,) = struct.unpack_from("<I", body)
    assert json.loads(body[4 : 4 + length])["json"] == {"hello": "</script>"}
    assert np.frombuffer(body[4 + length :], "<f2").tolist() == [1, 0, 0, 1]
    assert heard == [("maps", {"id": "7"}, 0)]


def test_every_answer_forbids_what_the_page_does_not_need(page: Page) -> None:
    for status, headers, _ in (
        page.request("GET", page.root),
        page.ask(),
        page.request("GET", "/"),
        page.ask([]),
    ):
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy, status
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in headers


def test_without_the_token_there_is_nothing(page: Page, heard: list[Any]) -> None:
    token = page.server.token
    for path in ("/", "/view.js", f"/{token}", f"/{token[:-1]}/", f"/{token.swapcase()}/", "//"):
        assert page.request("GET", path)[0] == 404, path
    body = json.dumps(QUESTION).encode()
    assert page.request("POST", "/x/ask", body, Content_Type="application/json")[0] == 404
    assert page.request("POST", f"{page.root}about", body)[0] == 404
    assert heard == []


@pytest.mark.parametrize(
    "path",
    [
        "../page.py",
        "..%2fpage.py",
        "static/view.js",
        "./view.js",
        "view.js/",
        "/etc/passwd",
        "view.js%00",
        "..\\page.py",
    ],
)
def test_there_is_no_path_to_walk(page: Page, path: str) -> None:
    assert page.request("GET", page.root + path)[0] == 404


def test_another_host_name_is_refused(page: Page, heard: list[Any]) -> None:
    port = page.server.port
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port}.evil", ""):
        assert page.ask(Host=host)[0] == 403, host
        assert page.request("GET", page.root, Host=host)[0] == 403, host
    assert page.ask(Host=f"localhost:{port}")[0] == 200
    assert len(heard) == 1


def test_another_sites_page_is_refused(page: Page, heard: list[Any]) -> None:
    port = page.server.port
    others = ("http://evil.example", "null", f"https://127.0.0.1:{port}", "http://127.0.0.1")
    for origin in others:
        assert page.ask(Origin=origin)[0] == 403, origin
    assert page.ask(Content_Type="text/plain")[0] == 415  # what a form could send
    assert heard == []
    assert page.ask(Origin=f"http://127.0.0.1:{port}")[0] == 200


def test_a_body_has_a_limit_and_a_length(page: Page, heard: list[Any]) -> None:
    long = {"Content_Type": "application/json", "Content_Length": str(LARGEST_BODY + 1)}
    status, _, body = page.request("POST", f"{page.root}ask", b"{}", **long)
    assert status == 413
    assert b"1,048,576" in body
    with socket.create_connection(("127.0.0.1", page.server.port), timeout=10) as connection:
        head = f"POST {page.root}ask HTTP/1.1\r\nHost: 127.0.0.1:{page.server.port}\r\n"
        kind = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        connection.sendall((head + kind).encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 411")
    assert heard == []


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b"3", b'{"kind": "about"}'])
def test_what_is_no_question_is_refused(page: Page, heard: list[Any], body: bytes) -> None:
    status, _, words = page.request(
        "POST", f"{page.root}ask", body, Content_Type="application/json"
    )
    assert status == 400
    assert b"a question must be" in words
    assert heard == []


def test_a_connection_is_kept_for_the_next_question(page: Page) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", page.server.port, timeout=10)
    for _ in range(3):
        headers = {"Content-Type": "application/json"}
        connection.request("POST", f"{page.root}ask", json.dumps(QUESTION), headers)
        response = connection.getresponse()
        assert response.status == 200
        response.read()
    connection.close()


@pytest.mark.parametrize("body", [b"", b"{" * 1000], ids=["silent", "slow"])
def test_a_request_that_does_not_arrive_in_time_is_left(
    page: Page, heard: list[Any], monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    """A byte now and then gives no more time."""
    monkeypatch.setattr(server_module, "SECONDS_FOR_A_REQUEST", 0.5)
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", page.server.port), timeout=10) as connection:
        head = f"POST {page.root}ask HTTP/1.1\r\nHost: 127.0.0.1:{page.server.port}\r\n"
        kind = "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
        connection.sendall((head + kind).encode())
        with suppress(OSError):
            for byte in body:
                connection.sendall(bytes([byte]))
                time.sleep(0.1)
                if time.monotonic() - began > 5:
                    break
            assert connection.recv(1000) == b""
    assert 0.4 < time.monotonic() - began < 4
    assert heard == []


def test_it_is_quiet(page: Page, capfd: pytest.CaptureFixture[str]) -> None:
    page.request("GET", "/nothing")
    page.ask()
    with socket.create_connection(("127.0.0.1", page.server.port), timeout=10) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nContent-Le")
    page.ask()
    assert capfd.readouterr() == ("", "")


def test_a_port_that_is_taken(page: Page) -> None:
    with pytest.raises(UsageError, match=rf"port {page.server.port} is used by another program"):
        PageServer(page.server.ask, page.server.start_with, page.server.port)
