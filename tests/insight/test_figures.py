"""Figures: what they show, how their labels read, and what they are written as."""

import struct
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from allyouneed.core.positions import sinusoidal_encoding
from allyouneed.errors import ShapeError, UsageError
from allyouneed.insight.figures import head_grid, heatmap, positional_plot, row_min_max, save
from allyouneed.insight.plotting import LONGEST_LABEL, labels

matplotlib = pytest.importorskip("matplotlib")

WORDS = ["I", "am", "looking", "for", "a", "place", "to", "eat", ".", "EOS"]


def tick_labels(axis: Any) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def test_row_min_max() -> None:
    weights_TS = torch.tensor([[0.2, 0.6, 0.4], [0.3, 0.3, 0.3]])
    assert_close(row_min_max(weights_TS), torch.tensor([[0.0, 1.0, 0.5], [0.0, 0.0, 0.0]]))


def test_a_heat_map_shows_the_weights_with_both_axes_labelled() -> None:
    weights_TS = torch.rand(3, 10).softmax(-1)
    figure = heatmap(weights_TS, ["Wo", "ist", "?"], WORDS, axes=("target", "source"), title="A")
    plot, bar = figure.axes
    assert tick_labels(plot.yaxis) == ["Wo", "ist", "?"]
    assert tick_labels(plot.xaxis) == WORDS
    assert (plot.get_ylabel(), plot.get_xlabel()) == ("target", "source")
    (image,) = plot.images
    assert_close(torch.tensor(image.get_array()), weights_TS.double())
    assert image.get_clim() == (0.0, 1.0)
    assert bar.get_ylabel() == "weight"
    assert figure.get_suptitle() == "A"
    assert plot.xaxis.get_ticks_position() == "top"


def test_a_notebook_shows_figures_without_being_told_how() -> None:
    """IPython calls `_repr_png_` where `%matplotlib inline` has not registered a way of its own."""
    grid = {"entropy": {"cross": torch.rand(2, 4)}}
    figures = [heatmap([[1.0]], ["a"], ["b"]), positional_plot(torch.rand(9, 8)), head_grid(grid)]
    for figure in figures:
        assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]


def test_a_stretched_heat_map_without_a_bar() -> None:
    weights_TS = torch.rand(10, 10).softmax(-1)
    figure = heatmap(weights_TS.tolist(), WORDS, WORDS, stretched=True, bar=False)
    (plot,) = figure.axes
    shown_TS = torch.tensor(plot.images[0].get_array())
    assert_close(shown_TS.amax(-1), torch.ones(10, dtype=torch.float64))
    assert_close(shown_TS.amin(-1), torch.zeros(10, dtype=torch.float64))


def test_values_above_one_stay_apart() -> None:
    figure = heatmap([[0.5, 3.0]], ["a"], ["b", "c"])
    assert figure.axes[0].images[0].get_clim() == (0.0, 3.0)


@pytest.mark.parametrize("shape", [(3, 2), (2, 3, 1), (2,), (0, 0)])
def test_weights_that_do_not_fit(shape: tuple[int, ...]) -> None:
    tokens = ["x"] * shape[0]
    with pytest.raises(ShapeError, match="one row for each query"):
        heatmap(torch.ones(shape), tokens, tokens)


ODD = [
    *("中国", "שלום", "مرحبا", "हिन्दी", "😀", "\u0301", "\u202eevil", "\x00", "\ud800", "\n", ""),
    *("</script>", " a b", "$x^2$", "_{", "\\frac", "x" * 300),
]


def test_labels_of_every_kind_are_drawn_without_a_warning(tmp_path: Path) -> None:
    weights_TS = torch.rand(len(ODD), len(ODD))
    for ending in ("png", "svg", "pdf"):
        save(heatmap(weights_TS, ODD, ODD, title="$\\alpha 中\u202e\n"), tmp_path / f"x.{ending}")
    plot = heatmap(weights_TS, ODD, ODD).axes[0]
    assert "$x^2$" in tick_labels(plot.xaxis)
    assert tick_labels(plot.xaxis) == tick_labels(plot.yaxis) == labels(ODD)[0]


def test_how_tokens_become_labels() -> None:
    written = dict(zip(ODD, labels(ODD)[0], strict=True))
    assert written["\u202eevil"] == "·evil"
    assert written[" a b"] == "a␣b"
    assert written["\n"] == "·"
    assert written["\u0301"] == "\u25cc\u0301"
    assert written["שלום"] == "שלום"
    assert written["x" * 300] == "x" * (LONGEST_LABEL - 1) + "…"


def test_a_character_without_a_font_is_written_as_its_number() -> None:
    assert labels(["a\U000e1234b", "\U0003fffd"])[0] == ["a·b", "·"]  # no characters at all
    unheard_of = "\U00012000"  # cuneiform
    (written,), _ = labels([unheard_of])
    assert written in {unheard_of, "<U+12000>"}
    from allyouneed.insight import plotting

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plotting, "_other_fonts", list)
        assert labels([unheard_of]) == (["<U+12000>"], ["DejaVu Sans"])


def test_the_documents_of_positions() -> None:
    table_PD = sinusoidal_encoding(100, 20)
    (plot,) = positional_plot(table_PD).axes
    assert [line.get_label() for line in plot.lines] == [f"dimension {n}" for n in (4, 5, 6, 7)]
    for line, dimension in zip(plot.lines, (4, 5, 6, 7), strict=True):
        assert_close(torch.tensor(line.get_ydata()), table_PD[:, dimension].double())
    assert len({line.get_linestyle() for line in plot.lines}) == 4


def test_positions_that_are_not_there() -> None:
    with pytest.raises(UsageError, match=r"dimension 20: .* 0 … 19"):
        positional_plot(sinusoidal_encoding(100, 20), [4, 20])
    with pytest.raises(ShapeError, match="PD"):
        positional_plot(torch.ones(3))


GRIDS: Mapping[str, Mapping[str, Tensor]] = {
    "entropy": {"encoder": torch.rand(6, 8), "cross": torch.rand(3, 4)},
    "loss_change": {"encoder": torch.randn(6, 8), "cross": torch.tensor([[-0.5] * 4] * 3)},
    "alignment_error": {"cross": torch.full((3, 4), 0.25)},
}


def panels(figure: Any) -> Sequence[Any]:
    return [axes for axes in figure.axes if axes.images and axes.get_xlabel() == "head"]


def test_a_grid_of_heads() -> None:
    found = panels(head_grid(GRIDS, title="all heads"))
    shapes = [axes.images[0].get_array().shape for axes in found]
    assert shapes == [(6, 8), (3, 4), (6, 8), (3, 4), (3, 4)]  # the encoder has no alignment error
    assert [text.get_text() for text in found[-1].texts] == [".25"] * 12
    assert tick_labels(found[0].xaxis) == [str(head) for head in range(8)]
    assert tick_labels(found[0].yaxis) == [str(layer) for layer in range(6)]
    low, high = found[2].images[0].get_clim()
    assert low == -high < 0  # a change is drawn around 0


def test_heads_without_a_value_stay_empty() -> None:
    values_LH = torch.tensor([[1.0, float("nan")], [2.0, 3.0]])
    (found,) = panels(head_grid({"entropy": {"decoder": values_LH}}))
    assert [text.get_text() for text in found.texts] == ["1.0", "2.0", "3.0"]


def test_grids_that_cannot_be_drawn() -> None:
    with pytest.raises(UsageError, match="no grids"):
        head_grid({})
    with pytest.raises(UsageError, match="no grids"):
        head_grid({"entropy": {"decoder": torch.ones(0, 0)}})
    with pytest.raises(ShapeError, match="cross: values are LH"):
        head_grid({"entropy": {"cross": torch.ones(3)}})
    with pytest.raises(ShapeError, match="of one shape"):
        head_grid({"a": {"cross": torch.ones(3, 2)}, "b": {"cross": torch.ones(2, 2)}})


def test_files_are_what_their_names_say_and_always_the_same(tmp_path: Path) -> None:
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for ending, start in starts.items():
        path = tmp_path / f"figure.{ending}"
        save(positional_plot(sinusoidal_encoding(10, 8)), path)
        first = path.read_bytes()
        assert first.startswith(start)
        save(positional_plot(sinusoidal_encoding(10, 8)), path)
        assert path.read_bytes() == first, ending


def test_a_style_of_the_user_s_changes_nothing(tmp_path: Path) -> None:
    def drawn() -> bytes:
        save(heatmap(torch.eye(2), ["a", "b"], ["c", "d"]), tmp_path / "x.png")
        return (tmp_path / "x.png").read_bytes()

    plain = drawn()
    with matplotlib.style.context("dark_background"):
        assert drawn() == plain
    width, height = struct.unpack(">II", plain[16:24])
    assert min(width, height) > 150


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    figure = positional_plot(sinusoidal_encoding(10, 8))
    with pytest.raises(UsageError, match=r"x\.jpg: .* \.png, \.svg, \.pdf"):
        save(figure, tmp_path / "x.jpg")
    with pytest.raises(UsageError, match="there is no folder"):
        save(figure, tmp_path / "nowhere" / "x.png")


def test_without_matplotlib_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"pip install 'allyouneed\[figures\]'"):
        heatmap([[1.0]], ["a"], ["b"])


def test_no_window_is_opened() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        heatmap([[1.0]], ["a"], ["b"])
    assert "matplotlib.pyplot" not in sys.modules or not matplotlib.pyplot.get_fignums()
