"""What the verbs write: results to standard output, notes to standard error."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


def result(line: str) -> None:
    """One line of results, flushed, so that whoever reads the pipe has it at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@contextmanager
def results(file: Path | None) -> Iterator[Callable[[str], None]]:
    """What takes a line of results: standard output, or the file, which is there when all is done.

    Raises:
        OSError: the file cannot be written; an older one stays as it was.
    """
    if file is None:
        yield result
        return
    from allyouneed.files import whole_file

    with whole_file(file) as beside, beside.open("w", encoding="utf-8", newline="\n") as opened:
        yield lambda line: print(line, file=opened)


def as_json(values: Any) -> str:
    """A JSON value on one line, every character as itself."""
    return json.dumps(values, ensure_ascii=False)


def note(text: str) -> None:
    """Something to know about what was done, on standard error."""
    with suppress(OSError):  # where nobody can be told, the results still matter
        sys.stderr.write(f"note: {text}\n")
        sys.stderr.flush()
