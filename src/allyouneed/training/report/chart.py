"""Line charts as inline SVG, with units on the axes, round ticks and the page's colours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from allyouneed.training.report.markup import Markup, element

WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, BOTTOM = 84, 450, 14, 252
MOST_POINTS = 400  # a longer line is drawn through means of neighbouring points
MOST_DOTS = 60

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """One curve: its name, the number of its colour (1 or 2), and its points (step, value)."""

    name: str
    colour: int
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: a range of values, its place on the page, and the round values marked on it."""

    low: float
    high: float
    start: float
    end: float
    ticks: Sequence[float]

    def place(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def line_chart(lines: Sequence[Line], unit: str, *, from_zero: bool) -> Markup | None:
    """A chart over the steps, or None if there is no point. `unit` labels the value axis."""
    finite = [
        Line(line.name, line.colour, [p for p in line.points if math.isfinite(p[1])])
        for line in lines
    ]
    drawn = [Line(line.name, line.colour, thinned(line.points)) for line in finite if line.points]
    if not drawn:
        return None
    steps = [step for line in drawn for step, _ in line.points]
    values = [value for line in drawn for _, value in line.points] + ([0.0] if from_zero else [])
    across = _axis(min(steps), max(steps), LEFT, RIGHT, outwards=False)
    up = _axis(min(values), max(values), BOTTOM, TOP, outwards=True)
    said = "; ".join(
        f"{line.name} from {number(line.points[0][1])} at step {line.points[0][0]:,.0f} "
        f"to {number(line.points[-1][1])} at step {line.points[-1][0]:,.0f}"
        for line in finite
        if line.points
    )
    return element(
        "svg",
        element("title", f"{unit}: {said}"),
        _grid(across, up, unit),
        [_curve(line, across, up) for line in drawn],
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        xmlns="http://www.w3.org/2000/svg",
    )


def thinned(points: Sequence[Point]) -> list[Point]:
    """At most MOST_POINTS points, each the mean of the same number of neighbours."""
    together = math.ceil(len(points) / MOST_POINTS)
    groups = [points[n : n + together] for n in range(0, len(points), together)]
    return [
        (sum(x for x, _ in group) / len(group), sum(y for _, y in group) / len(group))
        for group in groups
    ]


def round_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """About `about` round numbers that cover the range: multiples of 1, 2 or 5 times a power of
    ten."""
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    distance = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
    first, last = math.floor(low / distance + 1e-9), math.ceil(high / distance - 1e-9)
    return [n * distance for n in range(first, last + 1)]


def number(value: float) -> str:
    """The number as a short text with marked thousands, such as 12,000, 4.31 or 0.0015."""
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.4g}"


def _axis(low: float, high: float, start: float, end: float, *, outwards: bool) -> Axis:
    """The axis of a range. With `outwards` the range is widened to the next ticks; otherwise ticks
    outside the range are left out."""
    if high - low <= max(abs(high) * 1e-9, 1e-300):  # a narrower range has too few floats in it
        spread = abs(high) / 2 if abs(high) > 1e-290 else 1.0
        low, high = low - spread, high + spread
    ticks = round_ticks(low, high)
    if outwards:
        return Axis(ticks[0], ticks[-1], start, end, ticks)
    return Axis(low, high, start, end, [tick for tick in ticks if low <= tick <= high])


def _grid(across: Axis, up: Axis, unit: str) -> list[Markup]:
    parts = []
    for tick in up.ticks:
        y = up.place(tick)
        parts.append(element("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="grid"))
        parts.append(element("text", number(tick), x=LEFT - 8, y=y + 4, text_anchor="end"))
    for tick in across.ticks:
        x = across.place(tick)
        parts.append(element("line", x1=x, x2=x, y1=BOTTOM, y2=BOTTOM + 5, class_="axis"))
        parts.append(element("text", number(tick), x=x, y=BOTTOM + 20, text_anchor="middle"))
    middle = (TOP + BOTTOM) / 2
    turned = f"translate(14 {middle}) rotate(-90)"
    parts += [
        element("line", x1=LEFT, x2=RIGHT, y1=BOTTOM, y2=BOTTOM, class_="axis"),
        element("text", "step", x=(LEFT + RIGHT) / 2, y=HEIGHT - 6, text_anchor="middle"),
        element("text", unit, transform=turned, text_anchor="middle"),
    ]
    return parts


def _curve(line: Line, across: Axis, up: Axis) -> list[Markup]:
    places = [(across.place(step), up.place(value)) for step, value in line.points]
    path = " ".join(f"{x},{y}" for x, y in places)
    curve = [element("polyline", points=path, class_=f"line line-{line.colour}")]
    if len(places) <= MOST_DOTS:
        curve += [
            element("circle", cx=x, cy=y, r=3, class_=f"dot-{line.colour}") for x, y in places
        ]
    return curve
