"""Anybody's attention, in a page of its own."""

from html import unescape
from pathlib import Path

import numpy as np
import pytest
import torch

import allyouneed
from allyouneed.errors import DataError, ShapeError
from allyouneed.widget.packing import half

X, Y = ["Ein", "Mann", "</script>"], ["A", "man", ".", "</s>"]


def layers(*heads: int, rows: int = 3, columns: int = 4) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.rand(h, rows, columns, generator=generator).softmax(dim=-1) for h in heads]


def test_a_file_holds_the_weights(tmp_path: Path, read_saved) -> None:
    weights = layers(2, 2)
    path = allyouneed.attention_view(X, Y, weights).html(tmp_path / "view.html")
    file = read_saved(path)
    about, translation = (
        file.ask("about", {}),
        next(
            iter(
                held["json"]
                for question, held in file.found.items()
                if '"kind":"translate"' in question
            )
        ),
    )
    assert about is not None
    assert about[0]["only"] == "cross"
    assert about[0]["models"][0]["name"] == "2 layers · 2 heads · 3 × 4 tokens"
    assert [token["text"] for token in translation["target"]] == X
    assert [token["text"] for token in translation["source"]] == Y
    asked = {"id": translation["id"], "kind": "cross", "lens": "raw"}
    for number, layer in enumerate(weights):
        held = file.ask("attention", {**asked, "layer": number})
        assert held is not None
        np.testing.assert_array_equal(held[1]["weights"], half(layer.numpy()))
    maps = file.ask("maps", asked)
    assert maps is not None
    assert maps[1]["maps"].shape == (2, 2, 3, 4)


def test_layers_may_differ_in_their_heads(tmp_path: Path, read_saved) -> None:
    file = read_saved(allyouneed.attention_view(X, Y, layers(1, 3)).html(tmp_path / "v.html"))
    about, maps = (
        file.ask("about", {}),
        file.ask("maps", {"id": "plain", "kind": "cross", "lens": "raw"}),
    )
    assert about is not None
    assert maps is not None
    assert "1, 3 heads" in about[0]["models"][0]["name"]
    assert maps[1]["maps"].shape == (2, 3, 3, 4)
    assert not maps[1]["maps"][0, 1:].any()
    assert maps[1]["maps"][1].all()


def test_self_attention_has_the_same_tokens_on_both_sides(tmp_path: Path, read_saved) -> None:
    view = allyouneed.attention_view(X, X, layers(2, columns=3))
    about = read_saved(view.html(tmp_path / "v.html")).ask("about", {})
    assert about is not None
    assert about[0]["only"] == "encoder"


def test_long_sequences_have_small_maps_and_whole_layers(tmp_path: Path, read_saved) -> None:
    tokens = [str(number) for number in range(100)]
    weights = layers(1, rows=100, columns=100)
    file = read_saved(allyouneed.attention_view(tokens, tokens, weights).html(tmp_path / "v.html"))
    asked = {"id": "plain", "kind": "encoder", "lens": "raw"}
    maps, layer = file.ask("maps", asked), file.ask("attention", {**asked, "layer": 0})
    assert maps is not None
    assert layer is not None
    assert (maps[1]["maps"].shape, layer[1]["weights"].shape) == ((1, 1, 32, 32), (1, 100, 100))


def test_a_notebook_shows_it_in_a_frame_of_its_own() -> None:
    shown = allyouneed.attention_view(X, Y, layers(2))._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert shown.count("<") == 2  # the frame alone; its document is an attribute
    document = unescape(shown.split('"')[1])
    assert document.startswith("<!doctype html>")
    assert '"link": false' in document
    assert "allow-same-origin" not in shown


def test_it_is_the_view_that_figures_are_drawn_from() -> None:
    view = allyouneed.attention_view(X, Y, layers(2))
    torch.testing.assert_close(view.head(0, -1), layers(2)[0][1])


def test_what_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(ShapeError, match="layer 0"):
        allyouneed.attention_view(Y, X, layers(2))
    with pytest.raises(DataError, match="could not be written"):
        allyouneed.attention_view(X, Y, layers(2)).html(tmp_path / "nowhere" / "v.html")
