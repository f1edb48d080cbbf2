"""Shows the progress of a verb's stages on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Show = Callable[[str, int, int | None], None]
"""show(stage, done, total) names the stage, and how much of it is done; None: unknown total."""


@contextmanager
def bar(description: str, total: int | None = None) -> Iterator[Show]:
    """Yields a function that updates a bar on standard error, which disappears at the end. Without
    a terminal nothing is shown."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(
        *columns,
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task(description, total=total)

        def show(stage: str, done: int, total: int | None) -> None:
            progress.update(task, description=stage, completed=done, total=total)

        yield show
