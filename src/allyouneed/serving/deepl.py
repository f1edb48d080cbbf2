"""DeepL's API, version 2: its endpoints, shapes and messages."""

import asyncio
from typing import Any, Literal

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from allyouneed.serving.desk import AUTO, Desk, Found
from allyouneed.serving.documents import DocumentJob, DocumentJobs
from allyouneed.serving.glossaries import Glossaries
from allyouneed.serving.guard import Guard
from allyouneed.serving.languages import match, name_of
from allyouneed.serving.marked import MarkedTexts
from allyouneed.serving.operation import Operation, json_answer
from allyouneed.serving.reading import FORM, MULTIPART, Uploaded, checked, read_values
from allyouneed.serving.refusal import Refused
from allyouneed.serving.visit import Visit
from allyouneed.translation.terms.glossary import Glossary

KINDS = ("application/json", FORM)
MOST_TEXTS = 50  # of a request, as DeepL has it
VARIANTS = {"en": ("EN-GB", "EN-US"), "pt": ("PT-BR", "PT-PT")}  # clients accept no "EN" as target
NO_LIMIT = 1_000_000_000_000  # what /v2/usage names as the limit where there is none


class TranslateBody(BaseModel):
    """What /v2/translate takes. `context` and `model_type` are accepted and not used."""

    text: list[str] = Field(min_length=1)
    target_lang: str
    source_lang: str | None = None
    split_sentences: Literal["0", "1", "nonewlines"] = "1"
    preserve_formatting: Any = None
    formality: str = "default"
    glossary_id: str | None = None
    context: str | None = Field(None, description="Accepted; this service does not use it.")
    tag_handling: Literal["xml", "html"] | None = None
    ignore_tags: list[str] | str = Field([], description="Elements whose content stays as it is.")
    splitting_tags: list[str] | str = Field([], description="Refused: tags end no sentence.")
    show_billed_characters: Any = None
    model_type: str | None = None


class OneTranslation(BaseModel):
    """A text's translation."""

    detected_source_language: str
    text: str
    billed_characters: int
    model_type_used: str | None = None


class TranslateAnswer(BaseModel):
    """What /v2/translate gives."""

    translations: list[OneTranslation]


class Language(BaseModel):
    """A language of /v2/languages; `supports_formality` is there for targets."""

    language: str
    name: str
    supports_formality: bool | None = None


class UsageAnswer(BaseModel):
    """Characters of this month, and how many there may be."""

    character_count: int
    character_limit: int


class DocumentBody(BaseModel):
    """What /v2/document takes beside the file."""

    target_lang: str
    source_lang: str | None = None
    filename: str | None = None
    glossary_id: str | None = None


class DocumentStarted(BaseModel):
    """A document's number, and the key that its result is fetched with."""

    document_id: str
    document_key: str


class DocumentKey(BaseModel):
    """The key of a document."""

    document_key: str


class DocumentStatus(BaseModel):
    """How far a document is: queued, translating, done or error. `progress` is the share that is
    translated, from 0 to 1; DeepL's own service has no such value."""

    document_id: str
    status: str
    progress: float
    seconds_remaining: int | None = None
    billed_characters: int | None = None
    error_message: str | None = None


class DeepL:
    """The endpoints."""

    def __init__(
        self,
        desk: Desk,
        guard: Guard,
        marked: MarkedTexts,
        jobs: DocumentJobs,
        glossaries: Glossaries,
    ) -> None:
        self.desk, self.guard, self.marked, self.jobs = desk, guard, marked, jobs
        self.glossaries = glossaries

    def operations(self) -> list[Operation]:
        """All of them."""
        return [
            Operation(
                method="POST",
                path="/v2/translate",
                handler=self.translate,
                summary="Translate texts",
                body=TranslateBody,
                body_kinds=KINDS,
                answer=TranslateAnswer,
            ),
            Operation(
                method="GET",
                path="/v2/languages",
                handler=self.languages,
                summary="List the languages",
                answer=list[Language],
                query=("type",),
            ),
            Operation(
                method="GET",
                path="/v2/usage",
                handler=self.usage,
                summary="Say how much was translated this month",
                answer=UsageAnswer,
            ),
            Operation(
                method="POST",
                path="/v2/document",
                handler=self.document,
                summary="Begin to translate a document",
                body_kinds=(MULTIPART,),
                answer=DocumentStarted,
            ),
            Operation(
                method="POST",
                path="/v2/document/{id}",
                handler=self.document_status,
                summary="Say how far a document is",
                body=DocumentKey,
                body_kinds=KINDS,
                answer=DocumentStatus,
                in_path=("id",),
            ),
            Operation(
                method="POST",
                path="/v2/document/{id}/result",
                handler=self.document_result,
                summary="Fetch a translated document",
                body=DocumentKey,
                body_kinds=KINDS,
                answer_kind="application/octet-stream",
                in_path=("id",),
            ),
        ]

    async def translate(self, request: Request) -> Response:
        """POST /v2/translate"""
        values = await read_values(request)
        visit = self.guard.admit(request, _text(values.get("auth_key")))
        if isinstance(values.get("text"), str):
            values["text"] = [values["text"]]
        if isinstance(values.get("split_sentences"), bool):
            values["split_sentences"] = "1" if values["split_sentences"] else "0"
        body = checked(TranslateBody, values)
        if len(body.text) > MOST_TEXTS:
            raise Refused(400, f"Too many texts: {len(body.text)}; at most {MOST_TEXTS}")
        self.desk.check_size(body.text, visit)
        source, target = self._source(body.source_lang), self._target(body.target_lang)
        self._check_asked(body)
        self.guard.charge(visit)
        texts = body.text
        if body.split_sentences == "nonewlines":
            texts = [text.replace("\n", " ") for text in texts]
        asked = self.desk.asked(terms=await self._terms(body.glossary_id, source, target, visit))
        if body.tag_handling:
            ignored = _names(body.ignore_tags)
            found = await self.marked.translate(
                texts, body.tag_handling, source, target, asked, visit, ignored
            )
        else:
            found = await self.desk.translate(texts, source, target, asked, visit)
        return json_answer(TranslateAnswer(translations=[_one(one, body) for one in found]))

    async def _terms(
        self, id: str | None, source: str, target: str, visit: Visit
    ) -> Glossary | None:
        """The terms of the glossary that a request names."""
        if not id:
            return None
        if source == AUTO:
            raise Refused(400, "a glossary needs source_lang; name the language of the text")
        owner = visit.key.name if visit.key else ""
        return await asyncio.to_thread(self.glossaries.terms, id, owner, source, target)

    def _source(self, code: str | None) -> str:
        if not code:
            return self.desk.source(AUTO)
        found = match(code, self.desk.shelf.sources)
        if found is None:
            raise Refused(400, f"Value for 'source_lang' not supported: {code[:20]}")
        return found

    def _target(self, code: str) -> str:
        found = match(code, self.desk.shelf.targets)
        if found is None:
            raise Refused(400, f"Value for 'target_lang' not supported: {code[:20]}")
        return found

    def _check_asked(self, body: TranslateBody) -> None:
        """Raises Refused for what would be left undone."""
        if body.splitting_tags:
            raise Refused(400, "splitting_tags is not supported; leave it out")
        if body.formality not in ("default", "prefer_more", "prefer_less"):
            raise Refused(
                400,
                f"Target language {body.target_lang[:20]} does not support formality; leave it "
                "out, or use prefer_more or prefer_less",
            )

    async def languages(self, request: Request) -> Response:
        """GET /v2/languages"""
        values = await read_values(request)
        self.guard.key_of(request)
        kind = values.get("type") or "source"
        if kind not in ("source", "target"):
            raise Refused(400, "Parameter 'type' is invalid. 'source' and 'target' are valid.")
        shelf = self.desk.shelf
        if kind == "source":
            return json_answer(
                [Language(language=c.upper(), name=name_of(c)) for c in shelf.sources]
            )
        return json_answer(
            [
                Language(language=variant, name=name_of(code), supports_formality=False)
                for code in shelf.targets
                for variant in VARIANTS.get(code, (code.upper(),))
            ]
        )

    async def usage(self, request: Request) -> Response:
        """GET /v2/usage"""
        key = self.guard.key_of(request)
        used = self.guard.keyring.used(key)[0] if key else 0
        limit = key.characters if key and key.characters is not None else NO_LIMIT
        return json_answer(UsageAnswer(character_count=used, character_limit=limit))

    async def document(self, request: Request) -> Response:
        """POST /v2/document"""
        values = await read_values(request)
        visit = self.guard.admit(request)
        file = values.get("file")
        if not isinstance(file, Uploaded):
            raise Refused(400, "Parameter 'file' is missing")
        if values.get("output_format"):
            raise Refused(400, "output_format is not supported; leave it out")
        body = checked(DocumentBody, {k: v for k, v in values.items() if isinstance(v, str)})
        source, target = self._source(body.source_lang), self._target(body.target_lang)
        name = body.filename or file.name
        terms = await self._terms(body.glossary_id, source, target, visit)
        job = self.jobs.begin(file.content, name, source, target, visit, terms)
        return json_answer(DocumentStarted(document_id=job.id, document_key=job.key))

    async def document_status(self, request: Request) -> Response:
        """POST /v2/document/ID"""
        job = await self._job(request)
        done = job.state == "done"
        return json_answer(
            DocumentStatus(
                document_id=job.id,
                status=job.state,
                progress=1.0 if done else job.progress,
                seconds_remaining=None if job.ended else 5,
                billed_characters=job.visit.characters if done else None,
                error_message=job.error,
            )
        )

    async def document_result(self, request: Request) -> Response:
        """POST /v2/document/ID/result"""
        job = await self._job(request)
        if job.result is None:
            if job.error:
                raise Refused(404, job.error)
            raise Refused(503, "the document is not translated yet", 5)
        return FileResponse(job.result, media_type="application/octet-stream")

    async def _job(self, request: Request) -> DocumentJob:
        values = await read_values(request)
        self.guard.key_of(request)
        return self.jobs.find(request.path_params["id"], checked(DocumentKey, values).document_key)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _names(tags: list[str] | str) -> list[str]:
    """Tags as a list; forms have them in one text, with commas."""
    listed = tags.split(",") if isinstance(tags, str) else tags
    return [tag.strip() for tag in listed if tag.strip()]


def _one(found: Found, body: TranslateBody) -> OneTranslation:
    return OneTranslation(
        detected_source_language=found.source.upper(),
        text=found.translation.text,
        billed_characters=len(found.translation.source),
        model_type_used="quality_optimized" if body.model_type else None,
    )
