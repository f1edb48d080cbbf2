"""The live view: opened for a text, asked questions, and closed to everybody else."""

from typing import Any

import pytest

from allyouneed.cli.serve_look import ServedViews
from allyouneed.errors import UsageError
from allyouneed.serving import live_view
from allyouneed.serving.shelf import ShelvedModel

Running = Any  # see conftest
Start = Any
TEXT = "The dog sleeps."
LOOK = {"text": TEXT, "source": "en", "target": "de"}


class Echo:
    """A viewer without a model: questions come back as they were asked."""

    missing = ""

    def page(self) -> str:
        return "<p>the view</p>"

    def script(self, text: str, beam: int, page: int) -> str:
        if len(text) > 100:
            raise UsageError("the text is too long")
        return f"// {text} {beam}"

    def part(self, name: str) -> tuple[str, bytes]:
        return {"view.js": ("text/javascript", b"// view")}[name]

    def open(self, model: ShelvedModel) -> live_view.Ask:
        opened.append(f"{model.source}-{model.target}")
        return lambda kind, payload, page: f"{kind} {payload} {page}".encode()


opened: list[str] = []


def test_a_view_of_a_text(start: Start) -> None:
    opened.clear()
    with start(viewer=Echo()) as one:
        assert one.get("/v1/look").json() == {"available": True}
        path = one.post("/v1/look", json=LOOK).json()["path"]
        assert "dog" not in path
        page = one.get(f"/{path}")
        assert page.text == "<p>the view</p>"
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert page.headers["cache-control"] == "no-store"
        assert one.get(f"/{path}start.js").text == f"// {TEXT} 4"
        assert one.get(f"/{path}view.js").headers["content-type"].startswith("text/javascript")
        assert one.get(f"/{path}secrets.txt").status_code == 404
        for _ in range(2):
            asked = {"kind": "about", "payload": {"a": 1}}
            answer = one.post(f"/{path}ask", params={"page": 3}, json=asked)
            assert answer.content == b"about {'a': 1} 3"
        assert one.post(f"/{path}ask", json={"payload": 1}).status_code == 400
        counters = one.get("/metrics").text
    assert opened == ["en-de"]
    assert path.split("/")[1] not in counters
    assert 'http_route="/look/{token}/{part}"' in counters


def test_no_path_can_be_guessed(start: Start) -> None:
    with start(viewer=Echo()) as one:
        for path in ("/look/x/", "/look/x/start.js", "/look/x/view.js", "/look//"):
            assert one.get(path).status_code == 404
        assert one.post("/look/x/ask", json={"kind": "about"}).status_code == 404


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"text": "  "}, 400),
        ({"text": "a" * 101}, 400),
        ({"target": "zz"}, 400),
        ({"text": 1}, 400),
    ],
)
def test_what_cannot_be_looked_at_is_refused(
    start: Start, changes: dict[str, Any], status: int
) -> None:
    with start(viewer=Echo()) as one:
        assert one.post("/v1/look", json={**LOOK, **changes}).status_code == status


def test_without_torch_the_page_says_what_to_install(start: Start) -> None:
    viewer = Echo()
    viewer.missing = "pip install it"
    with start(viewer=viewer) as one:
        assert one.get("/v1/look").json() == {"available": False, "install": "pip install it"}
        answer = one.post("/v1/look", json=LOOK)
    assert (answer.status_code, answer.json()["error"][-14:]) == (501, "pip install it")


def test_the_operator_decides(start: Start) -> None:
    with start(viewer=Echo(), look=False) as one:
        assert one.get("/v1/look").json() == {"available": False}
        assert one.post("/v1/look", json=LOOK).status_code == 403


def test_a_key_is_needed_where_there_are_some(start: Start, tmp_path: Any) -> None:
    from allyouneed.serving.keys import KeyFile

    key = KeyFile(tmp_path / "keys.sqlite").add("one")
    with start(viewer=Echo()) as one:
        assert one.post("/v1/look", json=LOOK).status_code == 400
        allowed = {"authorization": f"Bearer {key}"}
        assert one.post("/v1/look", json=LOOK, headers=allowed).status_code == 200


def test_only_the_newest_views_are_kept(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_view, "MOST_VIEWS", 2)
    with start(viewer=Echo()) as one:
        paths = [one.post("/v1/look", json=LOOK).json()["path"] for _ in range(3)]
        assert [one.get(f"/{path}").status_code for path in paths] == [404, 200, 200]


def test_no_more_questions_than_can_be_answered(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_view, "MOST_QUESTIONS", 0)
    with start(viewer=Echo()) as one:
        path = one.post("/v1/look", json=LOOK).json()["path"]
        answer = one.post(f"/{path}ask", json={"kind": "about"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")


def test_a_model_read_anew_is_looked_into_anew(start: Start) -> None:
    opened.clear()
    with start(viewer=Echo()) as one:
        path = one.post("/v1/look", json=LOOK).json()["path"]
        one.post(f"/{path}ask", json={"kind": "about"})
        one.service.views.forget_models()
        one.post(f"/{path}ask", json={"kind": "about"})
    assert opened == ["en-de", "en-de"]


def test_the_view_of_a_real_model(start: Start, tmp_path: Any) -> None:
    """The bundled model answers the view's first question. The page's address contains no text."""
    from allyouneed.serving.shelf import Shelf, open_shelf

    shelf: Shelf = open_shelf(["en-de"])
    with start(viewer=ServedViews()) as one:
        one.service.desk.shelf = shelf
        path = one.post("/v1/look", json=LOOK).json()["path"]
        assert '"link": false' in one.get(f"/{path}start.js").text
        about = one.post(f"/{path}ask", json={"kind": "about", "payload": {}})
        assert b"en-de" in about.content
        too_long = one.post("/v1/look", json={**LOOK, "text": "a" * 20_001})
        assert too_long.status_code == 400
