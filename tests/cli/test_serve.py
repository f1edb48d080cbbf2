"""`allyouneed serve`: refusals before it starts, and a whole life in a process of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from allyouneed.cli import serve
from allyouneed.core.config import BASE
from allyouneed.engine.native import why_not
from allyouneed.serving.settings import Settings

Call = Any  # see conftest
VALUES: dict[str, Any] = {
    "model": ["en-de"],
    "host": "127.0.0.2",
    "port": 6000,
    "threads": 3,
    "engine": "core",
    "debug": True,
    "beam": 2,
    "open": True,
    "keys": "keys.sqlite",
    "allow_host": ["a", "b"],
    "allow_origin": ["https://example.org"],
    "tls_certificate": "a.pem",
    "tls_key": "b.pem",
    "glossaries": "glossaries",
    "suggestions": "suggestions.tmx",
    "deadline": 5.5,
    "max_characters": 1000,
    "max_texts": 100,
    "max_alternatives": 3,
    "max_body": 2048,
    "max_file": 4096,
    "max_connections": 10,
    "queue_tokens": 500,
    "requests_per_minute": 7,
    "no_page": True,
    "look": True,
    "log_json": True,
    "log_texts": True,
}
"""A value other than the default for each setting."""

# Says whether torch was loaded, once the service has ended.
SERVE = """
import sys
from allyouneed.cli.app import main
try: main()
finally: print("torch" in sys.modules, flush=True)
"""


def test_others_are_not_let_in_without_a_key(call: Call, tmp_path: Path) -> None:
    done = call("serve", "--host", "0.0.0.0", "--port", 0, "--keys", tmp_path / "none.sqlite")
    assert done.code == 2
    assert "allyouneed keys add" in done.err
    assert "--open" in done.err


def test_a_taken_port_is_said(call: Call, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = call("serve", "--port", port, "--keys", tmp_path / "none.sqlite")
    assert done.code == 2
    assert f"port {port} of 127.0.0.1 is taken by another program" in done.err


def test_a_wrong_setting_is_said(call: Call, tmp_path: Path) -> None:
    (tmp_path / "serve.toml").write_text("prot = 1")
    done = call("serve", "--config", tmp_path / "serve.toml")
    assert (done.code, done.out) == (2, "")
    assert "did you mean 'port'" in done.err


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("THREADS", "abc"),
        ("THREADS", "0"),
        ("ENGINE", "fast"),
        ("DEBUG", "perhaps"),
        ("PORT", "99999"),
        ("NO_PAGE", "perhaps"),
    ],
)
def test_a_wrong_value_of_a_variable_names_the_variable(
    call: Call, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(f"ALLYOUNEED_{variable}", value)
    done = call("serve")
    assert (done.code, done.out) == (2, "")
    assert f"ALLYOUNEED_{variable}" in done.err


class Reached(Exception):
    """The service would start now."""


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """The settings of calls, which end as soon as these are known."""
    found: list[Settings] = []

    def stop(settings: Settings) -> None:
        found.append(settings)
        raise Reached

    monkeypatch.setattr(serve, "_keyring", stop)
    return found


def test_every_option_can_stand_in_a_variable_and_in_the_file(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, resolved: list[Settings]
) -> None:
    values = {
        name: " ".join(value) if isinstance(value, list) else str(value)
        for name, value in VALUES.items()
    }
    file = tmp_path / "serve.toml"
    file.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in VALUES.items()))
    call("serve", "--config", file)
    for name, value in values.items():
        monkeypatch.setenv(f"ALLYOUNEED_{name.upper()}", value)
    call("serve")
    assert resolved[0] == resolved[1] == Settings.model_validate(VALUES)
    assert VALUES.keys() == Settings.model_fields.keys()


def test_variables_of_earlier_versions_are_read(
    call: Call, monkeypatch: pytest.MonkeyPatch, resolved: list[Settings]
) -> None:
    monkeypatch.setenv("ALLYOUNEED_HOSTS", "a")
    monkeypatch.setenv("ALLYOUNEED_ORIGINS", "b")
    call("serve")
    assert (resolved[0].allow_host, resolved[0].allow_origin) == (["a"], ["b"])


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def status(port: int, path: str) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return int(answer.status)
    except OSError:
        return 0


@pytest.mark.skipif(why_not(BASE) is not None, reason="the native engine does not run here")
@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of Unix")
def test_a_life_from_start_to_sigterm(tmp_path: Path) -> None:
    port = free_port()
    environment = {"ALLYOUNEED_PORT": str(port), "XDG_DATA_HOME": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, "serve", "--model", "en-de", "--log-json"],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until = time.monotonic() + 120
        while status(port, "/ready") != 200:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.1)
        data = b"q=Hello.&source=en&target=de"
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/translate", data, 60) as answer:
            assert b"translatedText" in answer.read()
        process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        assert status(port, "/health") == 200
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert '"message": "POST /translate"' in err
    assert "Hello" not in err
    assert out == "False\n"  # the process has no torch


@pytest.mark.skipif(why_not(BASE) is not None, reason="the native engine does not run here")
@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of Unix")
def test_a_second_ctrl_c_ends_a_running_translation_without_a_traceback() -> None:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, "serve", "--open", "--port", str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until = time.monotonic() + 120
        while status(port, "/ready") != 200:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.1)
        lines = [f"The dog sleeps under the table for {n} hours." for n in range(9_000)]
        body = json.dumps({"q": lines, "source": "en", "target": "de"}).encode()
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            head = "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
            client.sendall(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            while "allyouneed_batch_texts_count 0" in metrics(port):
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
            assert process.poll() is None  # what runs may finish
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=5)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "Error" not in err


def metrics(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return str(answer.read().decode())


@pytest.mark.skipif(why_not(BASE) is not None, reason="the native engine does not run here")
@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of Unix")
def test_the_start_says_that_clients_need_a_key(call: Call, tmp_path: Path) -> None:
    keys = tmp_path / "keys.sqlite"
    assert call("keys", "add", "weblate", "--keys", keys).code == 0
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, "serve", "--model", "en-de", "--port", "0", "--keys", keys],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        first = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    finally:
        process.kill()
    assert f"to clients with a key of {keys} until Ctrl-C" in first
