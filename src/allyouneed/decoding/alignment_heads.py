"""Which of a decoder's attention heads tell where a target word comes from."""

from dataclasses import dataclass

from allyouneed.errors import UsageError


@dataclass(frozen=True, slots=True)
class AlignmentHeads:
    """Heads of one decoder layer's cross-attention, whose mean is read as an alignment.

    `layer` counts from 0, or from the last layer with negative numbers. No `heads` stand for all
    of them. The default is the last layer, which tells best with two decoder layers; with six it
    is often the last but one (Garg et al. 2019).
    """

    layer: int = -1
    heads: tuple[int, ...] = ()

    def check(self, layers: int, heads: int) -> None:
        """Raises UsageError for a layer or a head that a decoder of this shape does not have."""
        if not -layers <= self.layer < layers:
            raise UsageError(f"layer {self.layer}: the decoder has layers 0 … {layers - 1}")
        for head in self.heads:
            if not 0 <= head < heads:
                raise UsageError(f"head {head}: a decoder layer has heads 0 … {heads - 1}")
