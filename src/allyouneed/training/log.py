"""The log of a run: `log.jsonl` with one JSON object per line, and TensorBoard files on request.

Every record has "step" and "event"; the other keys depend on the event. A run that resumes from a
checkpoint drops the later lines, so the log holds each step once, and one final model.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from allyouneed.errors import DISK_FULL, TrainingError
from allyouneed.files import write_whole

LOG = "log.jsonl"
Record = Mapping[str, Any]
OnRecord = Callable[[Record], None]


def ignore_record(record: Record) -> None:
    """An `OnRecord` that ignores the records."""


class Log:
    """Appends records to a run's log. When `write` returns, the record is in the file.

    An unfinished last line of a killed process is removed. On a full disk the run goes on, and the
    records wait in memory until there is space. With `tensorboard`, the numbers are also written to
    `RUN/tensorboard`, until a write fails. `report` receives every record too.

    Raises:
        TrainingError: the package tensorboard is missing.
    """

    def __init__(
        self, run: Path, tensorboard: bool = False, report: OnRecord = ignore_record
    ) -> None:
        self._path = run / LOG
        self._boards = run / "tensorboard"
        self._writer = _summary_writer() if tensorboard else None
        self._board: Any = None
        self._report = report
        self._purge_from: int | None = None
        self._waiting = b""
        self._cut_unfinished_line()

    def write(self, record: Record) -> None:
        """Appends one line.

        Raises:
            TrainingError: the line cannot be written, for another reason than a full disk.
        """
        told = bool(self._waiting)
        self._waiting += (json.dumps(record, ensure_ascii=False) + "\n").encode()
        try:
            with self._path.open("ab") as file:
                file.write(self._waiting)
            self._waiting = b""
        except OSError as error:
            if error.errno not in DISK_FULL:
                raise TrainingError(
                    f"{self._path} could not be written: {error.strerror}; remove the cause, then "
                    "continue with --resume"
                ) from error
            self._cut_unfinished_line()
            if not told:
                self._tell(
                    record, f"{self._path}: {error.strerror}; its lines wait until there is space"
                )
        if self._writer is not None:
            try:
                self._to_board(record)
            except OSError as error:
                self._writer = None
                self._tell(record, f"{self._boards}: {error}; nothing more is written there")
        self._report(record)

    def keep_until(self, step: int) -> None:
        """Drops the records of later steps and of a final model; -1 empties the log.

        Raises:
            TrainingError: the log cannot be written. It is then unchanged.
        """
        kept = [
            record
            for record in read_log(self._path.parent)
            if record["step"] <= step and record["event"] != "final"
        ]
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in kept)
        try:
            write_whole(self._path, "".join(lines))
        except OSError as error:
            raise TrainingError(
                f"{self._path} could not be written: {error.strerror}; free some space, then "
                "continue with --resume"
            ) from error
        self._purge_from = step + 1

    def _tell(self, record: Record, text: str) -> None:
        self._report({"step": record["step"], "event": "note", "text": text})

    def _cut_unfinished_line(self) -> None:
        if self._path.is_file():
            with self._path.open("r+b") as file:
                file.truncate(file.read().rfind(b"\n") + 1)

    def _to_board(self, record: Record) -> None:
        if self._board is None:
            assert self._writer is not None
            self._board = self._writer(str(self._boards), purge_step=self._purge_from)
        for key, value in record.items():
            if key != "step" and isinstance(value, int | float) and not isinstance(value, bool):
                self._board.add_scalar(f"{record['event']}/{key}", value, record["step"])
        self._board.flush()


def read_log(run: Path) -> list[dict[str, Any]]:
    """The records of a run's log, in order, without a last line that is incomplete."""
    path = run / LOG
    if not path.is_file():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines]


def _summary_writer() -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise TrainingError(
            "tensorboard = true needs the package tensorboard; run "
            "pip install 'allyouneed[tensorboard]', or set tensorboard = false"
        ) from None
    return SummaryWriter
