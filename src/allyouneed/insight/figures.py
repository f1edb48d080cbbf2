"""Figures for papers: a head's weights, positional encodings, all heads by a measure.

Each returns matplotlib's figure; `save` writes it as PNG, SVG or PDF.
T queries · S keys · P positions · D d_model · L layers · H heads
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from allyouneed.errors import ShapeError, UsageError
from allyouneed.insight.plotting import drawable, labels, new_figure, plain_style, save
from allyouneed.text.shown import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["head_grid", "heatmap", "positional_plot", "row_min_max", "save"]

CELL, LARGEST = 0.36, 24.0  # inches: the side of a heat map's cell, and the longest side of a map
MOST_LINES = 80  # rows or columns: larger heat maps have no lines between cells
WEIGHTS, MEASURE, CHANGE = "Blues", "Blues", "PuOr"
"""Colours that stay in order for colour-blind readers. Light means little; for changes, none."""
LINES = (("#0072B2", "-"), ("#D55E00", "--"), ("#009E73", "-."), ("#CC79A7", ":"))
KINDS = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "cross-attention",
}
CHANGES = "_change"  # the ending of measures that can be negative


def row_min_max(weights_TS: Tensor) -> Tensor:
    """The weights with every row scaled so that its smallest weight is 0 and its largest 1. A row
    of equal weights becomes zeros."""
    low_T1, high_T1 = weights_TS.amin(-1, keepdim=True), weights_TS.amax(-1, keepdim=True)
    return (weights_TS - low_T1) / (high_T1 - low_T1).masked_fill(high_T1 == low_T1, 1.0)


def heatmap(
    weights_TS: Tensor | Sequence[Sequence[float]],
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    title: str = "",
    axes: tuple[str, str] = ("query", "key"),
    stretched: bool = False,
    bar: bool = True,
) -> "Figure":
    """A heat map of one head's attention weights, with a row for each query and a column for each
    key.

    `axes` name the two sides, such as ("target", "source"). `stretched` draws `row_min_max` of the
    weights, which emphasises the largest weight of each row. `bar` adds a bar of colours.

    Raises:
        ShapeError: there is not a row for each query and a column for each key.
        UsageError: matplotlib is not installed.
    """
    weights = torch.as_tensor(weights_TS).detach().double().cpu()
    if weights.shape != (len(queries), len(keys)) or not weights.numel():
        raise ShapeError(
            f"weights of the shape {tuple(weights.shape)} for {len(queries)} queries and "
            f"{len(keys)} keys; give one row for each query, one column for each key"
        )
    cell = min(CELL, LARGEST / max(weights.shape))
    size = min(10.0, cell * 72 * 0.75)
    with plain_style():
        width = len(keys) * cell + _length(queries, size) + (1.6 if bar else 0.6)
        figure = new_figure(
            max(width, 0.11 * len(title)),
            len(queries) * cell + _length(keys, size) + (1.0 if title else 0.6),
        )
        plot = figure.add_subplot()
        drawn = plot.imshow(
            (row_min_max(weights) if stretched else weights).numpy(),
            cmap=WEIGHTS,
            vmin=0.0,
            vmax=1.0 if stretched else max(1.0, float(weights.max())),
        )
        _label_ticks(plot.yaxis, queries, size)
        _label_ticks(plot.xaxis, keys, size, rotation=90)
        plot.xaxis.set_ticks_position("top")
        plot.xaxis.set_label_position("top")
        plot.set(ylabel=axes[0], xlabel=axes[1])
        _thin_frame(plot, len(queries), len(keys))
        if title:
            _set_title(figure, title)
        if bar:
            what = "weight, each row from its smallest to its largest" if stretched else "weight"
            figure.colorbar(drawn, ax=plot, shrink=0.82, aspect=25, label=what, pad=0.02)
        figure.draw_without_rendering()
    return figure


def positional_plot(
    table_PD: Tensor, dimensions: Sequence[int] = (4, 5, 6, 7), *, title: str = ""
) -> "Figure":
    """A plot of some dimensions of a positional encoding over the positions (section 3.5).

        positional_plot(sinusoidal_encoding(positions=100, d_model=20))

    Raises:
        ShapeError: the table is not PD.
        UsageError: the table lacks a dimension, or matplotlib is not installed.
    """
    if table_PD.dim() != 2:
        raise ShapeError(f"a positional encoding is PD, not {tuple(table_PD.shape)}")
    for dimension in dimensions:
        if not 0 <= dimension < table_PD.size(1):
            raise UsageError(
                f"dimension {dimension}: the encoding has dimensions 0 … {table_PD.size(1) - 1}"
            )
    values = table_PD.detach().double().cpu()
    with plain_style():
        figure = new_figure(10, 3.6)
        plot = figure.add_subplot()
        for number, dimension in enumerate(dimensions):
            colour, line = LINES[number % len(LINES)]
            plot.plot(
                values[:, dimension].numpy(), line, color=colour, label=f"dimension {dimension}"
            )
        plot.set(xlabel="position", ylabel="value", xlim=(0, max(1, len(values) - 1)))
        plot.grid(color="0.9")
        plot.set_axisbelow(True)
        plot.spines[["top", "right"]].set_visible(False)
        figure.legend(loc="outside right upper", frameon=False, handlelength=3)
        if title:
            _set_title(figure, title)
        figure.draw_without_rendering()
    return figure


def head_grid(grids: Mapping[str, Mapping[str, Tensor]], *, title: str = "") -> "Figure":
    """A figure of all heads: a row of grids for each measure; each grid is layers × heads.

    `grids[measure][kind]` holds the values LH of the attention `kind`, "encoder", "decoder" or
    "cross", with NaN for a head without a value; `HeadReport.grids()` returns this form. Each
    measure has its own scale of colours. The scale of a measure whose name ends in "_change" is
    centred at 0.

    Raises:
        ShapeError: the values are not LH.
        UsageError: there are no grids, or matplotlib is not installed.
    """
    grids = {measure: {k: v for k, v in of.items() if v.numel()} for measure, of in grids.items()}
    kinds = [kind for kind in KINDS if any(kind in of_kind for of_kind in grids.values())]
    shapes = {kind: [tuple(g[kind].shape) for g in grids.values() if kind in g] for kind in kinds}
    if not kinds:
        raise UsageError(f"no grids to draw; give values for one of {', '.join(KINDS)}")
    for kind, found in shapes.items():
        if any(len(shape) != 2 or shape != found[0] for shape in found):
            raise ShapeError(f"{kind}: values are LH and of one shape, not {found}")
    widths = [shapes[kind][0][1] for kind in kinds]
    layers = max(shapes[kind][0][0] for kind in kinds)
    size = (sum(widths) * 0.5 + 1.1 * len(kinds) + 1.4, len(grids) * (layers * 0.32 + 0.75) + 0.9)
    with plain_style():
        figure = new_figure(*size)
        plots = figure.subplots(len(grids), len(kinds), squeeze=False, width_ratios=widths)
        for row, (measure, of_kind) in zip(plots, grids.items(), strict=True):
            _draw_measure(figure, dict(zip(kinds, row, strict=True)), measure, of_kind)
        for plot, kind in zip(plots[0], kinds, strict=True):
            plot.set_title(KINDS[kind], fontsize=10)
        if title:
            _set_title(figure, title)
        figure.draw_without_rendering()
    return figure


def _draw_measure(
    figure: "Figure", plots: Mapping[str, Any], measure: str, of_kind: Mapping[str, Tensor]
) -> None:
    """One row of grids, with its bar of colours."""
    shown_kinds = [kind for kind in plots if kind in of_kind and of_kind[kind].isfinite().any()]
    values = torch.cat(
        [of_kind[kind].double().flatten() for kind in shown_kinds] or [torch.ones(1)]
    )
    finite = values[values.isfinite()]
    signed = measure.endswith(CHANGES)
    most = float(finite.abs().max()) or 1.0
    low = -most if signed else min(0.0, float(finite.min()))
    drawn = None
    for kind, plot in plots.items():
        if kind not in shown_kinds:
            plot.set_axis_off()
            continue
        grid = of_kind[kind].detach().double().cpu()
        colours = CHANGE if signed else MEASURE
        drawn = plot.imshow(grid.numpy(), cmap=colours, vmin=low, vmax=most, aspect="auto")
        plot.set_facecolor("0.93")
        plot.set(xticks=range(grid.size(1)), yticks=range(grid.size(0)), xlabel="head")
        plot.set_ylabel("layer")
        plot.tick_params(length=0, labelsize=8)
        _thin_frame(plot, *grid.shape)
        for layer, head in grid.isfinite().nonzero().tolist():
            value = float(grid[layer, head])
            red, green, blue, _ = drawn.cmap(drawn.norm(value))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            text = _number(value, most)
            plot.text(
                head, layer, text, ha="center", va="center", size=7, color="w" if dark else "k"
            )
    if drawn is not None:
        figure.colorbar(drawn, ax=list(plots.values()), label=measure.replace("_", " "), pad=0.01)


def _number(value: float, most: float) -> str:
    """The value with enough digits to tell values of size `most` apart, without a leading zero."""
    places = 1 - math.floor(math.log10(most))
    rounded = round(value, max(0, places)) + 0.0  # no -0.0
    text = f"{rounded:.{max(0, places)}f}" if places <= 3 else f"{value:.1e}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def _label_ticks(axis: Any, tokens: Sequence[str], size: float, rotation: int = 0) -> None:
    written, fonts = labels(tokens)
    axis.set_ticks(range(len(written)), written, fontfamily=fonts, size=size, rotation=rotation)


def _length(tokens: Sequence[str], size: float) -> float:
    """The approximate length of the longest label in inches."""
    return max(map(len, labels(tokens)[0])) * size * 0.65 / 72


def _thin_frame(plot: "Axes", rows: int, columns: int) -> None:
    """Draws white lines between the cells unless there are too many cells, and no frame."""
    plot.spines[:].set_visible(False)
    plot.tick_params(which="both", length=0)
    if max(rows, columns) <= MOST_LINES:
        plot.set_xticks([column - 0.5 for column in range(1, columns)], minor=True)
        plot.set_yticks([row - 0.5 for row in range(1, rows)], minor=True)
        plot.grid(which="minor", color="white", linewidth=0.6)
        plot.tick_params(which="minor", length=0)


def _set_title(figure: "Figure", title: str) -> None:
    [text], fonts = drawable([shown(title).replace("␣", " ")])
    figure.suptitle(text, fontfamily=fonts)
