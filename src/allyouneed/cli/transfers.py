"""Shows the progress of downloads."""

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TransferSpeedColumn,
)

from allyouneed.cli.output import note


class Transfers:
    """Shows a bar for each file on standard error; without a terminal, a line for each file."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
        self._live = console.is_terminal
        self._bars = Progress(
            *columns, TransferSpeedColumn(), console=console, disable=not self._live
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> "Transfers":
        self._bars.start()
        return self

    def __exit__(self, *ended: object) -> None:
        self._bars.stop()

    def show(self, name: str, done: int, total: int | None) -> None:
        """Shows how many bytes of a file have been received."""
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=total)
            if not self._live:
                note(f"fetching {name}")
        self._bars.update(self._tasks[name], completed=done, total=total)
