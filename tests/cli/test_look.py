"""`allyouneed look`: the page's address on standard error, or a file."""

import re
import urllib.request
import webbrowser
from pathlib import Path
from threading import Thread

import pytest

from allyouneed.cli import look
from allyouneed.widget import saved
from allyouneed.widget.server import PageServer


@pytest.fixture
def visited(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The server's address and page, as a browser gets it; then Ctrl-C."""
    found: list[str] = []

    def serve(server: PageServer) -> None:
        server.timeout = 10

        def visit() -> None:
            with urllib.request.urlopen(f"{server.address}start.js", timeout=10) as page:
                found.extend([server.address, page.read().decode()])

        visitor = Thread(target=visit)
        visitor.start()
        server.handle_request()
        visitor.join(10)
        raise KeyboardInterrupt

    monkeypatch.setattr(PageServer, "serve_forever", serve)
    return found


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses that a browser was opened at."""
    found: list[str] = []

    class AtOnce:
        def __init__(self, target, args, daemon) -> None:
            self.start = lambda: target(*args)

    monkeypatch.setattr(look, "Thread", AtOnce)
    monkeypatch.setattr(webbrowser, "open", lambda address: not found.append(address))
    return found


def test_it_serves_the_page_until_ctrl_c(call, copier_folder: Path, visited, opened) -> None:
    done = call("look", "--model", copier_folder, "--beam", "2", "A man.", "A dog.")
    assert (done.code, done.out) == (0, "")
    address, script = visited
    assert f"note: the view is at {address}; Ctrl-C ends it\n" in done.err
    assert done.err.endswith("note: closed\n")
    assert re.search(r'"text": "A man\.".*"text": "A dog\."', script)
    assert opened == [address]


def test_no_browser(call, copier_folder: Path, visited, opened) -> None:
    assert call("look", "--model", copier_folder, "--no-browser").code == 0
    assert opened == []
    assert look.EXAMPLE in visited[1]


def test_a_browser_that_does_not_open(
    call, copier_folder: Path, visited, opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    done = call("look", "--model", copier_folder)
    assert "no browser could be opened; open the address yourself" in done.err


def test_a_second_model(call, copier_folder: Path, visited, opened) -> None:
    folder = str(copier_folder)
    done = call("look", "--model", folder, "--second-model", folder, "A man.")
    assert done.code == 0, done.err
    assert re.findall(r'"model": (\d)', visited[1]) == ["0", "1"]


def test_it_saves_a_file(
    call, copier_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved, "heads", lambda model: [])
    path = tmp_path / "view.html"
    done = call("look", "--model", copier_folder, "--html", path, "A man.")
    assert (done.code, done.out) == (0, f"{path}\n")
    assert re.search(r"note: \d\.\d MB; open it in any browser", done.err)
    assert path.read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["a", "b", "c"], 2, "3 sentences with 1 models"),
        (["a", "b", "--second-model", "en-de"], 2, "2 sentences with 2 models"),
        (["a", "--html", "x.html", "--port", "80"], 2, "--port and --no-browser do not apply"),
        (["a", "--html", "x.html", "--no-browser"], 2, "do not apply to --html"),
        (["a", "--beam", "65"], 2, "look.beam = 65"),
        (["a", "--port", "70000"], 2, "less than or equal to 65535"),
        (["a", "--model", "no-such"], 1, "there is no model 'no-such'"),
    ],
)
def test_a_call_that_is_wrong(call, arguments: list[str], code: int, words: str) -> None:
    done = call("look", *arguments)
    assert (done.code, done.out) == (code, "")
    assert words in done.err


def test_a_file_that_cannot_be_written(call, copier_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "view.html"
    done = call("look", "--model", copier_folder, "--html", path, "A man.")
    assert done.code == 1
    assert "there is no folder" in done.err
