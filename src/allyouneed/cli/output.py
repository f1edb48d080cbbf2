"""What the verbs write: results to standard output, notes to standard error."""

import json
import sys
from contextlib import suppress
from typing import Any


def result(line: str) -> None:
    """One line of results, flushed, so that whoever reads the pipe has it at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def as_json(values: Any) -> str:
    """A JSON value on one line, every character as itself."""
    return json.dumps(values, ensure_ascii=False)


def note(text: str) -> None:
    """Something to know about what was done, on standard error."""
    with suppress(OSError):  # where nobody can be told, the results still matter
        sys.stderr.write(f"note: {text}\n")
        sys.stderr.flush()
