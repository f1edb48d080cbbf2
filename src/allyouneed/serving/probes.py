"""Operations for monitoring: health, readiness, metrics, and the description of the service."""

from collections.abc import Callable
from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from allyouneed.serving.guard import Guard
from allyouneed.serving.metrics import Metrics
from allyouneed.serving.operation import Operation, json_answer

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


class Probes:
    """The endpoints. `ready` is set once models are warm, and taken back when the service ends."""

    def __init__(self, metrics: Metrics, guard: Guard, describe: Callable[[], Any]) -> None:
        self.metrics, self.guard = metrics, guard
        self.ready = False
        self.description = cache(describe)  # made when it is first asked for

    def operations(self) -> list[Operation]:
        """All operations for probes."""
        return [
            Operation(
                "GET", "/health", self.health, "Say that the process lives", answer=dict[str, str]
            ),
            Operation(
                "GET",
                "/ready",
                self.readiness,
                "Say whether requests are taken: 200, or 503 while starting and ending",
                answer=dict[str, str],
            ),
            Operation(
                "GET",
                "/metrics",
                self.numbers,
                "Counters for Prometheus; with a key where keys are needed",
                answer_kind=PROMETHEUS,
            ),
            Operation(
                "GET",
                "/openapi.json",
                self.describe,
                "This description, OpenAPI 3.1",
                answer=dict[str, Any],
            ),
            Operation(
                "GET",
                "/spec",
                self.describe,
                "The same where LibreTranslate has it",
                answer=dict[str, Any],
            ),
        ]

    async def health(self, request: Request) -> Response:
        """GET /health"""
        return json_answer({"status": "ok"})

    async def readiness(self, request: Request) -> Response:
        """GET /ready"""
        return json_answer(
            {"status": "ready" if self.ready else "not ready"}, 200 if self.ready else 503
        )

    async def numbers(self, request: Request) -> Response:
        """GET /metrics"""
        self.guard.key_of(request)
        return Response(self.metrics.shown(), headers={"content-type": PROMETHEUS})

    async def describe(self, request: Request) -> Response:
        """GET /openapi.json"""
        return json_answer(self.description())
