"""Tables of results: printed, and written as JSON with a page in Markdown beside it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from contest.machine import in_words, slug

WIDTH = 230  # of a table; a narrower screen wraps its lines
Rows = Sequence[tuple[str, ...]]


def print_rows(columns: Sequence[str], rows: Rows) -> None:
    """Prints a table to standard output, as wide as needed."""
    table = Table(*columns)
    for row in rows:
        table.add_row(*row)
    Console(width=WIDTH, highlight=False).print(table)


def write_document(name: str, document: dict[str, Any], page: str, folder: Path) -> Path:
    """Writes NAME-<processor>.json and the page as .md. Returns the path of the JSON file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{slug(document['machine'])}.json"
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")
    path.with_suffix(".md").write_text(page, "utf-8")
    return path


def page_of(
    title: str, document: dict[str, Any], about: str, columns: Sequence[str], rows: Rows
) -> str:
    """A page in Markdown: the machine, a sentence about the measurement, the table, its notes."""
    lines = [
        f"# {title}",
        "",
        in_words(document["machine"]),
        "",
        about,
        "",
        "| " + " | ".join(columns) + " |",
        "|" + "---|" * len(columns),
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
        *(f"- {note}" for note in document["notes"]),
    ]
    return "\n".join(lines) + "\n"
