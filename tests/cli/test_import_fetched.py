"""`allyouneed import firefox:PAIR` and `hf:ORG/NAME` against servers on this machine, and
`allyouneed models` that lists what has come."""

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from allyouneed.core.transformer import Transformer
from allyouneed.errors import DataError, ModelFolderError, UsageError
from allyouneed.interop import firefox
from allyouneed.interop.huggingface_folder import export_huggingface
from allyouneed.loading import load
from allyouneed.model_folder import places
from allyouneed.model_folder.folder import open_model_folder, save_model_folder
from allyouneed.text.tokenizer import Tokenizer

Call = Callable[..., Any]


@pytest.fixture(autouse=True)
def own_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("ALLYOUNEED_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr(places, "fetched_home", lambda: tmp_path / "fetched")
    return tmp_path / "models"


# Firefox


@pytest.fixture
def mirror(
    file_server: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[[dict[str, bytes]], firefox.RegisteredModel]:
    """Serves files as a model of the register, and puts it there as xx-yy."""

    def serve(files: dict[str, bytes]) -> firefox.RegisteredModel:
        entries = []
        for name, content in files.items():
            packed = gzip.compress(content)
            path = f"tiny/xxyy/{name}.gz"
            file_server.files[f"/{path}"] = packed
            digest = hashlib.sha256(packed).hexdigest()
            entries.append(firefox.RegisteredFile(path, digest, len(packed)))
        model = firefox.RegisteredModel("xx-yy", "tiny", 0.9, tuple(entries))
        monkeypatch.setattr(firefox, "registered", lambda: ("http://nowhere.invalid", [model]))
        monkeypatch.setenv("ALLYOUNEED_FIREFOX", file_server.address)
        return model

    return serve


FILES = {"model.xxyy.intgemm.alphas.bin": b"weights" * 3000, "vocab.xxyy.spm": b"pieces" * 999}


def test_files_come_once_and_go_on_where_they_broke_off(
    mirror: Any, file_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from allyouneed.data import download

    monkeypatch.setattr(download, "WAIT_S", 0.0)
    model = mirror(FILES)
    file_server.break_after = [20]
    seen: list[tuple[str, int, int | None]] = []
    place = firefox.fetch(model, tmp_path / "x", lambda *told: seen.append(told))
    assert file_server.asked[:2] == [None, "bytes=20-"]
    for name, content in FILES.items():
        assert gzip.decompress((place / f"{name}.gz").read_bytes()) == content
    assert seen[-1][1] == seen[-1][2] == model.files[-1].size
    asked = len(file_server.asked)
    file_server.files.clear()
    assert firefox.fetch(model, tmp_path / "x", lambda *told: None) == place
    assert len(file_server.asked) == asked


def test_another_file_than_the_registers_is_refused(
    mirror: Any, file_server: Any, tmp_path: Path
) -> None:
    model = mirror(FILES)
    path = f"/{model.files[0].path}"
    good = file_server.files[path]
    file_server.files[path] = good[:-1] + bytes([good[-1] ^ 1])
    with pytest.raises(DataError, match="has the checksum sha256:"):
        firefox.fetch(model, tmp_path / "x", lambda *told: None)
    file_server.files[path] = good + bytes(10**6)
    with pytest.raises(DataError, match=r"sends more than the [0-9,]+ bytes that are due"):
        firefox.fetch(model, tmp_path / "x", lambda *told: None)


def test_the_register_in_the_package() -> None:
    address, models = firefox.registered()
    assert address.startswith("https://media.githubusercontent.com/media/mozilla/")
    assert len(models) == 137
    assert firefox.find("en-de").kind == "base-memory"
    assert firefox.find("en-de:tiny").size < 20e6
    for model in models:
        assert all(len(file.sha256) == 64 and file.size > 0 for file in model.files)
        assert any(file.path.endswith(".spm.gz") for file in model.files)
    with pytest.raises(UsageError, match=r"no model 'en-dd'; did you mean firefox:en-..\? there"):
        firefox.find("en-dd")
    with pytest.raises(
        UsageError, match="firefox:en-de has the kinds base-memory, tiny, not 'big'"
    ):
        firefox.find("en-de:big")


def test_a_model_that_is_none_is_refused_by_the_verb(call: Call, mirror: Any) -> None:
    mirror(FILES)
    refused = call("import", "firefox:xx-yy")
    assert refused.code == 1
    assert "xx-yy.tiny" in refused.err
    assert "firefox:xx-yy: tiny, 0 MB, licence MPL-2.0" in refused.err
    assert call("models", "--json").out.count('"origin": "imported"') == 0


# The hub


class Hub(ThreadingHTTPServer):
    """Speaks the hub's protocol about `folder`, the only model, a/b."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _HubHandler)
        self.folder = folder
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _HubHandler(BaseHTTPRequestHandler):
    server: Hub

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        path = self.path.partition("?")[0]
        self.server.asked.append(path)
        commit = "c" * 40
        if path.startswith("/api/models/a/b"):
            names = [{"rfilename": file.name} for file in self.server.folder.iterdir()]
            if "/tree/" in path:
                names = [
                    {"type": "file", "path": f.name, "size": f.stat().st_size, "oid": "0" * 40}
                    for f in self.server.folder.iterdir()
                ]
                self.give(json.dumps(names).encode(), body)
                return
            answer = {"id": "a/b", "modelId": "a/b", "sha": commit, "siblings": names}
            self.give(json.dumps(answer).encode(), body)
        elif "/resolve/" in path and path.startswith("/a/b/"):
            file = self.server.folder / path.rpartition("/")[2]
            content = file.read_bytes()
            etag = hashlib.sha256(content).hexdigest()
            self.give(content, body, {"X-Repo-Commit": commit, "ETag": f'"{etag}"'})
        else:
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()

    def give(self, content: bytes, body: bool, headers: dict[str, str] | None = None) -> None:
        self.send_response(200)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def hub(
    small_model: Callable[..., Transformer], small_tokenizer: Tokenizer, tmp_path: Path
) -> Iterator[Hub]:
    save_model_folder(tmp_path / "m", small_model(output_bias=True), small_tokenizer)
    export_huggingface(open_model_folder(tmp_path / "m"), tmp_path / "served")
    (tmp_path / "served" / "pytorch_model.bin").write_bytes(b"a pickle")
    (tmp_path / "served" / "notes.txt").write_bytes(b"not needed")
    with Hub(tmp_path / "served") as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def run(tmp_path: Path, address: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """The verb in a process of its own, as the hub's library reads its settings once."""
    cache = str(tmp_path / "cache")
    settings = {
        "ALLYOUNEED_CACHE": cache,
        "HF_ENDPOINT": address,
        "HF_HOME": str(tmp_path / "hub"),
        "HF_HUB_DISABLE_XET": "1",
    }
    return subprocess.run(
        [sys.executable, "-m", "allyouneed", "import", *arguments],
        env={**os.environ, **settings, "HF_HUB_DISABLE_TELEMETRY": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_model_of_the_hub(hub: Hub, tmp_path: Path, own_places: Path, call: Call) -> None:
    done = run(tmp_path, hub.address, "hf:a/b")
    assert done.returncode == 0, done.stderr
    fetched = {path.rpartition("/")[2] for path in hub.asked if "/resolve/" in path}
    assert "model.safetensors" in fetched
    assert not fetched & {"pytorch_model.bin", "notes.txt"}
    own = load(tmp_path / "m", engine="core")
    assert load("b", engine="core").tokenizer.to_json() == own.tokenizer.to_json()
    assert load("b", engine="core").config == load(own_places / "b", engine="core").config
    [line] = [
        json.loads(line)
        for line in call("models", "--json").out.splitlines()
        if '"imported"' in line
    ]
    assert (line["name"], line["kind"], line["path"]) == ("b", "translates", str(own_places / "b"))
    assert line["bytes"] > 1000
    asked = len(hub.asked)
    again = run(tmp_path, hub.address, "hf:a/b", "--into", str(tmp_path / "again"))
    assert again.returncode == 0, again.stderr
    assert len(hub.asked) == asked


def test_pickles_of_the_hub_are_refused(hub: Hub, tmp_path: Path) -> None:
    (hub.folder / "model.safetensors").unlink()
    refused = run(tmp_path, hub.address, "hf:a/b")
    assert refused.returncode == 1
    assert (
        "hf:a/b has no model.safetensors, only pytorch_model.bin; pickles are not" in refused.stderr
    )
    assert not [path for path in hub.asked if "/resolve/" in path]


def test_what_the_hub_has_not(hub: Hub, tmp_path: Path) -> None:
    missing = run(tmp_path, hub.address, "hf:a/c")
    assert missing.returncode == 1
    assert "hf:a/c: the hub has no such model" in missing.stderr
    wrong = run(tmp_path, hub.address, "hf:../../etc")
    assert wrong.returncode == 2
    began = time.monotonic()
    offline = run(tmp_path, "http://127.0.0.1:9", "hf:a/new")
    assert time.monotonic() - began < 15  # not after six tries, with longer and longer waits
    assert offline.returncode == 1
    assert "the hub cannot be reached (" in offline.stderr


# Names


def test_an_imported_model_is_found_by_its_name(
    model_folder: Path, own_places: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_places.mkdir()
    model_folder.rename(own_places / "fr-en")
    assert open_model_folder("fr-en").path == own_places / "fr-en"
    with pytest.raises(
        ModelFolderError, match=r"'fr-em'.*the imported ones fr-en; did you mean fr"
    ):
        open_model_folder("fr-em")
    listed = call("models")
    assert "fr-en" in listed.out
    assert "en-de" in listed.out
    assert f"imported models are in {own_places}" in listed.err
    (own_places / "broken").mkdir()
    (own_places / "broken" / "config.json").write_text("{")
    assert "note: broken: " in call("models", "--json").err


def test_a_name_is_no_folder_of_another_toolkit(
    model_folder: Path, own_places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`allyouneed import ende` leaves the folder ende beside the user; the import's note says
    `--model ende`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ende").mkdir()
    with pytest.raises(ModelFolderError, match="ende is not a model folder"):
        open_model_folder("ende")
    own_places.mkdir()
    shutil.copytree(model_folder, own_places / "ende")
    assert open_model_folder("ende").path == own_places / "ende"
    (tmp_path / "ende" / "config.json").write_text('{"model_type": "marian"}')
    assert open_model_folder("ende").path == own_places / "ende"
    for path in ("./ende/", Path("ende").absolute()):
        with pytest.raises(ModelFolderError, match="ende"):
            open_model_folder(path)
    shutil.rmtree(tmp_path / "ende")
    model_folder.rename(tmp_path / "ende")
    assert open_model_folder("ende").path == Path("ende")


def test_models_names_the_cache_and_its_size(
    own_places: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALLYOUNEED_CACHE", str(tmp_path / "kept"))
    packed = tmp_path / "kept" / "allyouneed" / "packed"
    said = f"in {packed.parent}; you can remove it at any time"
    assert f"note: the cache has 0 MB {said}" in call("models").err
    packed.mkdir(parents=True)
    (packed / "a.packed").write_bytes(bytes(3_000_000))
    (packed.parent / "any-0.so").write_bytes(bytes(1_000_000))
    assert f"note: the cache has 4 MB {said}" in call("models").err
