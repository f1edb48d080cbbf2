"""Draws attention weights as a small picture of characters.

T target length · S source length
"""

from collections.abc import Sequence

from allyouneed.cli.columns import cell_len, left_aligned
from allyouneed.text.shown import shown

SHADES = " ░▒▓█"
LEAST_WIDTH = 3


def attention_picture(
    source: Sequence[str],
    target: Sequence[str],
    weights_TS: Sequence[Sequence[float]],
    width: int = 100,
) -> str:
    """A picture with a row for each target piece and a column for each source piece; darker means
    more attention.

    Every row is scaled by its own largest weight. If the source's pieces do not fit into `width`
    characters above the columns, the columns are numbered and the pieces listed below.
    """
    names = [shown(piece.strip() or piece) for piece in source]
    rows = [shown(piece.strip() or piece) for piece in target]
    margin = max(map(cell_len, rows), default=0) + 1
    listed = margin + sum(cell_len(name) + 1 for name in names) > width
    heads = [str(number) for number in range(1, len(names) + 1)] if listed else names
    columns = [max(cell_len(head), 1 if listed else LEAST_WIDTH) for head in heads]
    lines = [" " * margin + " ".join(map(left_aligned, heads, columns))]
    for row, weights in zip(rows, weights_TS, strict=True):
        cells = [_shade(w, max(weights)) * c for w, c in zip(weights, columns, strict=True)]
        lines.append(left_aligned(row, margin) + " ".join(cells))
    if listed:
        lines.append("  ".join(f"{number} {name}" for number, name in enumerate(names, start=1)))
    return "\n".join(line.rstrip() for line in lines)


def _shade(weight: float, largest: float) -> str:
    return SHADES[round(weight / largest * (len(SHADES) - 1))] if largest > 0 else SHADES[0]
