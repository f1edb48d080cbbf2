"""The service's tools for programs that speak the Model Context Protocol."""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import version
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field, create_model

from allyouneed.pipeline import processors
from allyouneed.serving.crew import STOP_SECONDS, Crew
from allyouneed.serving.desk import AUTO, Desk, TranslatedText
from allyouneed.serving.detection import Detector
from allyouneed.serving.marked import MarkedTexts
from allyouneed.serving.metrics import Metrics
from allyouneed.serving.queue import Queue
from allyouneed.serving.refusal import Refused
from allyouneed.serving.settings import Settings
from allyouneed.serving.shelf import Shelf
from allyouneed.serving.visit import Visit
from allyouneed.text.language_names import name_of

CALL_SECONDS = 600.0  # that a call may take; a client that gives up cancels its call before
INSTRUCTIONS = (
    "Translates on this machine, without sending the text anywhere. Call `languages` to see which "
    "languages there are. Pass a whole text in one call: it is cut into sentences here, and line "
    "breaks stay."
)


class Translated(BaseModel):
    """A translation. `detected_confidence`, 0 to 1, is there where the language was detected."""

    translation: str
    source: str = Field(description="Code of the language that the text is in.")
    detected_confidence: float | None = None
    confidence: float | None = Field(
        None, description="How probable it is that a reader accepts the translation, 0 to 1."
    )
    alternatives: list[str] = Field([], description="Other translations, the best first.")
    notes: list[str] = Field([], description="What to know about this translation.")


class Detected(BaseModel):
    """A language that a text may be in; `confidence` is 0 to 1."""

    language: str
    name: str
    confidence: float


class Language(BaseModel):
    """A language, and the codes of those that it can be translated into."""

    code: str
    name: str
    targets: list[str]


class Tools:
    """Translate, detect and list languages, with the models of a shelf.

    `server` is to be run; while it runs, `threads` workers translate. Calls that come at the same
    time share batches. A call that its client cancels leaves the queue.
    """

    def __init__(self, settings: Settings, shelf: Shelf) -> None:
        queue = Queue()
        metrics = Metrics(queue)
        self._crew = Crew(queue, settings.threads or processors(), metrics.on_batch)
        self._desk = Desk(settings, shelf, queue, Detector(shelf.sources), metrics)
        self._marked = MarkedTexts(self._desk)
        self.server = MCPServer(
            "allyouneed",
            instructions=INSTRUCTIONS,
            version=version("allyouneed"),
            log_level="WARNING",
            lifespan=self._working,
            tools=[_tool(one) for one in (self.translate, self.detect, self.languages)],
        )

    @asynccontextmanager
    async def _working(self, _: Any) -> AsyncIterator[None]:
        self._crew.start()
        self._desk.detector.load_ahead()
        try:
            yield
        finally:
            self._crew.stop(STOP_SECONDS)

    async def translate(
        self,
        text: Annotated[str, Field(description="The whole text; line breaks are kept.")],
        target: Annotated[str, Field(description='Code of the language wanted, such as "de".')],
        source: Annotated[
            str, Field(description='Code of the text\'s language; "auto" detects it.')
        ] = AUTO,
        markup: Annotated[
            Literal["html", "xml"] | None,
            Field(description="What tags in the text are; they are kept around their words."),
        ] = None,
        alternatives: Annotated[
            int, Field(ge=0, le=10, description="How many other translations are wanted.")
        ] = 0,
    ) -> Translated:
        """Translate a text from one human language into another."""
        if markup and alternatives:
            raise ToolError("a text with markup has no alternatives; leave one of the two out")
        with _visit() as visit:
            self._desk.check_size([text], visit)
            source, target = self._desk.source(source), self._desk.target(target)
            asked = self._desk.asked(alternatives + 1)
            if markup:
                found = await self._marked.translate([text], markup, source, target, asked, visit)
            else:
                found = await self._desk.translate([text], source, target, asked, visit)
        return _translated(found[0])

    async def detect(
        self, text: Annotated[str, Field(description="Some words or sentences of one language.")]
    ) -> list[Detected]:
        """Say which of the languages that can be translated a text is in, the likeliest first."""
        with _visit() as visit:
            self._desk.check_size([text], visit)
            self._desk.source(AUTO)
            guesses = await self._desk.detect(text, visit)
        return [
            Detected(language=one.language, name=name_of(one.language), confidence=one.confidence)
            for one in guesses
        ]

    async def languages(self) -> list[Language]:
        """List the languages, and for each those that it can be translated into."""
        shelf = self._desk.shelf
        return [
            Language(
                code=code,
                name=name_of(code),
                targets=[target for target in shelf.targets_of(code) if target != code],
            )
            for code in shelf.codes
        ]


def _tool(function: Callable[..., Any]) -> Tool:
    """A tool that changes nothing, and that refuses arguments which it does not know: the library's
    own tools leave them out silently."""
    harmless = ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    tool = Tool.from_function(function, annotations=harmless)
    known = tool.fn_metadata.arg_model
    strict = create_model(known.__name__, __base__=known, __cls_kwargs__={"extra": "forbid"})
    tool.fn_metadata.arg_model = strict
    tool.parameters = strict.model_json_schema(by_alias=True)
    return tool


@contextmanager
def _visit() -> Iterator[Visit]:
    """The visit of a call, which fails with the reason if it is refused."""
    visit = Visit(None, "", time.monotonic() + CALL_SECONDS)
    try:
        yield visit
    except Refused as refused:
        raise ToolError(refused.reason) from refused
    finally:
        visit.end()


def _translated(found: TranslatedText) -> Translated:
    return Translated(
        translation=found.translation.text,
        source=found.source,
        detected_confidence=found.detected.confidence if found.detected else None,
        confidence=found.translation.confidence,
        alternatives=[one.text for one in found.translation.alternatives[1:]],
        notes=list(found.translation.notes),
    )
