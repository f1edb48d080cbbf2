"""The view in a notebook: a widget whose questions a session answers in the kernel."""

import asyncio
import sys
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from allyouneed.checks import expect
from allyouneed.errors import AllYouNeedError
from allyouneed.widget.packing import ViewAnswer, half
from allyouneed.widget.page import Start, static
from allyouneed.widget.pictures import pictures
from allyouneed.widget.session import Session

if TYPE_CHECKING:
    from allyouneed.translation.translator import Translator

QUESTIONS_OF_A_VIEW = 1 << 20  # a question's number divided by this is the number of its view


def look(
    *texts: str,
    model: "str | Translator" = "en-de",
    second_model: "str | Translator | None" = None,
    beam: int = 4,
) -> Any:
    """The live view of one or two sentences, shown as the last value of a notebook's cell.

        allyouneed.look("The man did it, said the boy.", "The man said the boy did it.")

    A model is a name, a folder or a translator. With a second model, each of them translates the
    sentence. The core model runs in the kernel, between its cells. Where there is no kernel, as in
    a page that nbconvert has made, the cell shows a picture. Returns an ipywidgets widget
    (`anywidget.AnyWidget`).

    Raises:
        AllYouNeedError: anywidget is not installed.
        ModelFolderError: the model does not exist or cannot be read.
        UsageError: there are more than two sentences, or the beam cannot be used.
    """
    widget = _widget_class()
    for text in texts:
        expect(text, str, "text", "sentences as strings")
    models = [model] if second_model is None else [model, second_model]
    names = [one if isinstance(one, str) else "model" for one in models]
    session = Session([_opened(one) for one in models], names)
    return widget(session, Start.of(texts, beam, len(models)))


def _opened(model: "str | Translator") -> "Translator":
    from allyouneed.loading import load
    from allyouneed.translation.translator import Translator

    if isinstance(model, Translator):
        return model
    return load(model, engine="core", kind=Translator)


def _display(bundle: dict[str, str]) -> Any:
    """Shows the bundle in the cell. Returns its handle, or None outside of a kernel."""
    if not in_kernel():
        return None
    from IPython.display import display

    show: Any = display
    return show(bundle, raw=True, display_id=True)


def in_kernel() -> bool:
    """Whether a notebook's kernel runs this code."""
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def _as_html(words: str, png: str) -> str:
    """A picture as HTML, with its bytes in base64; its words if there are no bytes."""
    if not png:
        return f"<p>{escape(words)}</p>"
    style = "max-width: 100%"
    return f'<img alt="{escape(words)}" src="data:image/png;base64,{png}" style="{style}">'


def _as_bundle(pictures: list[tuple[str, str]]) -> dict[str, str]:
    """Pictures (words, bytes in base64) as a cell shows them; the first one also as an image."""
    if not pictures:
        return {}
    html = {"text/html": "".join(_as_html(*one) for one in pictures)}
    first = pictures[0][1]
    return {**html, "image/png": first} if first else html


def _as_message(number: int, answer: ViewAnswer) -> tuple[dict[str, Any], list[bytes]]:
    """The answer to question `number`, and the buffers with its arrays."""
    arrays = [{"name": name, "shape": list(array.shape)} for name, array in answer.arrays.items()]
    message = {"id": number, "json": answer.json, "arrays": arrays}
    return message, [half(array).tobytes() for array in answer.arrays.values()]


def _check_anywidget() -> None:
    """Raises AllYouNeedError if anywidget is not installed."""
    try:
        import anywidget  # noqa: F401
    except ImportError as error:
        raise AllYouNeedError(
            "the view in a notebook needs anywidget; run pip install 'allyouneed[notebook]', or "
            'open the view from the command line with allyouneed look "…"'
        ) from error


@cache
def _widget_class() -> Callable[[Session, Start], Any]:
    """The class of the widget. It is made when it is needed, because anywidget is an extra."""
    _check_anywidget()
    import anywidget
    import traitlets

    class View(anywidget.AnyWidget):
        """One view in a notebook."""

        _esm = static("view.js")[1].decode()
        _css = static("view.css")[1].decode()
        start = traitlets.Dict().tag(sync=True)
        pictures: Any = traitlets.List().tag(sync=True)

        def __init__(self, session: Session, start: Start) -> None:
            super().__init__(start=start.options())
            self.session, self._states = session, start.states
            self._shown: Any = None
            self.on_msg(self._hear)

        def _repr_mimebundle_(self, **options: Any) -> Any:
            """The widget, and pictures for pages without a kernel.

            nbconvert runs a notebook without a browser and keeps the widget's state. Its page then
            shows a widget without a kernel that could answer. Therefore pictures are shown above
            the widget until a browser asks its first question.
            """
            found = super()._repr_mimebundle_(**options)
            data, metadata = found if isinstance(found, tuple) else (found, {})
            if data is None:
                return None
            drawn = pictures(self.session, self._states)
            encoded = [(one.words, b64encode(one.png).decode()) for one in drawn]
            self.pictures = [{"words": words, "png": png} for words, png in encoded]
            shown = _as_bundle(encoded)
            if shown and self._shown is None:
                self._shown = _display({"text/html": shown["text/html"]})
            return {**shown, **data}, metadata

        def _hear(self, _: Any, asked: Any, buffers: Any) -> None:
            """Answers a question after the kernel has heard all waiting questions. A newer question
            can then make an older one obsolete, and the model runs only between cells."""
            number = asked.get("id") if isinstance(asked, dict) else None
            if type(number) is not int:
                return
            if self._shown:
                self._shown.update({"text/html": ""}, raw=True)
            self._shown = False
            page = number // QUESTIONS_OF_A_VIEW
            answer = self.session.hear(str(asked.get("kind")), asked.get("payload"), page)

            def reply() -> None:
                self.send(*_as_message(number, answer()))

            try:
                asyncio.get_running_loop().call_soon(reply)
            except RuntimeError:  # no loop: not in a kernel
                reply()

    return View
