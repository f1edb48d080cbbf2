"""The description of the service, OpenAPI 3.1, made from the operations and their models."""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from allyouneed import __version__
from allyouneed.serving.operation import Message, Operation

REFERENCE = "#/components/schemas/{model}"
EVENT = {  # one of a stream; `data` is JSON
    "type": "object",
    "properties": {
        "event": {"enum": ["piece", "done", "error"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["event", "data"],
}


class Error(Message):
    """Why a request was not served; under /v2/ it is called `message`."""

    error: str | None = None
    message: str | None = None


def _contents(one: Operation, answer: Any) -> dict[str, Any]:
    """The bodies of an operation's answer, by their media types."""
    contents = {one.answer_kind: {"schema": answer}} if one.answer_kind else {}
    if one.stream_kind:
        contents[one.stream_kind] = {"schema": EVENT}
    return contents


def description(operations: Sequence[Operation]) -> dict[str, Any]:
    """The whole document."""
    adapters = [TypeAdapter(one.answer) for one in operations if one.answer is not None]
    bodies = [one.body for one in operations if one.body is not None]
    found, schemas = TypeAdapter.json_schemas(
        [
            *((id(adapter), "serialization", adapter) for adapter in adapters),
            *((id(body), "validation", TypeAdapter(body)) for body in bodies),
            ("Error", "serialization", TypeAdapter(Error)),
        ],
        ref_template=REFERENCE,
    )
    answers = iter(found[id(adapter), "serialization"] for adapter in adapters)
    paths: dict[str, Any] = {}
    for one in operations:
        answer = next(answers) if one.answer is not None else {"type": "string"}
        told: dict[str, Any] = {
            "summary": one.summary,
            "operationId": f"{one.method.lower()}{one.path.replace('/', '_').replace('.', '_')}",
            "responses": {
                str(one.status): {
                    "description": "Done",
                    "content": _contents(one, answer),
                },
                "default": {
                    "description": "Not served",
                    "content": {"application/json": {"schema": found["Error", "serialization"]}},
                },
            },
        }
        parameters = [
            {"name": name, "in": place, "required": place == "path", "schema": {"type": "string"}}
            for place, names in (("path", one.in_path), ("query", one.query))
            for name in names
        ]
        if parameters:
            told["parameters"] = parameters
        if one.body is not None:
            schema = found[id(one.body), "validation"]
            told["requestBody"] = {
                "required": True,
                "content": {kind: {"schema": schema} for kind in one.body_kinds},
            }
        paths.setdefault(one.path, {})[one.method.lower()] = told
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "allyouneed",
            "version": __version__,
            "description": "Translation: LibreTranslate's API, DeepL's API version 2, and an own "
            "one under /v1.",
            "license": {"name": "MIT"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas.get("$defs", {}),
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"key": []}],
    }
