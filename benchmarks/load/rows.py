"""The table of a run: each claim with its bar, its aim and the measured figure."""

from collections.abc import Iterable
from dataclasses import dataclass

WIDTHS = (66, 8, 8, 10)


@dataclass(frozen=True, slots=True)
class Row:
    """A measured figure. `bar` is the least (or most) that the claim allows, `aim` what is wanted;
    a row without a bar is there to be read."""

    what: str
    figure: float
    bar: float | None = None
    aim: float | None = None
    most: bool = False  # whether the figure may be no higher than the bar
    unit: str = ""

    @property
    def kept(self) -> str:
        """Whether the bar and the aim are reached, in a word."""
        if self.bar is None or self.aim is None:
            return ""
        reached = [self.figure <= one if self.most else self.figure >= one for one in self._goals]
        return {(True, True): "aim", (True, False): "bar"}.get((reached[0], reached[1]), "MISSED")

    @property
    def _goals(self) -> tuple[float, float]:
        assert self.bar is not None
        assert self.aim is not None
        return self.bar, self.aim

    def cells(self) -> tuple[str, ...]:
        """The row as texts."""
        sign = "≤ " if self.most else "≥ "
        goals = ["" if goal is None else f"{sign}{goal:g}" for goal in (self.bar, self.aim)]
        return self.what, *goals, f"{self.figure:.4g}{self.unit}", self.kept


def table(rows: Iterable[Row]) -> str:
    """All rows below a head."""
    head = ("", "bar", "aim", "figure", "reached")
    lines = [head, *(row.cells() for row in rows)]
    return "\n".join(
        "".join(cell.ljust(width) for cell, width in zip(line, (*WIDTHS, 0), strict=True)).rstrip()
        for line in lines
    )
