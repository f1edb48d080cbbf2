"""The encoder: a stack of identical layers over the source (section 3.1; figure 1, left half).

B batch · S source length · D d_model
"""

from collections.abc import Iterable
from typing import NamedTuple

from torch import Tensor, nn

from allyouneed.core import masks
from allyouneed.core.attention import MultiHeadAttention
from allyouneed.core.embeddings import Embeddings
from allyouneed.core.residual import Residual


class Memory(NamedTuple):
    """The encoder's output: a state for each source position, and the mask that hides padding."""

    states_BSD: Tensor
    may_look_B11S: Tensor


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network, each inside a residual connection."""

    def __init__(
        self, self_attention: MultiHeadAttention, feed_forward: nn.Module, residual: Residual
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.self_attention_residual = residual()
        self.feed_forward = feed_forward
        self.feed_forward_residual = residual()

    def forward(self, x_BSD: Tensor, may_look: Tensor | None = None) -> Tensor:
        """States BSD → states BSD. `may_look` broadcasts to BHSS."""
        x_BSD = self.self_attention_residual(
            x_BSD, lambda y_BSD: self.self_attention(y_BSD, y_BSD, may_look)
        )
        return self.feed_forward_residual(x_BSD, self.feed_forward)


class Encoder(nn.Module):
    """Embeddings, N layers and a final norm (the identity if the layers are post-norm)."""

    def __init__(
        self, embeddings: Embeddings, layers: Iterable[EncoderLayer], norm: nn.Module
    ) -> None:
        super().__init__()
        self.embeddings = embeddings
        self.layers = nn.ModuleList(layers)
        self.norm = norm

    def forward(self, source_BS: Tensor, segments_BS: Tensor | None = None) -> Memory:
        """Source ids BS → the memory that the decoder attends to.

        Padding may stand on the left or on the right. `segments_BS` has the segment of each id,
        for models with segments (see `Embeddings`).
        """
        may_look_B11S = masks.padding(source_BS, self.embeddings.pad)
        x_BSD = self.embeddings(source_BS, segments_BT=segments_BS)
        for layer in self.layers:
            x_BSD = layer(x_BSD, may_look_B11S)
        return Memory(self.norm(x_BSD), may_look_B11S)
