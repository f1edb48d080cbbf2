"""Documents: jobs that go on when their client has left, and are kept for a while when done."""

import asyncio
import io
import secrets
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from allyouneed.errors import AllYouNeedError
from allyouneed.serving.desk import AUTO, Desk
from allyouneed.serving.guard import Guard
from allyouneed.serving.refusal import Refused
from allyouneed.serving.visit import Visit
from allyouneed.translation.terms.glossary import Glossary

if TYPE_CHECKING:
    from allyouneed.documents.document import Document
    from allyouneed.documents.formats import Format
    from allyouneed.translation.markup.carrying import Translate
    from allyouneed.translation.result import Translation

AT_A_TIME = 4
TOGETHER = 1000  # sentences of a document in one order, so that others are served in between
MOST_JOBS = 200
KEPT_SECONDS = 3600.0  # after its end
JOB_SECONDS = 3600.0  # that a job may take
SAMPLE = 2000  # characters that the language is detected from
INSIDE = {"word/document.xml": "docx", "ppt/presentation.xml": "pptx", "xl/workbook.xml": "xlsx"}


@dataclass(slots=True, eq=False)
class DocumentJob:
    """One document. `state` is queued, translating, done or error; `progress` the share that is
    translated, 0 to 1; `result` the file when done."""

    name: str
    ending: str
    visit: Visit
    terms: Glossary | None = None
    id: str = field(default_factory=lambda: secrets.token_hex(16).upper())
    key: str = field(default_factory=lambda: secrets.token_hex(32).upper())
    state: str = "queued"
    error: str | None = None
    progress: float = 0.0
    result: Path | None = None
    ended: float | None = None
    task: "asyncio.Task[None] | None" = None


class DocumentJobs:
    """Translates documents, a few at a time, and keeps the results in a folder of its own, which
    is removed when the process ends."""

    def __init__(self, desk: Desk, guard: Guard) -> None:
        self.desk, self.guard = desk, guard
        self._jobs: dict[str, DocumentJob] = {}
        self._pool = ThreadPoolExecutor(AT_A_TIME, "allyouneed documents")
        self._folder: Path | None = None

    @property
    def formats(self) -> "Mapping[str, Format]":
        """The formats that can be read, by the ending of a file's name. The first use imports the
        readers."""
        from allyouneed.documents.formats import BY_ENDING

        return BY_ENDING

    def begin(
        self,
        data: bytes,
        name: str,
        source: str,
        target: str,
        visit: Visit,
        terms: Glossary | None = None,
    ) -> DocumentJob:
        """A job for a file of this name, under way.

        Raises:
            Refused: a format that is not known, an empty file, or too many jobs.
        """
        if not data:
            raise Refused(400, "Invalid request: empty file")
        ending = PurePath(name).suffix.lower().lstrip(".") or _ending_of(data)
        if ending not in self.formats:
            there_are = ", ".join(sorted(self.formats))
            raise Refused(400, f"Invalid request: file format not supported; there are {there_are}")
        self._forget_old()
        if len(self._jobs) >= MOST_JOBS:
            raise Refused(503, "too many documents are kept here; try again later", 60)
        lasting = Visit(None, visit.client, time.monotonic() + JOB_SECONDS, visit.key)
        job = DocumentJob(PurePath(name).name or f"document.{ending}", ending, lasting, terms)
        job.task = asyncio.create_task(self._run(job, data, source, target))
        self._jobs[job.id] = job
        return job

    def find(self, id: str, key: str | None = None) -> DocumentJob:
        """The job of this number; `key` has to be its own, unless None.

        Raises:
            Refused: there is none, or none any more.
        """
        job = self._jobs.get(id)
        if job is None or not (key is None or _same(job.key, key)):
            raise Refused(404, "there is no such document")
        return job

    def close(self) -> None:
        """Ends the translations that run, and removes the results."""
        for job in self._jobs.values():
            if job.task is not None:
                job.task.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _forget_old(self) -> None:
        now = time.monotonic()
        for job in [*self._jobs.values()]:
            if job.ended is not None and now - job.ended > KEPT_SECONDS:
                del self._jobs[job.id]
                if job.result is not None:
                    job.result.unlink(missing_ok=True)

    async def _run(self, job: DocumentJob, data: bytes, source: str, target: str) -> None:
        from allyouneed.documents.translating import translate_document

        loop = asyncio.get_running_loop()
        try:
            document = await loop.run_in_executor(self._pool, self._read, job, data)
            seen = [passage.text for passage in document.passages]
            job.visit.texts, job.visit.characters = len(seen), sum(map(len, seen))
            self.guard.charge(job.visit)
            if source == AUTO:
                guesses = await self.desk.detect(" ".join(seen)[:SAMPLE], job.visit)
                source = guesses[0].language
            if source != target:
                self.desk.check_direction(source, target)
                asked = self.desk.asked(terms=job.terms)
                translate = self.desk.from_thread(source, target, asked, job.visit)
                portions = partial(_in_portions, translate)

                def tell(done: int, total: int) -> None:
                    job.progress = done / max(total, 1)

                work = partial(translate_document, document, portions, progress=tell)
                await loop.run_in_executor(self._pool, work)
            job.result = await loop.run_in_executor(self._pool, self._written, job, document)
            job.state = "done"
        except Refused as error:
            job.state, job.error = "error", error.reason
        except (AllYouNeedError, RecursionError, ValueError, zipfile.BadZipFile):
            job.state, job.error = "error", f"the file cannot be read as {job.ending}"
        except OSError:
            job.state, job.error = "error", "the result could not be kept; the disk may be full"
        finally:
            job.ended = time.monotonic()
            if job.result is None:
                self.guard.give_back(job.visit)
            job.visit.end()

    def _read(self, job: DocumentJob, data: bytes) -> "Document":
        job.state = "translating"
        return self.formats[job.ending].read(data)

    def _written(self, job: DocumentJob, document: "Document") -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="allyouneed-documents-"))
        path = self._folder / job.id
        path.write_bytes(document.written())
        job.ending = self.formats[job.ending].writes or job.ending
        return path


def _in_portions(
    translate: "Translate", sentences: list[str], alignments: bool
) -> "Iterator[Translation]":
    """The translations of a document's sentences, ordered a portion at a time."""
    for begin in range(0, len(sentences), TOGETHER):
        yield from translate(sentences[begin : begin + TOGETHER], alignments)


def _same(key: str, given: str) -> bool:
    """Whether two keys are equal. The comparison takes the same time whatever the keys are, so that
    its duration gives nothing away."""
    return secrets.compare_digest(key.encode(), given.encode("utf-8", "surrogatepass"))


def _ending_of(data: bytes) -> str:
    """The ending for a file without a name, from its content."""
    if data.startswith(b"PK"):
        try:
            names = zipfile.ZipFile(io.BytesIO(data)).namelist()
        except (zipfile.BadZipFile, ValueError):
            return ""
        return next((ending for name, ending in INSIDE.items() if name in names), "")
    start = data[:200].lstrip().lower()
    return "html" if start.startswith((b"<!doctype html", b"<html")) else "txt"
