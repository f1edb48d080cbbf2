"""Reads PAPER.md, which maps sections, equations, tables and figures of the paper to the code."""

import ast
import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

REFERENCES = {
    "section": ("section", "sec.", "sec", "§"),
    "equation": ("equation", "eq.", "eq"),
    "figure": ("figure", "fig.", "fig"),
    "table": ("table", "tab."),
}
ALIKE = 0.8  # the similarity from which a word counts as a misspelling of another
_REFERENCE = re.compile(r"(?:section|equation|figure|table) [\d.]+")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of PAPER.md. `file` is relative to the package, `symbol` is a dotted name."""

    paper: str
    idea: str
    file: str
    symbol: str
    words: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The path of the file in the installed package."""
        return Path(str(resources.files("allyouneed"))) / self.file

    def line(self) -> int | None:
        """The line that defines the symbol; None if the file does not define it."""
        if not self.path.is_file():
            return None
        return line_of(self.path.read_text("utf-8"), self.symbol)


def paper_rows() -> list[Row]:
    """The rows of the package's PAPER.md."""
    return read_rows((resources.files("allyouneed") / "PAPER.md").read_text("utf-8"))


def read_rows(markdown: str) -> list[Row]:
    """The rows of every table with the columns paper, idea, code, words."""
    rows = []
    for line in markdown.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        code = re.fullmatch(r"`(\S+):(\S+)`", cells[2]) if len(cells) == 4 else None
        if code:
            words = tuple(word.strip() for word in cells[3].split(","))
            rows.append(Row(cells[0], cells[1], code[1], code[2], words))
    return rows


def line_of(source: str, symbol: str) -> int | None:
    """The line of a module's source that defines a dotted symbol: a function, a class, a method,
    a field, or an attribute that a method sets on `self`."""
    body: Iterable[ast.stmt] = ast.parse(source).body
    node: ast.stmt | None = None
    for name in symbol.split("."):
        node = next((n for n in body if name in _names(n)), None)
        if node is None:
            return None
        body = _members(node)
    return node.lineno if node else None


def _members(node: ast.stmt) -> list[ast.stmt]:
    """The members of a class: its body, then the attributes that its methods set on `self`."""
    if not isinstance(node, ast.ClassDef):
        return []
    return node.body + [
        statement
        for method in node.body
        if isinstance(method, ast.FunctionDef)
        for statement in ast.walk(method)
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        and any(isinstance(target, ast.Attribute) for target in _targets(statement))
    ]


def _names(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return {node.name}
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return {ast.unparse(target).removeprefix("self.") for target in _targets(node)}
    return set()


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def find(query: str, rows: Sequence[Row]) -> list[Row]:
    """The rows that match a query, best first. A query is a reference ("eq. 1", "3.2.1", "table
    3"), or words that each are the beginning of a word of the row, or similar to one."""
    wanted = normalise(query)
    if re.fullmatch(r"\d+(\.\d+)+", wanted):
        wanted = f"section {wanted}"
    if _REFERENCE.fullmatch(wanted):
        return [row for row in rows if _refers(row, wanted)]
    scored = [(score, row) for row in rows if (score := _score(wanted, row)) > 0]
    best = max((score for score, _ in scored), default=0.0)
    # rows with similar words are used only if no row matches exactly
    kept = [(score, row) for score, row in scored if best < 1 or score >= 1]
    return [row for _, row in sorted(kept, key=lambda entry: -entry[0])]


def nearest_rows(query: str, rows: Sequence[Row], count: int = 3) -> list[Row]:
    """The rows with the most similar names, for a query without a match."""

    def likeness(row: Row) -> float:
        names = [normalise(name) for name in (row.paper, row.symbol, *row.words)]
        return max(difflib.SequenceMatcher(None, normalise(query), n).ratio() for n in names)

    return sorted(rows, key=likeness, reverse=True)[:count]


def normalise(text: str) -> str:
    """The text in lower case, with spaces for hyphens and brackets, and with references written
    out: "Eq. (1)" → "equation 1"."""
    text = re.sub(r"[-–()&,]", " ", text.lower().replace("√", "sqrt "))
    for word, spellings in REFERENCES.items():
        for spelling in spellings:
            text = re.sub(rf"(?<!\w){re.escape(spelling)}\s*(?=\d)", f"{word} ", text)
    return " ".join(text.split())


def _refers(row: Row, reference: str) -> bool:
    """Whether a row is about "section 3.2", or about a section within it."""
    return any(
        found == reference or found.startswith(f"{reference}.")
        for found in _REFERENCE.findall(normalise(row.paper))
    )


def _score(query: str, row: Row) -> float:
    """How well a row matches a query: at least 1 if every word of the query is the beginning of a
    word of the row, more if it is a name of the row; below 1 if words are only similar; 0 if a word
    does not match."""
    names = [normalise(n) for n in (row.symbol, row.paper, *row.paper.split(", "), *row.words)]
    if query in names:
        return 3.0
    if query in row.symbol.lower().split(".") or any(f" {query} " in f" {name} " for name in names):
        return 2.0
    there = set(normalise(" ".join((*names, row.idea, row.file))).replace(".", " ").split())
    there |= {row.symbol.lower(), *names}
    closeness = [_closeness(word, there) for word in query.split()]
    return min(closeness, default=0.0)


def _closeness(word: str, there: Iterable[str]) -> float:
    stem = word.removesuffix("s") if len(word) > 3 else word
    if any(other.startswith(stem) if len(stem) > 1 else other == stem for other in there):
        return 1.0
    match = difflib.get_close_matches(word, there, n=1, cutoff=ALIKE)
    return difflib.SequenceMatcher(None, word, match[0]).ratio() * 0.99 if match else 0.0
