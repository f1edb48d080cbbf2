"""The live view: pages that look inside the translation of one text."""

import asyncio
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, Protocol

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from allyouneed.errors import AllYouNeedError, UsageError
from allyouneed.serving.crew import step_back
from allyouneed.serving.desk import Desk
from allyouneed.serving.guard import Guard
from allyouneed.serving.operation import Message, Operation, json_answer
from allyouneed.serving.page import HEADERS
from allyouneed.serving.reading import checked, read_values
from allyouneed.serving.refusal import Refused
from allyouneed.serving.shelf import ShelvedModel

MOST_VIEWS = 64  # that are kept; the oldest one goes first
MOST_QUESTIONS = 16  # that are being answered or wait for it
THREADS = 4  # that answer; a newer question of a page ends the older one in another thread
SWITCHED_OFF = "the live view is switched off on this server"
NO_VIEW = "this view is no longer kept; open it again from the page"

Ask = Callable[[str, Any, int], bytes]
"""ask(kind, payload, page) → packed answer. A wrong question gives an answer with an error."""


class Viewer(Protocol):
    """Makes live views. It is handed in from a higher floor, because views need torch."""

    @property
    def missing(self) -> str:
        """The command that installs what views need; "" if nothing is missing."""

    def page(self) -> str:
        """The HTML document of a view."""

    def script(self, text: str, beam: int, page: int) -> str:
        """The script that starts a view with this text; its questions come with the number `page`.

        Raises:
            UsageError: the text is too long.
        """

    def part(self, name: str) -> tuple[str, bytes]:
        """A file of the view: its media type and bytes. Raises KeyError for any other name."""

    def open(self, model: ShelvedModel) -> Ask:
        """Loads a model for views of its translations.

        Raises:
            AllYouNeedError: the model has no such view.
        """


class Available(Message):
    """Whether the service can open views. `install` is the command after which they can."""

    available: bool
    install: str | None = None


class LookBody(Message):
    """The request for a view: the text to show, and the languages of its translation."""

    text: str = Field(examples=["Good morning."])
    source: str = Field(examples=["en"])
    target: str = Field(examples=["de"])


class LookAnswer(Message):
    """Where the view is, relative to the service's page. Whoever knows the path can open it."""

    path: str


@dataclass(frozen=True, slots=True)
class ViewedText:
    """The text that one view shows, and the languages of its translation."""

    text: str
    source: str
    target: str


class LiveViews:
    """Opens views and answers their questions.

    A view has a random path, which the client gets for its text (and key, where keys are needed).
    The text is in no address. A model is loaded when its first view asks its first question.
    """

    def __init__(self, desk: Desk, guard: Guard, viewer: Viewer | None) -> None:
        self.desk, self.guard = desk, guard
        self.viewer = viewer if desk.settings.offers_look else None
        self._views: OrderedDict[str, ViewedText] = OrderedDict()
        self._askers: dict[tuple[str, str], Ask] = {}
        self._opening = threading.Lock()
        self._asked = 0
        self._pages = count(1)
        self._pool = ThreadPoolExecutor(THREADS, "allyouneed look", initializer=step_back)

    def operations(self) -> list[Operation]:
        """The operations that programs may use."""
        return [
            Operation(
                "GET",
                "/v1/look",
                self.available,
                "Say whether the live view of a translation can be opened",
                answer=Available,
            ),
            Operation(
                "POST",
                "/v1/look",
                self.look,
                "Open the live view of a text's translation",
                body=LookBody,
                answer=LookAnswer,
            ),
        ]

    def routes(self) -> list[Route]:
        """The pages and their questions."""
        return [
            Route("/look/{token}/", self.page, methods=["GET"]),
            Route("/look/{token}/ask", self.ask, methods=["POST"]),
            Route("/look/{token}/{part}", self.part, methods=["GET"]),
        ]

    def forget_models(self) -> None:
        """Drops the loaded models; the next question loads them anew."""
        self._askers = {}

    def close(self) -> None:
        """Answers no more questions."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def available(self, request: Request) -> Response:
        """GET /v1/look"""
        install = self.viewer.missing if self.viewer else ""
        can = self.viewer is not None and not install
        return json_answer(Available(available=can, install=install or None))

    async def look(self, request: Request) -> Response:
        """POST /v1/look"""
        values = await read_values(request)
        visit = self.guard.admit(request)
        body = checked(LookBody, values)
        viewer = self._viewer()
        self.desk.check_size([body.text], visit)
        source, target = self.desk.target(body.source), self.desk.target(body.target)
        self.desk.model(source, target)
        if not body.text.strip():
            raise Refused(400, "the text is blank; there is nothing to look at")
        try:
            viewer.script(body.text, self.desk.settings.beam, 0)
        except UsageError as error:
            raise Refused(400, str(error)) from error
        self.guard.charge(visit)
        token = secrets.token_urlsafe(24)
        self._views[token] = ViewedText(body.text, source, target)
        while len(self._views) > MOST_VIEWS:
            self._views.popitem(last=False)
        return json_answer(LookAnswer(path=f"look/{token}/"))

    async def page(self, request: Request) -> Response:
        """GET /look/TOKEN/"""
        self._view(request)
        return _page_answer(self._viewer().page(), "text/html")

    async def part(self, request: Request) -> Response:
        """GET /look/TOKEN/PART"""
        view, name = self._view(request), request.path_params["part"]
        if name == "start.js":
            script = self._viewer().script(view.text, self.desk.settings.beam, next(self._pages))
            return _page_answer(script, "text/javascript")
        try:
            kind, content = self._viewer().part(name)
        except KeyError as error:
            raise Refused(404, NO_VIEW) from error
        return _page_answer(content, kind)

    async def ask(self, request: Request) -> Response:
        """POST /look/TOKEN/ask"""
        view, values = self._view(request), await read_values(request)
        kind, payload, page = (values.get(name) for name in ("kind", "payload", "page"))
        if not isinstance(kind, str):
            raise Refused(400, "Invalid request: missing kind parameter")
        number = int(page) if isinstance(page, str) and page.isdecimal() and len(page) < 10 else 0
        if self._asked >= MOST_QUESTIONS:
            raise Refused(503, "too many questions about translations are being answered", 5)
        self._asked += 1
        work = partial(self._answer, view, kind, payload, number)
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._pool, work)
        except AllYouNeedError as error:
            raise Refused(501, "this model has no live view") from error
        finally:
            self._asked -= 1
        return _page_answer(found, "application/octet-stream")

    def _answer(self, view: ViewedText, kind: str, payload: Any, page: int) -> bytes:
        pair = view.source, view.target
        with self._opening:
            askers = self._askers
            if (ask := askers.get(pair)) is None:
                ask = askers[pair] = self._viewer().open(self.desk.model(*pair))
        return ask(kind, payload, page)

    def _viewer(self) -> Viewer:
        if self.viewer is None:
            raise Refused(403, SWITCHED_OFF)
        if self.viewer.missing:
            raise Refused(501, f"the live view is not installed here: {self.viewer.missing}")
        return self.viewer

    def _view(self, request: Request) -> ViewedText:
        view = self._views.get(request.path_params["token"])
        if view is None:
            raise Refused(404, NO_VIEW)
        return view


def _page_answer(content: str | bytes, kind: str) -> Response:
    return Response(content, media_type=kind, headers={**HEADERS, "cache-control": "no-store"})
