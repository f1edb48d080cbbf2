"""The service as an ASGI application, which any ASGI server can run."""

import asyncio
import gc
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from allyouneed.errors import AllYouNeedError
from allyouneed.pipeline import processors
from allyouneed.serving.crew import STOP_SECONDS, Crew
from allyouneed.serving.deepl import DeepL
from allyouneed.serving.deepl_documents import DeepLDocuments
from allyouneed.serving.deepl_glossaries import DeepLGlossaries
from allyouneed.serving.deepl_request import DeepLRequest
from allyouneed.serving.desk import Desk
from allyouneed.serving.detection import Detector
from allyouneed.serving.documents import DocumentJobs
from allyouneed.serving.door import Door, error_answer
from allyouneed.serving.glossaries import Glossaries, default_folder
from allyouneed.serving.guard import Guard
from allyouneed.serving.keys import Keyring
from allyouneed.serving.libretranslate import LibreTranslate
from allyouneed.serving.live_view import LiveViews, Viewer
from allyouneed.serving.marked import MarkedTexts
from allyouneed.serving.memory import give_memory_back
from allyouneed.serving.metrics import Metrics
from allyouneed.serving.omegat import OmegaT
from allyouneed.serving.openapi import description
from allyouneed.serving.operation import Handler, Operation
from allyouneed.serving.own import Own
from allyouneed.serving.page import Page
from allyouneed.serving.probes import Probes
from allyouneed.serving.queue import Queue
from allyouneed.serving.refusal import ClientGone, Refused
from allyouneed.serving.settings import Settings
from allyouneed.serving.shelf import NotOpened, Shelf

LOG = logging.getLogger("allyouneed.serving")
TIDY_SECONDS = 5.0  # until the use of the keys is written, and freed memory given back, again
LAG_SECONDS = 0.05  # between two measurements of the event loop's delay
LAG_MEMORY = 0.9  # the share of a delay that counts at the next measurement

Open = Callable[[], Shelf]


class Service:
    """One service: its models, queue, workers and endpoints. `app` is what a server runs.

    `viewer` makes live views of translations; None: the service offers none.
    """

    def __init__(
        self,
        settings: Settings,
        open_models: Open,
        keyring: Keyring,
        viewer: Viewer | None = None,
    ) -> None:
        self.settings = settings
        self.keyring = keyring
        self._open_models = open_models
        self.queue = Queue()
        self.metrics = Metrics(self.queue)
        self.crew = Crew(self.queue, settings.threads or processors(), self.metrics.on_batch)
        self.guard = Guard(keyring, self.metrics, settings.deadline)
        self.probes = Probes(self.metrics, self.guard, lambda: description(self.operations))
        shelf = open_models()
        self.desk = Desk(settings, shelf, self.queue, Detector(shelf.sources), self.metrics)
        self.jobs = DocumentJobs(self.desk, self.guard)
        self.views = LiveViews(self.desk, self.guard, viewer)
        self._count_models()
        self.operations = self._operations()
        self._paths = {one.path for one in self.operations}
        self.app = self._build()

    def _operations(self) -> list[Operation]:
        desk, guard, marked, jobs = self.desk, self.guard, MarkedTexts(self.desk), self.jobs
        glossaries = Glossaries(self.settings.glossaries or default_folder())
        deepl = DeepLRequest(desk, guard, glossaries)
        return [
            *LibreTranslate(desk, guard, marked, jobs).operations(),
            *DeepL(deepl, marked).operations(),
            *DeepLDocuments(deepl, jobs).operations(),
            *DeepLGlossaries(deepl).operations(),
            *Own(desk, guard).operations(),
            *OmegaT(desk, guard).operations(),
            *self.views.operations(),
            *self.probes.operations(),
        ]

    def _build(self) -> Door:
        by_path = self._by_path()
        routes = [
            Route(path, _by_method(those), methods=[*those]) for path, those in by_path.items()
        ]
        if not self.settings.no_page:
            page = Page()
            own = [*page.routes(), *self.views.routes()]
            routes += own
            self._paths |= {route.path for route in own}
        app = Starlette(
            routes=routes,
            lifespan=self._lifespan,
            exception_handlers={HTTPException: _http_error, Refused: _refused},
        )
        return Door(
            app,
            {
                (method, path): handler
                for path, those in by_path.items()
                for method, handler in those.items()
            },
            self.settings,
            self.metrics,
            self._route_of,
            lambda named: self.desk.intake.hopeless(named, self.guard.lag),
        )

    def _by_path(self) -> dict[str, dict[str, Handler]]:
        found: dict[str, dict[str, Handler]] = {}
        for one in self.operations:
            found.setdefault(one.path, {})[one.method] = self._ending(one.handler)
        return found

    def _ending(self, handler: Handler) -> Handler:
        """The handler, whose request's visit ends with it, and is not charged for an error."""

        async def handle(request: Request) -> Response:
            try:
                return await handler(request)
            except Exception as error:
                visit = request.scope.get("visit")
                if visit is not None and not isinstance(error, ClientGone):
                    self.guard.give_back(visit)
                raise
            finally:
                visit = request.scope.get("visit")
                if visit is not None and not visit.streamed:
                    visit.end()

        return handle

    def _route_of(self, scope: Scope) -> str:
        path, named = scope["path"], scope.get("path_params")
        for name, value in (named or {}).items():
            path = path.replace(value, f"{{{name}}}")
        return path if path in self._paths else "other"

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self.crew.start()
        self.probes.ready = True
        self.desk.detector.load_ahead()
        gc.freeze()  # searches for garbage, which hold up every request, leave the models out
        always = [
            asyncio.create_task(self._tidy_regularly()),
            asyncio.create_task(self._measure_lag()),
        ]
        try:
            yield
        finally:
            self.probes.ready = False
            for task in always:
                task.cancel()
            self.jobs.close()
            self.views.close()
            await asyncio.to_thread(self.crew.stop, STOP_SECONDS)
            self._save()

    async def _tidy_regularly(self) -> None:
        while True:
            await asyncio.sleep(TIDY_SECONDS)
            await asyncio.to_thread(self._save)
            await asyncio.to_thread(give_memory_back)

    async def _measure_lag(self) -> None:
        """Measures repeatedly by how many seconds the event loop is late."""
        while True:
            planned = time.monotonic() + LAG_SECONDS
            await asyncio.sleep(LAG_SECONDS)
            self.guard.lag = max(0.0, time.monotonic() - planned, LAG_MEMORY * self.guard.lag)

    def _save(self) -> None:
        try:
            self.keyring.save()
        except AllYouNeedError as error:
            LOG.error("the use of keys could not be written: %s", type(error).__name__)

    def drain(self) -> None:
        """Makes /ready answer 503, so that no new requests are sent here; running ones go on."""
        self.probes.ready = False

    def abandon(self) -> None:
        """Gives up the running requests: saves how much the keys were used, and removes the
        translated documents."""
        self.jobs.close()
        self._save()

    async def reload(self) -> None:
        """Loads the models and keys again. Running requests finish with the models that they
        began with. If a model cannot be opened, all earlier models stay.
        """
        try:
            shelf = await asyncio.to_thread(self._open_models)
        except Exception as error:
            LOG.error(
                "the models stay as they were: %s cannot be opened (%s)",
                error.model if isinstance(error, NotOpened) else "one",
                type(error.__cause__ or error).__name__,
                exc_info=error if self.settings.log_texts else None,
            )
        else:
            self.desk.shelf, self.desk.detector = shelf, Detector(shelf.sources)
            self.desk.detector.load_ahead()
            self.views.forget_models()
            self._count_models()
            LOG.info("models loaded anew")
        await asyncio.to_thread(self._save)

    def _count_models(self) -> None:
        self.metrics.model_loaded.clear()
        for source, target in self.desk.shelf.models:
            self.metrics.model_loaded.labels(f"{source}-{target}").set(1)


def _by_method(handlers: dict[str, Handler]) -> Handler:
    async def handle(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        return await handlers[method](request)

    return handle


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    reasons = {404: "there is nothing at this address", 405: "this address takes another method"}
    answer = error_answer(
        request.scope, Refused(status, reasons.get(status, "the request cannot be read"))
    )
    if isinstance(error, HTTPException) and error.headers:
        answer.headers.update(error.headers)
    return answer


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return error_answer(request.scope, error)
