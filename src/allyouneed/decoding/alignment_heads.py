"""The attention heads of a decoder from which word alignments are read."""

from dataclasses import dataclass

from allyouneed.errors import UsageError


@dataclass(frozen=True, slots=True)
class AlignmentHeads:
    """Heads of one decoder layer's cross-attention, the mean of whose weights gives the alignment.

    `layer` counts from 0; a negative number counts from the last layer. Empty `heads` means all
    heads. The default, the last layer, gives the best alignments with two decoder layers. With six
    layers the last but one is often better (Garg et al. 2019).
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
