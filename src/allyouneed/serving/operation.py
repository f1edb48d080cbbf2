"""An operation: one thing that the service does at one address, and how the answer looks."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

Handler = Callable[[Request], Awaitable[Response]]


class Message(BaseModel):
    """A message: the content of a request or of an answer. pydantic compiles a message when it is
    first used, not when the service starts."""

    model_config = ConfigDict(defer_build=True)


@dataclass(frozen=True, slots=True)
class Operation:
    """`body` is the model of the request's body; None means that the request has none. `answer` is
    the model of the answer; None means that the answer is not JSON. `answer_kind` is then its media
    type, or "" for an answer without a body. `stream_kind` is the media type of an answer that is
    given out as it grows. `query` are the parameters of a GET."""

    method: str
    path: str
    handler: Handler
    summary: str
    body: type[Message] | None = None
    body_kinds: tuple[str, ...] = ("application/json",)
    answer: Any = None
    answer_kind: str = "application/json"
    stream_kind: str = ""
    status: int = 200
    query: tuple[str, ...] = ()
    in_path: tuple[str, ...] = ()


def json_answer(value: object, status: int = 200) -> Response:
    """A value, or a pydantic model, as JSON; fields that are None are left out of models."""
    return JsonAnswer(to_json(value, exclude_none=True), status)


class JsonAnswer(Response):
    """An answer in JSON, which is made in less time than Starlette's general answer."""

    def __init__(self, body: bytes, status: int) -> None:
        self.status_code, self.body, self.background = status, body, None
        length = b"%d" % len(body)
        self.raw_headers = [(b"content-length", length), (b"content-type", b"application/json")]
