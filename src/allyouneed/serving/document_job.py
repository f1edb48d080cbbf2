"""A document job: one document, how far it is, and its result."""

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from allyouneed.serving.refusal import Refused
from allyouneed.serving.visit import Visit
from allyouneed.translation.terms.glossary import Glossary

BYTES = "application/octet-stream"
KEPT_SECONDS = 3600.0  # after its end


@dataclass(slots=True, eq=False)
class DocumentJob:
    """One document. `state` is queued, translating, done or error; `progress` the share that is
    translated, 0 to 1; `result` the file when done, `refused` why there is none. `owner` is
    the client, by its key or address: a document outlives the connection that it came from."""

    name: str
    ending: str
    visit: Visit
    owner: str
    terms: Glossary | None = None
    id: str = field(default_factory=lambda: secrets.token_hex(16).upper())
    key: str = field(default_factory=lambda: secrets.token_hex(32).upper())
    state: str = "queued"
    refused: Refused | None = None
    progress: float = 0.0
    result: Path | None = None
    ended: float | None = None
    fetched: bool = False
    task: "asyncio.Task[None] | None" = None

    @property
    def error(self) -> str | None:
        """Why there is no result."""
        return None if self.refused is None else self.refused.reason

    @property
    def is_settled(self) -> bool:
        """Whether nobody waits for its result any more: it was fetched, or there will be none."""
        return self.fetched or self.refused is not None

    @property
    def latest_end(self) -> float:
        """When it is no longer kept, at the latest, as `time.monotonic` counts."""
        return (self.visit.until if self.ended is None else self.ended) + KEPT_SECONDS

    def sent(self, headers: Mapping[str, str] | None = None) -> FileResponse:
        """The answer that has the result."""
        assert self.result is not None
        after = BackgroundTask(self._on_sent)
        return FileResponse(self.result, media_type=BYTES, headers=headers, background=after)

    async def _on_sent(self) -> None:
        self.fetched = True
