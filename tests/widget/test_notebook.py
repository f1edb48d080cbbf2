"""The widget in a notebook, spoken to as its front end does."""

import asyncio
import base64
import sys
from html import escape
from typing import Any

import comm
import numpy as np
import pytest

from allyouneed.errors import AllYouNeedError, UsageError
from allyouneed.insight import plotting
from allyouneed.translation.translator import Translator
from allyouneed.widget import notebook
from allyouneed.widget.notebook import look

TEXT = "A man."
PAGE = 3 << 20  # the first number of a view's questions


class Comm(comm.base_comm.BaseComm):
    """The kernel's end of a connection that leads nowhere."""

    def publish_msg(self, *_: object, **__: object) -> None:
        """Nobody listens."""


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], list[bytes]]]:
    """What widgets send to their front ends."""
    monkeypatch.setattr(comm, "create_comm", Comm)
    import ipywidgets

    found: list[tuple[dict[str, Any], list[bytes]]] = []
    monkeypatch.setattr(
        ipywidgets.Widget, "send", lambda _, content, buffers: found.append((content, buffers))
    )
    return found


def tell(widget: Any, message: Any) -> None:
    """A message of the front end."""
    data = {"method": "custom", "content": message}
    widget._handle_msg({"content": {"data": data}, "buffers": []})


def test_the_widget_brings_its_module_and_its_first_states(sent, translator: Translator) -> None:
    widget = look(TEXT, model=translator, beam=2)
    assert "render" in widget._esm
    assert widget._css
    assert [state["text"] for state in widget.start["states"]] == [TEXT]
    assert widget.start["states"][0]["beam"] == 2


def test_questions_are_answered_with_buffers(sent, translator: Translator) -> None:
    widget = look(TEXT, model=translator)
    state = widget.start["states"][0]
    tell(widget, {"id": PAGE + 1, "kind": "translate", "payload": {"state": state, "request": 1}})
    [(told, buffers)] = sent
    assert (told["id"], told["arrays"], buffers) == (PAGE + 1, [], [])
    asked = {"id": told["json"]["id"], "kind": "cross", "layer": 0, "lens": "raw"}
    tell(widget, {"id": PAGE + 2, "kind": "attention", "payload": asked})
    told, buffers = sent[1]
    [array] = told["arrays"]
    weights = np.frombuffer(buffers[0], "<f2").reshape(array["shape"])
    assert array["name"] == "weights"
    np.testing.assert_allclose(weights.sum(axis=2), 1, atol=2e-3)


def test_in_a_kernel_the_newest_of_those_waiting_wins(sent, translator: Translator) -> None:
    widget = look(TEXT, model=translator)
    state = widget.start["states"][0]

    async def hurry() -> None:
        for number in (1, 2, 3):
            payload = {"state": {**state, "text": f"{TEXT} {number}"}, "request": number}
            tell(widget, {"id": PAGE + number, "kind": "translate", "payload": payload})
        assert sent == []
        await asyncio.sleep(0)

    asyncio.run(hurry())
    assert [told["json"].get("obsolete", False) for told, _ in sent] == [True, True, False]


@pytest.mark.parametrize("message", [None, [], {}, {"id": "x"}, {"id": None, "kind": "about"}])
def test_what_is_no_question_is_let_be(sent, translator: Translator, message: Any) -> None:
    tell(look(TEXT, model=translator), message)
    assert sent == []


def test_what_is_asked_wrongly_is_told(sent, translator: Translator) -> None:
    tell(look(TEXT, model=translator), {"id": PAGE, "kind": "maps", "payload": {}})
    assert "maps.id" in sent[0][0]["json"]["error"]


def test_without_a_kernel_there_are_pictures(sent, translator: Translator) -> None:
    widget = look(TEXT, "</p><b>A dog.", model=translator)
    data, _ = widget._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/html"].count("<img ") == 2
    assert escape(f"{TEXT} → {translator(TEXT).text}") in data["text/html"]
    assert "<b>" not in data["text/html"]
    assert widget.pictures[0]["png"] == data["image/png"]


def test_the_pictures_stand_until_a_browser_asks(
    sent, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As nbconvert runs a notebook: in a kernel, with no browser."""
    shown: list[dict[str, str]] = []

    class Handle:
        def update(self, bundle: dict[str, str], raw: bool) -> None:
            shown.append(bundle)

    def display(bundle: dict[str, str]) -> Handle:
        shown.append(bundle)
        return Handle()

    monkeypatch.setattr(notebook, "_display", display)
    widget = look(TEXT, model=translator)
    widget._repr_mimebundle_()
    assert "<img " in shown[0]["text/html"]
    for number in range(2):
        tell(widget, {"id": PAGE + number, "kind": "about", "payload": {}})
    assert shown[1:] == [{"text/html": ""}]
    widget._repr_mimebundle_()
    assert len(shown) == 2


def test_without_matplotlib_there_are_words(
    sent, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plotting, "import_module", no_module)
    data, _ = look(TEXT, model=translator)._repr_mimebundle_()
    assert data["text/html"] == f"<p>{escape(f'{TEXT} → {translator(TEXT).text}')}</p>"
    assert "image/png" not in data


def no_module(name: str) -> None:
    raise ModuleNotFoundError(name)


def test_two_models(sent, translator: Translator, other_translator: Translator) -> None:
    widget = look(TEXT, model=translator, second_model=other_translator)
    assert [state["model"] for state in widget.start["states"]] == [0, 1]
    with pytest.raises(UsageError, match="leave some out"):
        look(TEXT, TEXT, TEXT, model=translator)


def test_a_model_by_name_runs_on_the_core(sent, model_folder) -> None:
    widget = look(TEXT, model=str(model_folder))
    assert [t.engine.name for t in widget.session.translators] == ["core"]
    assert [*widget.session.names] == [model_folder.parent.name]


def test_without_anywidget_it_says_how_to_get_it(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    notebook._widget_class.cache_clear()
    with pytest.raises(AllYouNeedError, match=r"pip install 'allyouneed\[notebook\]'"):
        look(TEXT, model=translator)
