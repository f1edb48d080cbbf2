"""PAPER.md: every row resolves, and nothing of the paper is left out."""

import re
from pathlib import Path

import pytest

from allyouneed.cli.paper_map import Row, line_of, normalise, paper_rows, read_rows

ROOT = Path(__file__).resolve().parents[2]

PARTS_OF_THE_PAPER = [
    *("section 1", "section 2", "section 3", "section 3.1", "section 3.2", "section 3.2.1"),
    *("section 3.2.2", "section 3.2.3", "section 3.3", "section 3.4", "section 3.5", "section 4"),
    *("section 5.1", "section 5.2", "section 5.3", "section 5.4", "section 6.1", "section 6.2"),
    *("section 6.3", "equation 1", "equation 2", "equation 3", "figure 1", "figure 2", "figure 3"),
    *("figure 4", "figure 5", "table 1", "table 2", "table 3", "table 4"),
]

SOURCE = '''
LIMIT = 3

class Layer:
    """A layer."""
    width: int = 4

    def __init__(self) -> None:
        self.weight = 1

    def forward(self):
        return self.weight
'''


@pytest.mark.parametrize("row", paper_rows(), ids=lambda row: f"{row.paper}|{row.symbol}")
def test_the_row_resolves(row: Row) -> None:
    assert row.line() is not None, f"{row.file}:{row.symbol} is not there"


def test_every_part_of_the_paper_has_a_row() -> None:
    named = " | ".join(normalise(row.paper) for row in paper_rows())
    missing = [
        part
        for part in PARTS_OF_THE_PAPER
        if not re.search(rf"{re.escape(part)}(?![\d.]*\d)", named)
    ]
    assert missing == []


def test_every_line_of_the_tables_is_read() -> None:
    """A row that the reader does not understand would go untested."""
    text = (ROOT / "src" / "allyouneed" / "PAPER.md").read_text("utf-8")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    heads = [line for line in lines if line.startswith(("| Paper", "|---"))]
    assert len(paper_rows()) == len(lines) - len(heads) > 60


def test_the_root_links_to_the_map() -> None:
    assert (ROOT / "PAPER.md").read_text("utf-8").startswith("# The paper, and where")


@pytest.mark.parametrize(
    ("symbol", "line"),
    [("LIMIT", 2), ("Layer", 4), ("Layer.width", 6), ("Layer.weight", 9), ("Layer.forward", 11)],
)
def test_a_symbol_is_found_at_its_line(symbol: str, line: int) -> None:
    assert line_of(SOURCE, symbol) == line


@pytest.mark.parametrize("symbol", ["LIMITS", "Layer.depth", "Layer.forward.weight", "forward"])
def test_a_symbol_that_is_not_there_has_no_line(symbol: str) -> None:
    assert line_of(SOURCE, symbol) is None


def test_the_row_test_can_fail() -> None:
    table = "| Section 9 | An idea | `core/{}` | word |"
    for place in ("attention.py:no_such_thing", "no_such_file.py:attention"):
        (row,) = read_rows(table.format(place))
        assert row.line() is None
