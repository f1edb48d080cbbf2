"""The decoder: a stack of layers over the target that also attend to the memory, the encoder's
output (section 3.1; figure 1, right half).

`forward` computes all positions of a known target at once (teacher forcing); `step` computes one
position, for decoding token by token. Both give the same states.

B batch · S source length · T target length · D d_model · N hypotheses · R = B·N rows
"""

from collections.abc import Iterable

from torch import Tensor, nn

from allyouneed.core import masks
from allyouneed.core.attention import MultiHeadAttention
from allyouneed.core.cache import Cache, LayerCache
from allyouneed.core.embeddings import Embeddings
from allyouneed.core.encoder import Memory
from allyouneed.core.residual import Residual
from allyouneed.core.simple_recurrent_unit import SimpleRecurrentUnit
from allyouneed.errors import ShapeError


class _DecoderLayer(nn.Module):
    """The second and third sub-layer, which all decoder layers share: attention over the memory
    and the feed-forward network. A subclass adds the first sub-layer, over the target."""

    cross_attention: MultiHeadAttention

    def _add_upper_sublayers(
        self, cross_attention: MultiHeadAttention, feed_forward: nn.Module, residual: Residual
    ) -> None:
        self.cross_attention = cross_attention
        self.cross_attention_residual = residual()
        self.feed_forward = feed_forward
        self.feed_forward_residual = residual()

    def forward(self, x_BTD: Tensor, memory: Memory, may_look: Tensor | None = None) -> Tensor:
        """All target positions at once: BTD → BTD. `may_look` broadcasts to BHTT."""
        x_BTD = self.first_sublayer(x_BTD, may_look)
        x_BTD = self.cross_attention_residual(
            x_BTD, lambda y_BTD: self.cross_attention(y_BTD, *memory)
        )
        return self.feed_forward_residual(x_BTD, self.feed_forward)

    def step(self, x_R1D: Tensor, layer: LayerCache, cache: Cache) -> Tensor:
        """The next position, as `forward` would compute it: R1D → R1D."""
        x_R1D = self.first_sublayer_step(x_R1D, layer, cache)
        x_R1D = self.cross_attention_residual(
            x_R1D, lambda y_R1D: self._attend_to_memory(y_R1D, layer, cache)
        )
        return self.feed_forward_residual(x_R1D, self.feed_forward)

    def first_sublayer(self, x_BTD: Tensor, may_look: Tensor | None) -> Tensor:
        """The first sub-layer at all target positions: BTD → BTD."""
        raise NotImplementedError

    def first_sublayer_step(self, x_R1D: Tensor, layer: LayerCache, cache: Cache) -> Tensor:
        """The first sub-layer at the next position: R1D → R1D."""
        raise NotImplementedError

    def _attend_to_memory(self, x_R1D: Tensor, layer: LayerCache, cache: Cache) -> Tensor:
        k_BHSK, v_BHSK = layer.memory_keys_BHSK, layer.memory_values_BHSK
        if not self.cross_attention.probes:
            # All hypotheses of a sentence share its memory. Their queries are laid out along the
            # query axis, so that the memory is not repeated for each hypothesis.
            q_BHNK = self.cross_attention.queries(x_R1D.view(-1, cache.hypotheses, x_R1D.size(-1)))
            x_BND = self.cross_attention.attend(q_BHNK, k_BHSK, v_BHSK, cache.may_look_B11S)
            return x_BND.view(x_R1D.shape)
        rows = cache.hypotheses  # probes expect one row per hypothesis, so the memory is repeated
        return self.cross_attention.attend(
            self.cross_attention.queries(x_R1D),
            k_BHSK.repeat_interleave(rows, dim=0),
            v_BHSK.repeat_interleave(rows, dim=0),
            cache.may_look_B11S.repeat_interleave(rows, dim=0),
            step=cache.length,
            sentences=cache.sentences_B.repeat_interleave(rows),
        )


class DecoderLayer(_DecoderLayer):
    """Masked self-attention, attention over the memory, then the feed-forward network.

    Each of the three is inside a residual connection.
    """

    cross_attention: MultiHeadAttention

    def __init__(
        self,
        self_attention: MultiHeadAttention,
        cross_attention: MultiHeadAttention,
        feed_forward: nn.Module,
        residual: Residual,
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.self_attention_residual = residual()
        self._add_upper_sublayers(cross_attention, feed_forward, residual)

    def first_sublayer(self, x_BTD: Tensor, may_look: Tensor | None) -> Tensor:
        """Masked self-attention: BTD → BTD."""
        return self.self_attention_residual(
            x_BTD, lambda y_BTD: self.self_attention(y_BTD, y_BTD, may_look)
        )

    def first_sublayer_step(self, x_R1D: Tensor, layer: LayerCache, cache: Cache) -> Tensor:
        """Self-attention over the cached positions and the next one: R1D → R1D."""
        return self.self_attention_residual(
            x_R1D, lambda y_R1D: self._attend_to_target(y_R1D, layer, cache)
        )

    def _attend_to_target(self, x_R1D: Tensor, layer: LayerCache, cache: Cache) -> Tensor:
        # No causal mask is needed: the cache holds no later position.
        new = self.self_attention.keys_values(x_R1D, cache.length)
        k_RHTK, v_RHTK = layer.append(*new, cache.length, cache.capacity)
        return self.self_attention.attend(
            self.self_attention.queries(x_R1D, cache.length),
            k_RHTK,
            v_RHTK,
            step=cache.length,
            sentences=cache.sentences_B.repeat_interleave(cache.hypotheses),
        )


class RecurrentDecoderLayer(_DecoderLayer):
    """A `DecoderLayer` with a recurrent unit in place of masked self-attention."""

    def __init__(
        self,
        recurrence: SimpleRecurrentUnit,
        cross_attention: MultiHeadAttention,
        feed_forward: nn.Module,
        residual: Residual,
    ) -> None:
        super().__init__()
        self.recurrence = recurrence
        self.recurrence_residual = residual()
        self._add_upper_sublayers(cross_attention, feed_forward, residual)

    def first_sublayer(self, x_BTD: Tensor, may_look: Tensor | None) -> Tensor:
        """The recurrence over all positions: BTD → BTD."""
        return self.recurrence_residual(x_BTD, lambda y_BTD: self.recurrence(y_BTD, may_look))

    def first_sublayer_step(self, x_R1D: Tensor, layer: LayerCache, cache: Cache) -> Tensor:
        """One step of the recurrence, from the state in the cache: R1D → R1D."""

        def recurrence_step(y_R1D: Tensor) -> Tensor:
            y_R1D, layer.state_RD = self.recurrence.step(y_R1D, layer.state_RD)
            return y_R1D

        return self.recurrence_residual(x_R1D, recurrence_step)


class Decoder(nn.Module):
    """Embeddings, N layers and a final norm (the identity if the layers are post-norm)."""

    def __init__(
        self,
        embeddings: Embeddings,
        layers: Iterable[DecoderLayer | RecurrentDecoderLayer],
        norm: nn.Module,
    ) -> None:
        super().__init__()
        self.embeddings = embeddings
        self.layers = nn.ModuleList(layers)
        self.norm = norm

    def forward(self, target_BT: Tensor, memory: Memory) -> Tensor:
        """Target ids BT → states BTD. The ids are shifted right: they begin with `start`.

        The causal mask hides every later position from each position (`masks.causal`).
        """
        may_look_B1TT = masks.padding(target_BT, self.embeddings.pad) & masks.causal(
            target_BT.size(1), target_BT.device
        )
        x_BTD = self.embeddings(target_BT)
        for layer in self.layers:
            x_BTD = layer(x_BTD, memory, may_look_B1TT)
        return self.norm(x_BTD)

    def start(self, memory: Memory, hypotheses: int, capacity: int) -> Cache:
        """A cache for `hypotheses` per sentence and at most `capacity` steps.

        The memory's keys and values are computed here, once for the whole search.
        """
        layers = [
            LayerCache(*layer.cross_attention.keys_values(memory.states_BSD))  # type: ignore[union-attr,operator]
            for layer in self.layers
        ]
        return Cache(layers, memory.may_look_B11S, hypotheses, capacity)

    def step(self, ids_BN: Tensor, cache: Cache) -> Tensor:
        """The newest id of each hypothesis, BN → its state BND. The cache grows by one position.

        Raises:
            ShapeError: the ids are not one per hypothesis, or the cache is full.
        """
        if tuple(ids_BN.shape) != (cache.sentences_B.numel(), cache.hypotheses):
            raise ShapeError(
                f"a step takes one id for each of {cache.sentences_B.numel()} sentences × "
                f"{cache.hypotheses} hypotheses, not {tuple(ids_BN.shape)}"
            )
        if cache.length >= cache.capacity:
            raise ShapeError(f"the cache was made for {cache.capacity} steps and is full")
        x_R1D = self.embeddings(ids_BN.reshape(-1, 1), cache.length)
        for layer, layer_cache in zip(self.layers, cache.layers, strict=True):
            x_R1D = layer.step(x_R1D, layer_cache, cache)  # type: ignore[operator]
        cache.length += 1
        return self.norm(x_R1D).view(*ids_BN.shape, -1)
