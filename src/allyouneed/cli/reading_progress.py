"""Shows at a terminal how much of a file on standard input is done."""

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

Done = Callable[[str], None]
"""done(line) tells that this line of the input has been processed."""


@contextmanager
def reading_progress(given: bool, output: Path | None) -> Iterator[Done]:
    """Shows a bar on standard error while the lines of a file are processed.

    There is no bar in four cases: texts were `given` as arguments, standard input is not a file,
    standard error is not a terminal, or the results themselves go to a terminal.
    """
    size = 0 if given else _input_bytes()
    if not size or not sys.stderr.isatty() or (output is None and sys.stdout.isatty()):
        yield lambda line: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:>3.0f} %  {task.description}"),
        TimeRemainingColumn(),
    )
    lines = 0
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("0 lines", total=size)

        def done(line: str) -> None:
            nonlocal lines
            lines += 1
            with_end = len(line.encode(errors="replace")) + 1
            shown.update(task, advance=with_end, description=f"{lines:,} lines")

        yield done


def _input_bytes() -> int:
    """The size of the file on standard input; 0 for a pipe, a terminal or a closed input."""
    try:
        status = os.fstat(sys.stdin.fileno())
    except (AttributeError, OSError, ValueError):
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0
