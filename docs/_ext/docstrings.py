"""Docstrings are Markdown: what reStructuredText would read otherwise is told to it."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx


CODE = re.compile(r"(`[^`]*`)")
MARKS = re.compile(r"([|*])")


def as_restructured_text(lines: list[str]) -> list[str]:
    """The same lines: indented examples are code, and signs mean themselves outside of code."""
    made: list[str] = []
    in_example = False
    for line in lines:
        indented = line.startswith("    ")
        if in_example and line and not indented:
            in_example = False
        elif indented and made and not made[-1].strip() and not in_example:
            in_example = True
            made += ["::", ""]
        made.append(line if in_example else _escaped(line))
    return made


def _escaped(line: str) -> str:
    parts = CODE.split(line)
    return "".join(part if part.startswith("`") else MARKS.sub(r"\\\1", part) for part in parts)


def _process(
    app: "Sphinx", what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    lines[:] = as_restructured_text(lines)


def setup(app: "Sphinx") -> dict[str, bool]:
    app.connect("autodoc-process-docstring", _process, priority=400)  # before napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
