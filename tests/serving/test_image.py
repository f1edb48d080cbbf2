"""The image's steps, as far as they can be done without Docker, root and a network: what it copies
is there, and its command serves with its variables, where only the volume can be written to."""

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
from fnmatch import fnmatch
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]
BUILT_FROM = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src")
NO_FOLDER = "/dev/null"  # below which even root cannot make a folder


def steps() -> list[tuple[str, str]]:
    """The Dockerfile's instructions: name and arguments."""
    text = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
    lines = re.sub(r"(?m)^#.*\n", "", text).replace("\\\n", " ").splitlines()
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines)]


def arguments(name: str) -> str:
    """Those of the last instruction of this name."""
    return [rest for one, rest in steps() if one == name][-1]


def test_what_the_image_copies_is_there() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    copied = [shlex.split(rest) for name, rest in steps() if name == "COPY"]
    here = [source for one in copied if not one[0].startswith("--from") for source in one[:-1]]
    in_runs = re.findall(r"/source/([\w./-]+)", " ".join(rest for _, rest in steps()))
    assert here == ["."]
    assert in_runs
    for needed in (*here, *BUILT_FROM, *in_runs):
        assert (ROOT / needed).exists(), needed
        assert not any(fnmatch(needed, pattern) for pattern in ignored), needed


@pytest.mark.slow
def test_the_images_command_serves_where_only_the_volume_can_be_written_to(tmp_path: Path) -> None:
    volume = arguments("VOLUME")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    named = dict(one.split("=", 1) for one in shlex.split(arguments("ENV")))
    path = named.pop("PATH")
    assert path.startswith("/opt/allyouneed/bin:")
    own = {name: value.replace(volume, str(tmp_path)) for name, value in named.items()}
    left = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "ALLYOUNEED_"))}
    variables = {**left, **own, "HOME": NO_FOLDER, "ALLYOUNEED_PORT": port}
    [program, *_] = json.loads(arguments("ENTRYPOINT"))
    assert program == "allyouneed"
    command = [sys.executable, "-m", program]
    add = [*command, "keys", "add", "test", "--keys", own["ALLYOUNEED_KEYS"]]
    made = subprocess.run(add, env=variables, capture_output=True, text=True, check=True)
    key = made.stdout.split()[-1]
    asks = json.loads(arguments("HEALTHCHECK").partition("CMD")[2])
    probe = [sys.executable, *(one.replace(":5000", f":{port}") for one in asks[1:])]
    serve = [*command, *json.loads(arguments("CMD"))]
    with subprocess.Popen(serve, env=variables, stderr=subprocess.PIPE, text=True) as service:
        try:
            until = time.monotonic() + 120
            while subprocess.run(probe, capture_output=True, check=False).returncode:
                assert service.poll() is None, service.communicate()[1]
                assert time.monotonic() < until
            body = {"q": "Good morning.", "source": "en", "target": "de", "api_key": key}
            address = f"http://127.0.0.1:{port}/translate"
            answer = httpx.post(address, json=body, trust_env=False, timeout=60)
            assert answer.json() == {"translatedText": "Guten Morgen."}
        finally:
            service.terminate()
            said = service.communicate(timeout=60)[1]
    logged = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert {line["level"] for line in logged} == {"info"}, said
    assert service.returncode == 0
