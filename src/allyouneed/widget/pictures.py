"""Pictures of translations, for pages without a kernel."""

from collections.abc import Sequence
from dataclasses import dataclass

from allyouneed.errors import AllYouNeedError, UsageError
from allyouneed.insight.figures import heatmap
from allyouneed.insight.plotting import png
from allyouneed.insight.trace import Trace
from allyouneed.widget.answers import aligning_head
from allyouneed.widget.questions import ViewState
from allyouneed.widget.session import Session


@dataclass(frozen=True, slots=True)
class Picture:
    """A sentence and its translation as text, and the attention between them as a PNG. Without
    matplotlib the PNG is empty."""

    words: str
    png: bytes


def pictures(session: Session, states: Sequence[ViewState]) -> list[Picture]:
    """A picture for each state that can be translated."""
    found: list[Picture] = []
    for state in states:
        try:
            kept = session.kept(state)
        except AllYouNeedError:
            continue  # the view itself tells why there is no translation
        found.append(_picture(kept.source.text, kept.trace))
    return found


def _picture(source: str, trace: Trace) -> Picture:
    """The cross-attention head that aligns best, as a heat map."""
    words = f"{source.strip()} → {trace.text.strip()}"
    layer, head = aligning_head(trace)
    target, keys = ([token.text for token in side] for side in (trace.target, trace.source))
    try:
        figure = heatmap(
            trace.attention("cross", layer)[head],
            target,
            keys,
            title=f"cross-attention, layer {layer}, head {head}",
            axes=("translation", "source"),
        )
    except UsageError:  # matplotlib, an extra, is not installed
        return Picture(words, b"")
    return Picture(words, png(figure))
