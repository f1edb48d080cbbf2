"""https: with files of the user, and an error for files that cannot be used."""

import shutil
import socket
import ssl
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from allyouneed.errors import UsageError
from allyouneed.serving import server

Start = Any  # see conftest

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=test"]
    command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1"]
    command += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


def test_https_with_a_certificate_that_is_checked(start: Start, files: tuple[Path, Path]) -> None:
    certificate, key = files
    with start(tls_certificate=certificate, tls_key=key) as one:
        assert one.address.startswith("https://127.0.0.1:")
        trust = ssl.create_default_context(cafile=str(certificate))
        with httpx.Client(base_url=one.address, verify=trust, trust_env=False) as client:
            body = {"q": "Hello.", "source": "en", "target": "de"}
            assert client.post("/translate", json=body).json() == {"translatedText": "Hello."}
        with pytest.raises(httpx.ConnectError, match=r"(?i)certificate"):
            one.get("/health")
        with pytest.raises(httpx.HTTPError):
            httpx.get(one.address.replace("https", "http") + "/health", trust_env=False)


def test_clients_that_never_begin_a_handshake_are_closed_and_hold_up_nobody(
    start: Start, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HANDSHAKE_SECONDS", 1.0)
    certificate, key = files
    with ExitStack() as opened, start(tls_certificate=certificate, tls_key=key) as one:
        place = httpx.URL(one.address)
        idle = [
            opened.enter_context(socket.create_connection((place.host, place.port), 30))
            for _ in range(100)
        ]
        trust = ssl.create_default_context(cafile=str(certificate))
        answer = httpx.get(one.address + "/health", verify=trust, trust_env=False)
        assert answer.status_code == 200
        assert [one.recv(1) for one in idle] == [b""] * 100


def test_files_that_are_no_certificate_are_named(start: Start, files: tuple[Path, Path]) -> None:
    _, key = files
    with pytest.raises(UsageError, match=r"key\.pem.*cannot be used for TLS"):  # noqa: SIM117
        with start(tls_certificate=key, tls_key=key):
            pass
