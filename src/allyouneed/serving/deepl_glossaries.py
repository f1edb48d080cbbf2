"""DeepL's API, version 2: glossaries."""

import asyncio
from typing import Any, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from allyouneed.serving.deepl_request import KINDS, DeepLRequest, owner_of
from allyouneed.serving.glossaries import KeptGlossary, as_tsv, read_entries
from allyouneed.serving.operation import Message, Operation, json_answer
from allyouneed.serving.reading import checked, read_values

TSV = "text/tab-separated-values"


class GlossaryBody(Message):
    """The request of /v2/glossaries; `entries` are lines of source, tab or comma, target."""

    name: str = Field(min_length=1, max_length=1024, examples=["animals"])
    source_lang: str = Field(examples=["en"])
    target_lang: str = Field(examples=["de"])
    entries: str = Field(examples=["dog\tHund\nbike\tRad"])
    entries_format: Literal["tsv", "csv"] = Field(examples=["tsv"])


class GlossaryAnswer(Message):
    """The description of a glossary, without its entries."""

    glossary_id: str
    name: str
    ready: bool
    source_lang: str
    target_lang: str
    creation_time: str
    entry_count: int


class DeepLGlossaries:
    """The operations on glossaries."""

    def __init__(self, asked: DeepLRequest) -> None:
        self.asked, self.desk, self.kept = asked, asked.desk, asked.glossaries

    def operations(self) -> list[Operation]:
        """All operations on glossaries."""
        return [
            Operation(
                "GET",
                "/v2/glossary-language-pairs",
                self.pairs,
                "List the language pairs that glossaries can have",
                answer=dict[str, list[dict[str, str]]],
            ),
            Operation(
                "GET",
                "/v2/glossaries",
                self.all,
                "List the glossaries",
                answer=dict[str, list[GlossaryAnswer]],
            ),
            Operation(
                "POST",
                "/v2/glossaries",
                self.make,
                "Make a glossary",
                body=GlossaryBody,
                body_kinds=KINDS,
                answer=GlossaryAnswer,
                status=201,
            ),
            Operation(
                "GET",
                "/v2/glossaries/{id}",
                self.one,
                "Describe a glossary",
                answer=GlossaryAnswer,
                in_path=("id",),
            ),
            Operation(
                "GET",
                "/v2/glossaries/{id}/entries",
                self.entries,
                "Give out the entries of a glossary",
                answer_kind=TSV,
                in_path=("id",),
            ),
            Operation(
                "DELETE",
                "/v2/glossaries/{id}",
                self.delete,
                "Delete a glossary",
                answer_kind="",
                status=204,
                in_path=("id",),
            ),
        ]

    async def pairs(self, request: Request) -> Response:
        """GET /v2/glossary-language-pairs"""
        self.asked.owner(request)
        pairs = [
            {"source_lang": source.lower(), "target_lang": target.lower()}
            for source, target in sorted(self.desk.shelf.models)
        ]
        return json_answer({"supported_languages": pairs})

    async def all(self, request: Request) -> Response:
        """GET /v2/glossaries"""
        found = await asyncio.to_thread(self.kept.all, self.asked.owner(request))
        return json_answer({"glossaries": [_told(one) for one in found]})

    async def make(self, request: Request) -> Response:
        """POST /v2/glossaries"""
        values = await read_values(request)
        visit = self.asked.guard.admit(request)
        body = checked(GlossaryBody, values)
        source, target = self.asked.source(body.source_lang), self.asked.target(body.target_lang)
        self.desk.model(source, target)
        entries = await asyncio.to_thread(read_entries, body.entries, body.entries_format)
        made = await asyncio.to_thread(
            self.kept.make, body.name, source, target, entries, owner_of(visit.key)
        )
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
        owner = self.asked.owner(request)
        await asyncio.to_thread(self.kept.delete, request.path_params["id"], owner)
        return Response(status_code=204)

    async def _found(self, request: Request) -> KeptGlossary:
        owner = self.asked.owner(request)
        return await asyncio.to_thread(self.kept.find, request.path_params["id"], owner)


def _told(one: KeptGlossary) -> GlossaryAnswer:
    values: dict[str, Any] = {
        name: getattr(one, name) for name in GlossaryAnswer.model_fields if hasattr(one, name)
    }
    return GlossaryAnswer(**values, ready=True, entry_count=len(one.entries))
