"""The view in a notebook: a widget whose questions a session answers in the kernel."""

import asyncio
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from allyouneed.errors import AllYouNeedError
from allyouneed.widget.packing import half
from allyouneed.widget.page import Start, static
from allyouneed.widget.session import Session

if TYPE_CHECKING:
    from allyouneed.translation.translator import Translator

QUESTIONS_OF_A_VIEW = 1 << 20  # the number of a question, over this, is that of the view


def look(
    *texts: str,
    model: "str | Translator" = "en-de",
    second_model: "str | Translator | None" = None,
    beam: int = 4,
) -> Any:
    """The live view of one or two sentences, as the last value of a notebook's cell.

        allyouneed.look("The man did it, said the boy.", "The man said the boy did it.")

    A model is a name, a folder or a translator; with a second one, each model translates the
    sentence. The paper's own code runs in the kernel, between its cells. Returns an ipywidgets
    widget (`anywidget.AnyWidget`).

    Raises:
        AllYouNeedError: anywidget is not installed.
        ModelFolderError: no such model, or one that cannot be read.
        UsageError: more than two sentences, or a beam that cannot be used.
    """
    widget = _widget_class()
    models = [model] if second_model is None else [model, second_model]
    names = [one if isinstance(one, str) else "model" for one in models]
    session = Session([_opened(one) for one in models], names)
    return widget(session, Start.of(texts, beam, len(models)))


def _opened(model: "str | Translator") -> "Translator":
    from allyouneed.loading import load
    from allyouneed.translation.translator import Translator

    return load(model, engine="core", kind=Translator) if isinstance(model, str) else model


@cache
def _widget_class() -> Callable[[Session, Start], Any]:
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise AllYouNeedError(
            "the view in a notebook needs anywidget: pip install 'allyouneed[notebook]'; "
            'on the command line, allyouneed look "…" opens it without'
        ) from error

    class View(anywidget.AnyWidget):
        """One view in a notebook."""

        _esm = static("view.js")[1].decode()
        _css = static("view.css")[1].decode()
        start = traitlets.Dict().tag(sync=True)

        def __init__(self, session: Session, start: Start) -> None:
            super().__init__(start=start.options())
            self.session = session
            self.on_msg(self._hear)

        def _hear(self, _: Any, asked: Any, buffers: Any) -> None:
            """Answers as soon as the questions that wait already have been heard, too: so a newer
            one makes an older one obsolete, and the model is used between cells alone."""
            number = asked.get("id") if isinstance(asked, dict) else None
            if type(number) is not int:
                return
            page = number // QUESTIONS_OF_A_VIEW
            answer = self.session.hear(str(asked.get("kind")), asked.get("payload"), page)

            def reply() -> None:
                found = answer()
                arrays = [
                    {"name": name, "shape": list(array.shape)}
                    for name, array in found.arrays.items()
                ]
                message = {"id": number, "json": found.json, "arrays": arrays}
                self.send(message, [half(array).tobytes() for array in found.arrays.values()])

            try:
                asyncio.get_running_loop().call_soon(reply)
            except RuntimeError:  # no loop: not in a kernel
                reply()

    return View
