"""Services that run in the tests' own process, on ports of this machine."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from allyouneed.engine.leaving import leaving_here
from allyouneed.serving.app import Service
from allyouneed.serving.keys import KeyFile, Keyring
from allyouneed.serving.live_view import Viewer
from allyouneed.serving.server import Server, address_of, configuration, open_socket
from allyouneed.serving.settings import Settings
from allyouneed.serving.shelf import Shelf, ShelvedModel
from allyouneed.translation.translator import Translator


@dataclass
class Running:
    """A service, where it is, and a client for it."""

    service: Service
    address: str
    client: httpx.Client

    def post(self, path: str, **named: Any) -> httpx.Response:
        return self.client.post(path, **named)

    def get(self, path: str, **named: Any) -> httpx.Response:
        return self.client.get(path, **named)


Start = Callable[..., Any]


@contextmanager
def running(
    shelf: Callable[[], Shelf], keys: Path, viewer: Viewer | None = None, **changes: Any
) -> Iterator[Running]:
    settings = Settings(**{"model": ["copier"], "port": 0, "threads": 2, **changes})
    keyring = Keyring(KeyFile(keys), settings.open, settings.requests_per_minute)
    service = Service(settings, shelf, keyring, viewer)
    started = threading.Event()
    with open_socket(settings) as opened:
        address = address_of(settings, opened)
        server = Server(configuration(service), service, started.set)
        thread = threading.Thread(target=server.run, args=([opened],))
        thread.start()
        try:
            assert started.wait(30)
            with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
                yield Running(service, address, client)
        finally:
            server.should_exit = True
            thread.join(30)
    assert not thread.is_alive()


@pytest.fixture(scope="session")
def shelf(copier: Translator) -> Shelf:
    """A model that copies, both ways between English and German."""
    return Shelf(
        [ShelvedModel("one", "en", "de", copier), ShelvedModel("other", "de", "en", copier)]
    )


@pytest.fixture(scope="session")
def served(shelf: Shelf, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service as it is by default."""
    keys = tmp_path_factory.mktemp("keys") / "keys.sqlite"
    with running(lambda: shelf, keys) as one:
        yield one


@pytest.fixture
def start(shelf: Shelf, tmp_path: Path) -> Start:
    """Starts a service with other settings: `with start(max_texts=3) as one: ...`."""
    return lambda **changes: running(lambda: shelf, tmp_path / "keys.sqlite", **changes)


@pytest.fixture
def held(copier: Translator, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Searches wait until this event is set, or until nobody needs them any more."""
    released = threading.Event()
    search = copier.engine.search

    def waits(*arguments: Any, **named: Any) -> Any:
        left = leaving_here().every
        while not (released.is_set() or left.is_set()):
            time.sleep(0.005)
        return search(*arguments, **named)

    monkeypatch.setattr(copier.engine, "search", waits)
    yield released
    released.set()
