"""DeepL's API, version 2: documents."""

import logging
import time
from typing import Any

from pydantic import ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from allyouneed.serving.deepl_request import KINDS, DeepLRequest, supported
from allyouneed.serving.document_job import BYTES, DocumentJob
from allyouneed.serving.documents import DocumentJobs
from allyouneed.serving.operation import Message, Operation, json_answer
from allyouneed.serving.reading import MULTIPART, File, Uploaded, checked, read_values
from allyouneed.serving.refusal import Refused

LOG = logging.getLogger("allyouneed.serving.documents")
POLL_SECONDS = 5  # after which a client may ask again how far a document is


class DocumentForm(Message):
    """The form of /v2/document."""

    model_config = ConfigDict(extra="forbid")

    file: File
    target_lang: str = Field(examples=["DE"])
    source_lang: str | None = Field(None, examples=["EN"])
    filename: str | None = None
    formality: str = "default"
    glossary_id: str | None = None


class DocumentStarted(Message):
    """A document's number, and the key that its result is fetched with."""

    document_id: str
    document_key: str


class DocumentKey(Message):
    """The key of a document."""

    document_key: str


class DocumentStatus(Message):
    """The state of a document: queued, translating, done or error. `progress` is the share that is
    translated, from 0 to 1; DeepL's own service has no such value."""

    document_id: str
    status: str
    progress: float
    seconds_remaining: int | None = None
    billed_characters: int | None = None
    error_message: str | None = None


class DeepLDocuments:
    """The operations on documents."""

    def __init__(self, asked: DeepLRequest, jobs: DocumentJobs) -> None:
        self.asked, self.guard, self.jobs = asked, asked.guard, jobs

    def operations(self) -> list[Operation]:
        """All operations on documents."""
        return [
            Operation(
                "POST",
                "/v2/document",
                self.begin,
                "Begin to translate a document",
                body=DocumentForm,
                body_kinds=(MULTIPART,),
                answer=DocumentStarted,
            ),
            Operation(
                "POST",
                "/v2/document/{id}",
                self.status,
                "Say how far a document is",
                body=DocumentKey,
                body_kinds=KINDS,
                answer=DocumentStatus,
                in_path=("id",),
            ),
            Operation(
                "POST",
                "/v2/document/{id}/result",
                self.result,
                "Fetch a translated document",
                body=DocumentKey,
                body_kinds=KINDS,
                answer_kind=BYTES,
                in_path=("id",),
            ),
        ]

    async def begin(self, request: Request) -> Response:
        """POST /v2/document"""
        values = await read_values(request)
        visit = self.guard.admit(request)
        file = values.get("file")
        if not isinstance(file, Uploaded):
            raise Refused(400, "Parameter 'file' is missing")
        body = checked(DocumentForm, supported(values))
        source, target = self.asked.source(body.source_lang), self.asked.target(body.target_lang)
        terms = await self.asked.terms(body.glossary_id, visit.key, source, target)
        name, began = body.filename or file.name, time.monotonic()
        job = self.jobs.begin(file.content, name, source, target, visit, terms)
        assert job.task is not None
        job.task.add_done_callback(lambda _: _tell_end(job, time.monotonic() - began))
        return json_answer(DocumentStarted(document_id=job.id, document_key=job.key))

    async def status(self, request: Request) -> Response:
        """POST /v2/document/ID"""
        job = await self._job(request)
        done = job.state == "done"
        return json_answer(
            DocumentStatus(
                document_id=job.id,
                status=job.state,
                progress=1.0 if done else job.progress,
                seconds_remaining=None if job.ended else POLL_SECONDS,
                billed_characters=job.visit.characters if done else None,
                error_message=job.error,
            )
        )

    async def result(self, request: Request) -> Response:
        """POST /v2/document/ID/result"""
        job = await self._job(request)
        if job.result is None:
            if job.error:
                raise Refused(404, job.error)
            raise Refused(503, "the document is not translated yet", POLL_SECONDS)
        return job.sent()

    async def _job(self, request: Request) -> DocumentJob:
        values = await read_values(request)
        self.guard.key_of(request)
        return self.jobs.find(request.path_params["id"], checked(DocumentKey, values).document_key)


def _tell_end(job: DocumentJob, took: float) -> None:
    """Logs the end of a document, whose texts are counted after the answer to its request."""
    visit = job.visit
    told: dict[str, Any] = {
        "status": 200 if job.refused is None else job.refused.status,
        "ms": round(took * 1000, 1),
        "texts": visit.texts,
        "characters": visit.characters,
    }
    if visit.key is not None:
        told["key"] = visit.key.name
    LOG.info("document %s", job.state, extra={"told": told})
