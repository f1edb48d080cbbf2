"""Shows the progress of a training run: a live line on a terminal, or a line for each record."""

from collections.abc import Mapping
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from allyouneed.training.report.measures import measured

Record = Mapping[str, Any]


class TrainingProgress:
    """Shows the records of a run on standard error as they come. Nothing is drawn before the first
    record, so that workers without records do not disturb the screen."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True, highlight=False, soft_wrap=True)
        columns = (BarColumn(bar_width=20), TaskProgressColumn(), TextColumn("{task.description}"))
        self._live = self.console.is_terminal
        self._progress = Progress(*columns, console=self.console, disable=not self._live)
        self._task = self._progress.add_task("preparing", total=1.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def show(self, record: Record) -> None:
        """Shows a record of the log."""
        self._progress.start()
        text = describe(record)
        if record["event"] == "step" and self._live:
            self._progress.update(self._task, completed=record["share_done"], description=text)
        elif record["event"] == "preparing":
            self.preparing(record["stage"], record["done"], record["total"])
        elif text:
            self.console.print(text, markup=False)

    def preparing(self, stage: str, done: int, total: int | None) -> None:
        """Shows the progress of a stage before the first step, in the stage's own units."""
        doing = f"{stage}: {done:,}" if done else stage
        self._progress.update(
            self._task, completed=done / total if total else 0.0, description=doing
        )


def describe(record: Record) -> str:
    """A record as one line; empty for a record that is only for the log."""
    match record["event"]:
        case "step":
            unit = record.get("unit", "token").split()[-1]
            return (
                f"step {record['step']:,}  epochs {record['epoch']}  loss {record['loss']:.3f}  "
                f"rate {record['learning_rate']:.2e}  {record['tokens_per_second']:,.0f} {unit}s/s"
                f"  {time_left(record['seconds'], record['share_done'])}"
            )
        case "validation" | "final":
            found = measured(record)
            measures = "".join(f"  {one.name} {one.written(value)}" for one, value in found)
            best = "  (best so far)" if record.get("best") else ""
            which = f"  {record['origin']}" if "origin" in record else ""
            return (
                f"{record['event']}: step {record['step']:,}  "
                f"loss {record['loss']:.3f}{measures}{best}{which}"
            )
        case "note":
            return f"note: {record['text']}"
        case _:
            return ""


def time_left(seconds: float, share_done: float) -> str:
    """The time left, as a text; extrapolated from the time that the share done has taken."""
    if share_done <= 0:
        return "time left unknown"
    left = timedelta(seconds=round(seconds * (1 - share_done) / share_done))
    return f"{left} left"
