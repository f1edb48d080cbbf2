"""LibreTranslate's API: its endpoints, shapes and messages."""

import asyncio
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from allyouneed.serving.desk import AUTO, Desk, TranslatedText
from allyouneed.serving.document_job import BYTES
from allyouneed.serving.documents import JOB_SECONDS, DocumentJobs
from allyouneed.serving.guard import Guard
from allyouneed.serving.marked import MarkedTexts
from allyouneed.serving.operation import Message, Operation, json_answer
from allyouneed.serving.reading import (
    FORM,
    MULTIPART,
    File,
    Uploaded,
    checked,
    read_values,
    text_of,
)
from allyouneed.serving.refusal import Refused
from allyouneed.serving.suggestions import Suggestions
from allyouneed.serving.visit import TIMEOUT_HEADER, seconds_of
from allyouneed.text.language_names import name_of

JSON = "application/json"
KINDS = (JSON, FORM, MULTIPART)


class TranslateBody(Message):
    """The request of /translate."""

    q: str | list[str] = Field(
        description="The text, or a list of texts.", examples=["Good morning.", ["Hello.", "Bye."]]
    )
    source: str = Field(description='A language code, or "auto".', examples=["en"])
    target: str = Field(description="A language code.", examples=["de"])
    format: str = "text"
    alternatives: int = Field(0, description="How many other translations are wanted.")
    api_key: str | None = None


class Detection(Message):
    """A language and how sure the detector is of it, in percent."""

    confidence: float
    language: str


class TranslateAnswer(Message):
    """The answer of /translate. Its fields are lists if `q` was a list."""

    translatedText: str | list[str]
    detectedLanguage: Detection | list[Detection] | None = None
    alternatives: list[str] | list[list[str]] | None = None


class DetectBody(Message):
    """The request of /detect."""

    q: str = Field(examples=["Good morning."])
    api_key: str | None = None


class Language(Message):
    """A language that can be translated from, and what it can be translated into."""

    code: str
    name: str
    targets: list[str]


class SuggestBody(Message):
    """The request of /suggest: a text `q` and the translation `s` that the client suggests."""

    q: str = Field(min_length=1)
    s: str = Field(min_length=1)
    source: str
    target: str
    api_key: str | None = None


class FileForm(Message):
    """The form of /translate_file."""

    file: File
    source: str = Field(description='A language code, or "auto".', examples=["en"])
    target: str = Field(description="A language code.", examples=["de"])
    api_key: str | None = None


class LibreTranslate:
    """The endpoints."""

    def __init__(self, desk: Desk, guard: Guard, marked: MarkedTexts, jobs: DocumentJobs) -> None:
        self.desk, self.guard, self.marked, self.jobs = desk, guard, marked, jobs
        self.settings = desk.settings
        kept = desk.settings.suggestions
        self.suggestions = None if kept is None else Suggestions(kept)

    def operations(self) -> list[Operation]:
        """All operations of this API."""
        return [
            Operation(
                "POST",
                "/translate",
                self.translate,
                "Translate a text, or a list of texts",
                body=TranslateBody,
                body_kinds=KINDS,
                answer=TranslateAnswer,
            ),
            Operation(
                "POST",
                "/detect",
                self.detect,
                "Say which language a text is in",
                body=DetectBody,
                body_kinds=KINDS,
                answer=list[Detection],
            ),
            Operation(
                "GET", "/languages", self.languages, "List the languages", answer=list[Language]
            ),
            Operation(
                "GET",
                "/frontend/settings",
                self.frontend,
                "Say what a page may offer",
                answer=dict[str, Any],
            ),
            Operation(
                "POST",
                "/suggest",
                self.suggest,
                "Suggest a better translation, where the service keeps such",
                body=SuggestBody,
                body_kinds=KINDS,
                answer=dict[str, bool],
            ),
            Operation(
                "POST",
                "/translate_file",
                self.translate_file,
                "Translate a file; the answer says where the result is",
                body=FileForm,
                body_kinds=(MULTIPART,),
                answer=dict[str, str],
            ),
            Operation(
                "GET",
                "/download_file/{name}",
                self.download_file,
                "Fetch a translated file",
                answer_kind=BYTES,
                in_path=("name",),
            ),
        ]

    async def translate(self, request: Request) -> Response:
        """POST /translate"""
        values = await read_values(request)
        visit = self.guard.admit(request, text_of(values, "api_key"))
        for name in ("q", "source", "target"):
            if not values.get(name):
                raise Refused(400, f"Invalid request: missing {name} parameter")
        alternatives = self._alternatives(values.get("alternatives", 0))
        body = checked(TranslateBody, {**values, "alternatives": alternatives})
        if body.format not in ("text", "html"):
            raise Refused(400, f"{body.format[:20]} format is not supported")
        texts = [body.q] if isinstance(body.q, str) else body.q
        self.desk.check_size(texts, visit)
        source, target = self.desk.source(body.source), self.desk.target(body.target)
        self.guard.charge(visit)
        if body.format == "html":
            asked = self.desk.asked(judged=False)
            found = await self.marked.translate(texts, "html", source, target, asked, visit)
        else:
            asked = self.desk.asked(alternatives + 1, judged=False)
            found = await self.desk.translate(texts, source, target, asked, visit)
        return json_answer(_answer(found, isinstance(body.q, str), source == AUTO, alternatives))

    def _alternatives(self, wanted: Any) -> int:
        """How many alternatives a client wants. Forms have the number as text; JSON may write a
        whole number with a point.

        Raises:
            Refused: something else than a whole number, or too small or too large a number.
        """
        broken = isinstance(wanted, float) and not wanted.is_integer()
        try:
            if broken or isinstance(wanted, bool):
                raise ValueError(wanted)
            count = int(wanted or 0)
        except (TypeError, ValueError) as error:
            raise Refused(400, "Invalid request: alternatives parameter is not a number") from error
        for wrong, bound in (
            (count < 0, ">= 0"),
            (count > self.settings.max_alternatives, f"<= {self.settings.max_alternatives}"),
        ):
            if wrong:
                raise Refused(400, f"Invalid request: alternatives parameter must be {bound}")
        return count

    async def detect(self, request: Request) -> Response:
        """POST /detect"""
        values = await read_values(request)
        visit = self.guard.admit(request, text_of(values, "api_key"))
        if not values.get("q"):
            raise Refused(400, "Invalid request: missing q parameter")
        body = checked(DetectBody, values)
        self.desk.check_size([body.q], visit)
        self.desk.source(AUTO)
        guesses = await self.desk.detect(body.q, visit)
        return json_answer([_detection(guess) for guess in guesses[:3]])

    async def languages(self, request: Request) -> Response:
        """GET /languages"""
        shelf = self.desk.shelf
        return json_answer(
            [
                Language(code=code, name=name_of(code), targets=shelf.targets_of(code))
                for code in shelf.codes
            ]
        )

    async def frontend(self, request: Request) -> Response:
        """GET /frontend/settings"""
        shelf = self.desk.shelf
        source = "en" if "en" in shelf.sources else shelf.sources[0]
        target = next(code for code in shelf.targets_of(source) if code != source)
        return json_answer(
            {
                "charLimit": self.settings.max_characters,
                "frontendTimeout": 500,
                "apiKeys": self.guard.keyring.needed,
                "keyRequired": self.guard.keyring.needed,
                "suggestions": self.suggestions is not None,
                "filesTranslation": True,
                "supportedFilesFormat": [f".{ending}" for ending in sorted(self.jobs.formats)],
                "language": {
                    "source": {"code": source, "name": name_of(source)},
                    "target": {"code": target, "name": name_of(target)},
                },
            }
        )

    async def suggest(self, request: Request) -> Response:
        """POST /suggest"""
        if self.suggestions is None:
            raise Refused(403, "Suggestions are disabled on this server.")
        values = await read_values(request)
        visit = self.guard.admit(request, text_of(values, "api_key"))
        body = checked(SuggestBody, values)
        self.desk.check_size([body.q, body.s], visit)
        source, target = self.desk.target(body.source), self.desk.target(body.target)
        if source == target:
            raise Refused(400, f"Invalid request: source and target are both {source}")
        await asyncio.to_thread(self.suggestions.add, body.q, body.s, source, target)
        return json_answer({"success": True})

    async def translate_file(self, request: Request) -> Response:
        """POST /translate_file"""
        values = await read_values(request)
        visit = self.guard.admit(request, text_of(values, "api_key"))
        file = values.get("file")
        if not isinstance(file, Uploaded):
            raise Refused(400, "Invalid request: missing file parameter")
        for name in ("source", "target"):
            if not isinstance(values.get(name), str) or not values[name]:
                raise Refused(400, f"Invalid request: missing {name} parameter")
        source, target = self.desk.source(values["source"]), self.desk.target(values["target"])
        seconds = seconds_of(request.headers.get(TIMEOUT_HEADER), JOB_SECONDS)
        job = self.jobs.begin(file.content, file.name, source, target, visit, seconds=seconds)
        try:
            await self.jobs.finish(job)
        finally:
            visit.texts, visit.characters = job.visit.texts, job.visit.characters
        shown = quote(f"{PurePath(job.name).stem}_{target}.{job.ending}", safe="")
        return json_answer(
            {"translatedFileUrl": f"{request.base_url}download_file/{job.id}.{shown}"}
        )

    async def download_file(self, request: Request) -> Response:
        """GET /download_file/NUMBER.NAME"""
        id, _, name = request.path_params["name"].partition(".")
        job = self.jobs.find(id)
        if job.result is None:
            raise Refused(404, "there is no such document")
        disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
        return job.sent({"content-disposition": disposition})


def _detection(guess: Any) -> Detection:
    return Detection(confidence=round(100 * guess.confidence, 1), language=guess.language)


def _answer(
    found: list[TranslatedText], single: bool, detected: bool, alternatives: int
) -> TranslateAnswer:
    texts = [one.translation.text for one in found]
    guesses = [_detection(one.detected) for one in found] if detected else None
    others = (
        [[other.text for other in one.translation.alternatives[1:]] for one in found]
        if alternatives
        else None
    )
    if single:
        return TranslateAnswer(
            translatedText=texts[0],
            detectedLanguage=guesses[0] if guesses else None,
            alternatives=others[0] if others else None,
        )
    return TranslateAnswer(translatedText=texts, detectedLanguage=guesses, alternatives=others)
