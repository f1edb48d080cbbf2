"""Documents: jobs that go on when their client has left, and are kept for a while when done."""

import asyncio
import io
import math
import secrets
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from allyouneed.errors import AllYouNeedError
from allyouneed.serving.desk import AUTO, Desk
from allyouneed.serving.document_job import DocumentJob
from allyouneed.serving.guard import Guard
from allyouneed.serving.refusal import Refused
from allyouneed.serving.visit import Visit, address
from allyouneed.translation.terms.glossary import Glossary

if TYPE_CHECKING:
    from allyouneed.documents.document import Document
    from allyouneed.documents.formats import Format
    from allyouneed.translation.markup.carrying import Translate
    from allyouneed.translation.result import Translation

AT_A_TIME = 4
TOGETHER = 1000  # sentences of a document in one order, so that others are served in between
MOST_JOBS = 200
MOST_OF_A_CLIENT = 50  # that it has not fetched
JOB_SECONDS = 3600.0  # that a job may take
SAMPLE = 2000  # characters that the language is detected from
INSIDE = {"word/document.xml": "docx", "ppt/presentation.xml": "pptx", "xl/workbook.xml": "xlsx"}


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
        seconds: float = JOB_SECONDS,
    ) -> DocumentJob:
        """A job for a file of this name, under way, which may take so many seconds.

        Raises:
            Refused: a format that is not known, an empty file, or too many jobs of this client or
                of all.
        """
        if not data:
            raise Refused(400, "Invalid request: empty file")
        ending = PurePath(name).suffix.lower().lstrip(".") or _ending_of(data)
        if ending not in self.formats:
            there_are = ", ".join(sorted(self.formats))
            raise Refused(400, f"Invalid request: file format not supported; there are {there_are}")
        owner = visit.key.name if visit.key else address(visit.request)
        self._make_room(owner)
        lasting = Visit(None, visit.client, time.monotonic() + seconds, visit.key)
        name = PurePath(name).name or f"document.{ending}"
        job = DocumentJob(name, ending, lasting, owner, terms)
        job.task = asyncio.create_task(self._run(job, data, source, target))
        self._jobs[job.id] = job
        self.guard.ending.watch(lasting)
        return job

    async def finish(self, job: DocumentJob) -> None:
        """Waits until a job has ended.

        Raises:
            Refused: there is no result, or the job's time is up, which ends it.
        """
        assert job.task is not None
        try:
            await job.visit.wait_for(job.task)
            job.task.result()
            if job.refused is not None:
                raise job.refused
        except Refused:
            self._forget(job)
            raise

    def find(self, id: str, key: str | None = None) -> DocumentJob:
        """The job of this number; `key` has to be its own, unless None.

        Raises:
            Refused: there is none, or none any more.
        """
        job = self._jobs.get(id)
        if job is None or not (key is None or _same(job.key, key)):
            raise Refused(404, "there is no such document")
        return job

    def awaited(self, since: float) -> bool:
        """Whether a document is being translated, or was at this time (as `time.monotonic` counts),
        and its client has not fetched the result."""
        return any(
            not job.is_settled and (job.ended is None or job.ended > since)
            for job in self._jobs.values()
        )

    def close(self) -> None:
        """Ends the translations that run, and removes the results."""
        for job in self._jobs.values():
            if job.task is not None:
                job.task.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _make_room(self, owner: str) -> None:
        """Removes documents that are old, or else one that nobody waits for, so that there is room
        for one more of this owner.

        Raises:
            Refused: too many are waited for.
        """
        now = time.monotonic()
        for job in [*self._jobs.values()]:
            if now > job.latest_end:
                self._forget(job)
        waited_for = [job for job in self._jobs.values() if not job.is_settled]
        own = [job for job in waited_for if job.owner == owner]
        if len(own) >= MOST_OF_A_CLIENT:
            reason = f"{len(own)} of your documents are kept here; fetch them before you send more"
            raise Refused(429, reason, _seconds_to_wait(own))
        if len(waited_for) >= MOST_JOBS:
            reason = "too many documents are kept here; try again later"
            raise Refused(503, reason, _seconds_to_wait(waited_for))
        if len(self._jobs) >= MOST_JOBS:
            self._forget(next(job for job in self._jobs.values() if job.is_settled))

    def _forget(self, job: DocumentJob) -> None:
        """Ends a job if it runs, and removes its result."""
        self._jobs.pop(job.id, None)  # one that was refused may have given way already
        if job.task is not None:
            job.task.cancel()
        if job.result is not None:
            job.result.unlink(missing_ok=True)

    async def _run(self, job: DocumentJob, data: bytes, source: str, target: str) -> None:
        from allyouneed.documents.translating import translate_document

        loop = asyncio.get_running_loop()
        try:
            document = await loop.run_in_executor(self._pool, self._read, job, data)
            seen = [passage.text for passage in document.passages]
            self.desk.check_characters(seen, job.visit)
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
            job.state, job.refused = "error", error
        except (AllYouNeedError, RecursionError, ValueError, zipfile.BadZipFile):
            unread = Refused(400, f"the file cannot be read as {job.ending}")
            job.state, job.refused = "error", unread
        except OSError:
            unkept = Refused(507, "the result could not be kept; the disk may be full")
            job.state, job.refused = "error", unkept
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


def _seconds_to_wait(jobs: Iterable[DocumentJob]) -> int:
    """After how many seconds one of these is certainly no longer kept."""
    return math.ceil(min(job.latest_end for job in jobs) - time.monotonic())


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
