"""The report page: everything shown, nothing unescaped, nothing fetched, drawn to scale."""

import html
import json
import math
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from allyouneed.data.report import DataReport
from allyouneed.errors import RecipeError, TrainingError
from allyouneed.training.log import Log
from allyouneed.training.recipe.toml_file import load_recipe, to_toml
from allyouneed.training.report.chart import (
    BOTTOM,
    LEFT,
    MOST_POINTS,
    RIGHT,
    TOP,
    Line,
    line_chart,
    number,
    round_ticks,
    thinned,
)
from allyouneed.training.report.markup import Markup, element
from allyouneed.training.report.page import duration, write_report

EVIL = "<script>alert('1')</script> & \"q\""
SVG = "{http://www.w3.org/2000/svg}"


def records() -> Iterator[dict[str, Any]]:
    data = DataReport(corpora=["a<b>.tsv"], kept_by_corpus=[90])
    for line in range(1, 6):
        data.leave_out("length ratio", 0, line, f"7 and {line} tokens {EVIL}")
    yield {"step": 0, "event": "data", "part": "train", "report": data.to_dict()}
    yield {"step": 0, "event": "note", "text": f"a note {EVIL}"}
    for step in range(10, 110, 10):
        yield {
            "step": step,
            "event": "step",
            "epoch": step // 50,
            "loss": 9 - step / 20,
            "learning_rate": step / 1e5,
            "tokens_per_second": 1500.0 + step,
            "tokens": 100 * step,
            "seconds": step * 45.0,
        }
        if step % 50 == 0:
            yield {
                "step": step,
                "event": "validation",
                "epoch": step // 50,
                "loss": 8 - step / 25,
                "bleu": step / 4,
                "signature": "nrefs:1|case:mixed",
                "best": True,
                "samples": [
                    ["Hello.", "Hallo.", "Hallo"],
                    [EVIL, "Ja & nein", f"hypothesis {step} {EVIL}"],
                    ["Nothing yet.", "Noch nichts.", ""],
                ],
            }
    yield {
        "step": 100,
        "event": "final",
        "origin": "the average of the last 2 checkpoints",
        "loss": 3.875,
        "bleu": 26.25,
        "signature": "s",
        "samples": [["Hello.", "Hallo.", "Hallo!"]],
    }


@pytest.fixture
def run(tmp_path: Path) -> Path:
    recipe = load_recipe("reverse", [f"description={EVIL}"])
    (tmp_path / "recipe.toml").write_text(to_toml(recipe), encoding="utf-8")
    log = Log(tmp_path)
    for record in records():
        log.write(record)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "training.json").write_text(json.dumps({"parameters": 1234567}))
    (tmp_path / "model" / "model.safetensors").write_bytes(bytes(2_500_000))
    return tmp_path


class Outline(HTMLParser):
    """Checks that tags close in order, and gathers tags, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_everything_is_shown(run: Path) -> None:
    page = Outline(write_report(run).read_text(encoding="utf-8"))
    for shown in (
        "26.2",
        "3.875",
        "1,234,567",
        "2.5 MB",
        "1 h 15 min",
        "10,000",
        "the average of the last 2 checkpoints",
        "Kept 90 of 95 pairs.",
        "length ratio",
        f"a<b>.tsv:1 7 and 1 tokens {EVIL}",
        f"hypothesis 50 {EVIL}",
        f"hypothesis 100 {EVIL}",
        "Noch nichts.",
        "(nothing)",
        f"a note {EVIL}",
        'made = "reverse"',
        "nrefs:1|case:mixed",
    ):
        assert shown in page.text, shown
    assert "step 50 to 100Hallofinal modelHallo!" in page.text  # unchanged in between: once
    assert sum(tag == "svg" for tag, _ in page.tags) == 4


def test_no_text_becomes_markup(run: Path) -> None:
    page = write_report(run).read_text(encoding="utf-8")
    assert "<script" not in page.lower()
    assert html.escape(EVIL) in page
    assert not [tag for tag, _ in Outline(page).tags if tag in {"script", "b"}]


def test_nothing_is_fetched(run: Path) -> None:
    page = write_report(run).read_text(encoding="utf-8")
    outline = Outline(page)
    assert not [tag for tag, _ in outline.tags if tag in {"link", "img", "iframe", "object"}]
    assert not [a for _, a in outline.tags if a.keys() & {"src", "href", "srcset", "style"}]
    assert "url(" not in page
    assert "@import" not in page
    policies = [a["content"] for _, a in outline.tags if "http-equiv" in a]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_the_page_fits_narrow_and_dark_screens(run: Path) -> None:
    page = write_report(run).read_text(encoding="utf-8")
    assert ("meta", "width=device-width, initial-scale=1") in [
        (tag, a.get("content")) for tag, a in Outline(page).tags
    ]
    assert "prefers-color-scheme: dark" in page
    used = set(re.findall(r"var\((--[\w-]+)\)", page))
    light, dark = re.findall(r":root \{([^}]*)\}", page)
    for colours in (light, dark):
        assert used <= set(re.findall(r"(--[\w-]+):", colours))


def test_colours_are_readable(run: Path) -> None:
    """Contrast at least 4.5 to 1 for text and 3 to 1 for lines, in light and in dark."""
    page = write_report(run).read_text(encoding="utf-8")
    for block in re.findall(r":root \{([^}]*)\}", page):
        colour = dict(re.findall(r"--([\w-]+): (#\w{6})", block))
        for name, least in (("ink", 7.0), ("quiet", 4.5), ("one", 3.0), ("two", 3.0)):
            assert contrast(colour[name], colour["paper"]) >= least, name


def contrast(one: str, other: str) -> float:
    """WCAG 2.2's contrast ratio."""

    def luminance(colour: str) -> float:
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_run_that_has_only_begun(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(to_toml(load_recipe("copy")), encoding="utf-8")
    page = Outline(write_report(tmp_path).read_text(encoding="utf-8"))
    assert page.text.count("Nothing was recorded.") == 3


def test_what_cannot_be_reported(tmp_path: Path, run: Path) -> None:
    with pytest.raises(RecipeError, match=r"recipe\.toml"):
        write_report(tmp_path / "nowhere")
    (run / "report.html").mkdir()
    with pytest.raises(TrainingError, match=r"report\.html could not be written"):
        write_report(run)


def drawn(points: list[tuple[float, float]], *, from_zero: bool = False) -> ElementTree.Element:
    chart = line_chart([Line("loss", 1, points)], "nats", from_zero=from_zero)
    assert chart is not None
    return ElementTree.fromstring(chart)


def places(svg: ElementTree.Element) -> list[tuple[float, float]]:
    (line,) = svg.iter(f"{SVG}polyline")
    return [
        (float(x), float(y)) for x, y in (p.split(",") for p in line.attrib["points"].split(" "))
    ]


def test_a_line_is_drawn_to_scale() -> None:
    svg = drawn([(0, 0.0), (50, 5.0), (100, 10.0)])
    (x0, y0), (x1, y1), (x2, y2) = places(svg)
    assert x0 < x1 < x2
    assert y0 > y1 > y2  # up is more
    assert x1 - x0 == pytest.approx(x2 - x1)
    assert y0 - y1 == pytest.approx(y1 - y2)
    labels = [text.text for text in svg.iter(f"{SVG}text")]
    assert {"0", "2", "10", "20", "100", "step", "nats"} <= set(labels)
    title = svg.find(f"{SVG}title")
    assert title is not None
    assert title.text == "nats: loss from 0 at step 0 to 10 at step 100"


@given(
    values=st.lists(st.floats(-1e9, 1e9) | st.sampled_from([math.nan, math.inf]), min_size=1),
    from_zero=st.booleans(),
)
@example(values=[0.0, 5e-324], from_zero=False)  # no room between the two
@settings(max_examples=50, deadline=None)
def test_any_values_stay_on_the_page(values: list[float], from_zero: bool) -> None:
    points = list(enumerate(values))
    chart = line_chart([Line("x", 1, points)], "y", from_zero=from_zero)
    if not any(map(math.isfinite, values)):
        assert chart is None
        return
    assert chart is not None
    svg = ElementTree.fromstring(chart)
    assert all(LEFT <= x <= RIGHT and TOP <= y <= BOTTOM for x, y in places(svg))
    assert all(0 <= float(text.get("x", 0)) <= 480 for text in svg.iter(f"{SVG}text"))


@given(low=st.floats(-1e6, 1e6), width=st.floats(1e-3, 1e6))
@settings(max_examples=50, deadline=None)
def test_ticks_are_few_and_cover_the_range(low: float, width: float) -> None:
    ticks = round_ticks(low, low + width)
    slack = 1e-6 * width
    assert ticks[0] <= low + slack
    assert ticks[-1] >= low + width - slack
    assert 3 <= len(ticks) <= 8


def test_round_ticks() -> None:
    assert round_ticks(0, 10) == [0, 2, 4, 6, 8, 10]
    assert round_ticks(3.1, 8.8) == [2, 4, 6, 8, 10]


def test_long_lines_are_thinned_to_their_means() -> None:
    points = [(float(n), float(n % 2)) for n in range(10 * MOST_POINTS)]
    thin = thinned(points)
    assert len(thin) == MOST_POINTS
    assert {value for _, value in thin} == {0.5}
    assert thin[0][0] == 4.5


def test_numbers_and_times_as_people_write_them() -> None:
    assert [number(v) for v in (12345.6, 999.7, 4.305, 0.0015, 0)] == [
        "12,346",
        "1,000",
        "4.305",
        "0.0015",
        "0",
    ]
    assert [duration(s) for s in (3, 59.6, 60, 3599, 3600, 12000)] == [
        "3 s",
        "1 min",
        "1 min",
        "1 h 0 min",
        "1 h 0 min",
        "3 h 20 min",
    ]


def test_markup_escapes_all_but_markup() -> None:
    inner = element("b", "<", class_='x"y')
    assert inner == '<b class="x&quot;y">&lt;</b>'
    assert element("p", inner, ["<", [inner]]) == f"<p>{inner}&lt;{inner}</p>"
    assert isinstance(inner, Markup)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (
            [],
            "The training loss includes dropout and smoothed labels; the validation loss does not.",
        ),
        (
            ["model.dropout=0.0"],
            "The training loss includes smoothed labels; the validation loss does not.",
        ),
        (["model.dropout=0.0", "training.label_smoothing=0.0"], None),
        (
            ["training.word_dropout=0.1"],
            "The training loss includes dropout, hidden words and smoothed labels;",
        ),
    ],
)
def test_why_the_losses_differ_follows_from_the_recipe(
    run: Path, overrides: list[str], said: str | None
) -> None:
    always = ("model.attention_dropout=0.0", "model.activation_dropout=0.0")
    changed = ("training.label_smoothing=0.1", "model.dropout=0.1", *always, *overrides)
    (run / "recipe.toml").write_text(to_toml(load_recipe(run / "recipe.toml", changed)))
    text = Outline(write_report(run).read_text(encoding="utf-8")).text
    assert said in text if said else "The training loss includes" not in text
