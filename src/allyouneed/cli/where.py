"""`allyouneed where`: finds the code for a part of the paper."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from allyouneed.cli.options import Debug, Json
from allyouneed.cli.output import as_json, note, result
from allyouneed.cli.paper_map import Row, find, nearest_rows, paper_rows


def where(
    query: Annotated[
        list[str] | None,
        typer.Argument(help="Words, a section, an equation, a table, a figure, or a symbol."),
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Find an idea of the paper in the code: its section, and file:line of the symbol.

    **Examples**

    - `allyouneed where "label smoothing"`
    - `allyouneed where eq. 1`
    - `allyouneed where 3.2`
    - `allyouneed where MultiHeadAttention`

    Without a query the whole table is printed. Exit code 1: nothing found.
    """
    rows = paper_rows()
    wanted = " ".join(query or [])
    found = find(wanted, rows) if wanted else rows
    for row in found or nearest_rows(wanted, rows):
        result(as_json(_as_dict(row)) if json else _as_text(row))
    if not found:
        note(f"nothing matches {wanted!r}; these are the nearest")
        raise typer.Exit(1)


def _as_text(row: Row) -> str:
    return f"{row.paper}: {row.idea}\n    {_place(row.path)}:{row.line()}  {row.symbol}"


def _as_dict(row: Row) -> dict[str, Any]:
    return {
        "paper": row.paper,
        "idea": row.idea,
        "file": str(row.path),
        "line": row.line(),
        "symbol": row.symbol,
        "words": list(row.words),
    }


def _place(path: Path) -> str:
    """The path relative to the working directory, if it is inside."""
    here = os.path.relpath(path) if path.is_relative_to(Path.cwd()) else path
    return str(here)
