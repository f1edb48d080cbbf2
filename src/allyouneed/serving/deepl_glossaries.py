"""DeepL's API, version 2: glossaries."""

import asyncio
from typing import Any, Literal

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from allyouneed.serving.desk import Desk
from allyouneed.serving.glossaries import Glossaries, KeptGlossary, as_tsv, read_entries
from allyouneed.serving.guard import Guard
from allyouneed.serving.languages import match
from allyouneed.serving.operation import Operation, json_answer
from allyouneed.serving.reading import FORM, checked, read_values
from allyouneed.serving.refusal import Refused

KINDS = ("application/json", FORM)
TSV = "text/tab-separated-values"


class GlossaryBody(BaseModel):
    """What /v2/glossaries takes; `entries` are lines of source, tab or comma, target."""

    name: str = Field(min_length=1, max_length=1024)
    source_lang: str
    target_lang: str
    entries: str
    entries_format: Literal["tsv", "csv"]


class GlossaryAnswer(BaseModel):
    """What there is to know about a glossary, but for its entries."""

    glossary_id: str
    name: str
    ready: bool
    source_lang: str
    target_lang: str
    creation_time: str
    entry_count: int


class DeepLGlossaries:
    """The endpoints."""

    def __init__(self, desk: Desk, guard: Guard, kept: Glossaries) -> None:
        self.desk, self.guard, self.kept = desk, guard, kept

    def operations(self) -> list[Operation]:
        """All of them."""
        return [
            Operation(
                method="GET",
                path="/v2/glossary-language-pairs",
                handler=self.pairs,
                summary="List the language pairs that glossaries can have",
                answer=dict[str, list[dict[str, str]]],
            ),
            Operation(
                method="GET",
                path="/v2/glossaries",
                handler=self.all,
                summary="List the glossaries",
                answer=dict[str, list[GlossaryAnswer]],
            ),
            Operation(
                method="POST",
                path="/v2/glossaries",
                handler=self.make,
                summary="Make a glossary",
                body=GlossaryBody,
                body_kinds=KINDS,
                answer=GlossaryAnswer,
                status=201,
            ),
            Operation(
                method="GET",
                path="/v2/glossaries/{id}",
                handler=self.one,
                summary="Describe a glossary",
                answer=GlossaryAnswer,
                in_path=("id",),
            ),
            Operation(
                method="GET",
                path="/v2/glossaries/{id}/entries",
                handler=self.entries,
                summary="Give out the entries of a glossary",
                answer_kind=TSV,
                in_path=("id",),
            ),
            Operation(
                method="DELETE",
                path="/v2/glossaries/{id}",
                handler=self.delete,
                summary="Delete a glossary",
                answer_kind="",
                status=204,
                in_path=("id",),
            ),
        ]

    async def pairs(self, request: Request) -> Response:
        """GET /v2/glossary-language-pairs"""
        self._owner(request)
        pairs = [
            {"source_lang": source.lower(), "target_lang": target.lower()}
            for source, target in sorted(self.desk.shelf.models)
        ]
        return json_answer({"supported_languages": pairs})

    async def all(self, request: Request) -> Response:
        """GET /v2/glossaries"""
        found = await asyncio.to_thread(self.kept.all, self._owner(request))
        return json_answer({"glossaries": [_told(one) for one in found]})

    async def make(self, request: Request) -> Response:
        """POST /v2/glossaries"""
        values = await read_values(request)
        visit = self.guard.admit(request)
        body = checked(GlossaryBody, values)
        source = self._language("source_lang", body.source_lang, self.desk.shelf.sources)
        target = self._language("target_lang", body.target_lang, self.desk.shelf.targets)
        self.desk.model(source, target)
        entries = await asyncio.to_thread(read_entries, body.entries, body.entries_format)
        owner = visit.key.name if visit.key else ""
        made = await asyncio.to_thread(self.kept.make, body.name, source, target, entries, owner)
        return json_answer(_told(made), 201)

    async def one(self, request: Request) -> Response:
        """GET /v2/glossaries/ID"""
        return json_answer(_told(await self._found(request)))

    async def entries(self, request: Request) -> Response:
        """GET /v2/glossaries/ID/entries"""
        found = await self._found(request)
        return Response(as_tsv(found.entries), media_type=TSV)

    async def delete(self, request: Request) -> Response:
        """DELETE /v2/glossaries/ID"""
        owner = self._owner(request)
        await asyncio.to_thread(self.kept.delete, request.path_params["id"], owner)
        return Response(status_code=204)

    def _owner(self, request: Request) -> str:
        key = self.guard.key_of(request)
        return key.name if key else ""

    async def _found(self, request: Request) -> KeptGlossary:
        owner = self._owner(request)
        return await asyncio.to_thread(self.kept.find, request.path_params["id"], owner)

    def _language(self, name: str, code: str, known: list[str]) -> str:
        found = match(code, known)
        if found is None:
            raise Refused(400, f"Value for '{name}' not supported: {code[:20]}")
        return found


def _told(one: KeptGlossary) -> GlossaryAnswer:
    values: dict[str, Any] = {
        name: getattr(one, name) for name in GlossaryAnswer.model_fields if hasattr(one, name)
    }
    return GlossaryAnswer(**values, ready=True, entry_count=len(one.entries))
