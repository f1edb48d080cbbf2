"""Shows attention weights of any model in the same view, without the model.

H heads · T queries · S keys
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from torch import Tensor
from torch.nn.functional import pad

from allyouneed import __version__
from allyouneed.insight import view
from allyouneed.insight.trace import Kind
from allyouneed.widget import answers
from allyouneed.widget.packing import ViewAnswer
from allyouneed.widget.page import saved_page
from allyouneed.widget.questions import ViewState
from allyouneed.widget.saved import Collected, write

ID = "plain"
HEIGHT = 900  # pixels in a notebook


class AttentionView(view.LabelledAttention):
    """Attention weights with their tokens. A notebook shows them as the last value of a cell;
    `html` writes them to a file. The view has every head as a small map, lines between tokens, and
    a matrix of numbers."""

    __slots__ = ()

    def html(self, path: str | Path) -> Path:
        """Writes the view as one HTML file without external parts. Returns its path.

        Raises:
            DataError: the file cannot be written.
        """
        path = Path(path)
        write(path, self._page(link=True))
        return path

    def _repr_html_(self) -> str:
        page = escape(self._page(link=False))
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
        )

    def _page(self, link: bool) -> str:
        state = ViewState(text="").to_json()
        return saved_page({"states": [state], "link": link}, self._answers(state).packed())

    def _answers(self, state: dict[str, Any]) -> Collected:
        kind: Kind = "encoder" if self.tokens_x == self.tokens_y else "cross"
        asked = {"id": ID, "kind": kind, "lens": "raw"}
        heads = max(len(layer_HTS) for layer_HTS in self.layers)
        filled = [pad(layer, (0, 0, 0, 0, 0, heads - len(layer))) for layer in self.layers]
        collected = Collected()
        collected.add("about", {}, ViewAnswer(self._about(kind, heads)))
        translation = {"id": ID, "source": _tokens(self.tokens_y), "target": _tokens(self.tokens_x)}
        nothing: dict[str, Any] = {
            "steps": [],
            "beamTree": [],
            "notes": [],
            "baseline": None,
            "text": "",
        }
        numbers = {"score": 0, "log_probability": 0, "seconds": 0}
        collected.add(
            "translate", {"state": state}, ViewAnswer({**translation, **nothing, **numbers})
        )
        collected.add("maps", asked, answers.maps(filled))
        for number, layer_HTS in enumerate(filled):
            collected.add("attention", {**asked, "layer": number}, answers.attention(layer_HTS))
        return collected

    def _about(self, kind: Kind, heads: int) -> dict[str, Any]:
        counts = [len(layer_HTS) for layer_HTS in self.layers]
        shown = f"{heads} heads" if len({*counts}) == 1 else f"{', '.join(map(str, counts))} heads"
        layers = {"encoder_layers": len(counts), "decoder_layers": len(counts)}
        sizes = f"{len(self.tokens_x)} × {len(self.tokens_y)} tokens"
        name = f"{len(counts)} layers · {shown} · {sizes}"
        model = {"name": name, "engine": "", "config": {**layers, "heads": heads, "d_model": 0}}
        asks = ["about", "translate", "attention", "maps"]
        return {
            "models": [model],
            "version": __version__,
            "live": False,
            "only": kind,
            "asks": asks,
        }


def attention_view(
    tokens_x: Sequence[str], tokens_y: Sequence[str], weights: Sequence[Any] | Tensor
) -> AttentionView:
    """A view of any model's attention: `tokens_x` are the queries, `tokens_y` the keys.

        outputs = model(**inputs, output_attentions=True)     # a model of Hugging Face's
        allyouneed.attention_view(target, source, outputs.cross_attentions)

    `weights` are a tensor (or an array) HTS or 1HTS for each layer. For self-attention both sides
    are the same tokens. Encoder, decoder and cross-attention are three views, each with layers and
    lengths of its own. Heads that a layer does not have are empty maps.

    Raises:
        ShapeError: the axes of a layer's weights do not fit; the message names the layer.
        UsageError: tokens are not strings, there are no layers, a layer has no weights, or a weight
            is negative or not finite.
    """
    found = view.attention_view(tokens_x, tokens_y, weights)
    return AttentionView(found.tokens_x, found.tokens_y, found.layers)


def _tokens(texts: Sequence[str]) -> list[dict[str, Any]]:
    """The texts as tokens; each is a word of its own."""
    return [
        {"text": text, "id": -1, "begin": 2 * number, "end": 2 * number + 1, "word": number}
        for number, text in enumerate(texts)
    ]
