"""The live view for `allyouneed serve`. The service may not import it, so it is handed in."""

import importlib.util
from functools import cached_property
from typing import Any, NoReturn

from allyouneed.errors import UsageError
from allyouneed.serving.live_view import Ask
from allyouneed.serving.shelf import ShelvedModel


class ServedViews:
    """Live views of a service's models, as `serving.live_view.Viewer`. Each model runs on one core,
    beside the workers that translate."""

    @cached_property
    def missing(self) -> str:
        """The command that installs what views need; "" if nothing is missing."""
        return "" if importlib.util.find_spec("torch") else "pip install 'allyouneed[torch]'"

    def page(self) -> str:
        """The HTML document of a view."""
        from allyouneed.widget.page import live_page

        return live_page()

    def script(self, text: str, beam: int, page: int) -> str:
        """The script that starts a view with this text. The page's address does not follow the
        view, because it would then hold the text.

        Raises:
            UsageError: the text is too long.
        """
        from allyouneed.widget.page import Start, start_script

        return start_script(Start.of([text], beam, 1), page, link=False)

    def part(self, name: str) -> tuple[str, bytes]:
        """A file of the view: its media type and bytes. Raises KeyError for any other name."""
        from allyouneed.widget.page import static

        return static(name)

    def open(self, model: ShelvedModel) -> Ask:
        """Loads a model for views of its translations.

        Raises:
            AllYouNeedError: the core cannot run the model, or it has several directions.
        """
        from allyouneed.loading import load
        from allyouneed.translation.translator import Translator
        from allyouneed.widget.packing import pack
        from allyouneed.widget.session import Session

        if model.direction.source_mark or model.direction.target_mark:
            raise UsageError("the live view shows models of one direction")
        if model.folder is None:
            raise UsageError("the live view needs a model folder")
        translator = load(model.folder, "core", None, 1, kind=Translator)
        session = Session([translator], [f"{model.source}-{model.target}"], _raise)

        def ask(kind: str, payload: Any, page: int) -> bytes:
            return pack(session.ask(kind, payload, page))

        return ask


def _raise(error: Exception) -> NoReturn:
    """Lets the service answer an unexpected error, so that the page shows nothing of the inside."""
    raise error
