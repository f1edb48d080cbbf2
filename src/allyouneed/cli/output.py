"""Writes results to standard output and notes to standard error."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from allyouneed.errors import UsageError


def result(line: str) -> None:
    """Writes one line of results and flushes it, so that a reader of the pipe gets it at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def check_output(file: Path) -> None:
    """Raises UsageError if the file of --output cannot be written. Verbs call it before long
    work."""
    if file.is_dir():
        raise UsageError(f"--output {file} is a folder; name a file")
    if not file.parent.is_dir():
        raise UsageError(f"--output {file}: there is no folder {file.parent}")


@contextmanager
def results(file: Path | None) -> Iterator[Callable[[str], None]]:
    """Yields a function that writes a line of results to standard output or to the file. The file
    appears when the `with` block ends.

    Raises:
        OSError: the file cannot be written. An older file stays unchanged.
    """
    if file is None:
        yield result
        return
    from allyouneed.files import whole_file

    with whole_file(file) as beside, beside.open("w", encoding="utf-8", newline="\n") as opened:
        yield lambda line: print(line, file=opened)


def as_json(values: Any) -> str:
    """The value as JSON on one line, without escapes for characters beyond ASCII."""
    return json.dumps(values, ensure_ascii=False)


def note(text: str) -> None:
    """Writes a note for the user to standard error."""
    with suppress(OSError):  # a closed standard error must not stop the results
        sys.stderr.write(f"note: {text}\n")
        sys.stderr.flush()
