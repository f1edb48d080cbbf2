"""Reads JSON, forms and queries into one table of values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError, WithJsonSchema
from pydantic_core import from_json
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from allyouneed.serving.refusal import Refused

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
MOST_FIELDS = 10_000

Body = TypeVar("Body", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A file of a form: its name and its bytes."""

    name: str
    content: bytes


File = Annotated[Uploaded, WithJsonSchema({"type": "string", "format": "binary"})]
"""A file of a form, as a description of the form shows it."""


async def read_values(request: Request) -> dict[str, Any]:
    """The values of the query, with those of a form or of a JSON object over them.

    A name that a form or query repeats has a list of values. A file of a form is `Uploaded`.

    Raises:
        Refused: a body that cannot be read as what it is said to be.
    """
    values = _table(_pairs(request.scope["query_string"], "query"))
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == MULTIPART:
        try:
            form = await request.form(max_files=1, max_fields=MOST_FIELDS)
        except HTTPException as error:
            raise Refused(400, "Invalid request: the form cannot be read") from error
        try:
            read = [(name, await _read(value)) for name, value in form.multi_items()]
        finally:
            await form.close()
        return values | _table(read)
    body = await request.body()
    if not body.strip():
        return values
    if kind == FORM:
        return values | _table([(name, _with_lf(value)) for name, value in _pairs(body, "form")])
    try:
        found = from_json(body)
    except ValueError as error:
        raise Refused(400, "Invalid JSON format") from error
    if not isinstance(found, dict):
        raise Refused(400, "Invalid JSON format")
    return values | found


def text_of(values: Mapping[str, Any], name: str) -> str | None:
    """The value of this name where it is a text."""
    value = values.get(name)
    return value if isinstance(value, str) else None


async def _read(value: UploadFile | str) -> Uploaded | str:
    if isinstance(value, str):
        return _with_lf(value)
    return Uploaded(value.filename or "", await value.read())


def checked(model: type[Body], values: Mapping[str, Any]) -> Body:
    """The values as this model holds them; names that it does not know are left out.

    Raises:
        Refused: a value of another kind, by its name.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "body"
        if first["type"] == "missing":
            raise Refused(400, f"Invalid request: missing {name} parameter") from error
        raise Refused(400, f"Invalid request: {name}: {first['msg']}") from error


def _pairs(encoded: bytes, where: str) -> list[tuple[str, str]]:
    """Names and values of a query or a form, which `where` names in errors."""
    try:
        return parse_qsl(
            encoded.decode(),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
    except ValueError as error:
        raise Refused(400, f"Invalid request: the {where} is not UTF-8, or too long") from error


def _with_lf(value: str) -> str:
    """A value of a form with line ends as the texts have them: browsers send CR LF."""
    return value.replace("\r\n", "\n")


def _table(pairs: "list[tuple[str, Any]]") -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name, value in pairs:
        if name in table:
            before = table[name]
            table[name] = [*before, value] if isinstance(before, list) else [before, value]
        else:
            table[name] = value
    return table
