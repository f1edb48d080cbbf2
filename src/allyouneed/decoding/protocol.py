"""The methods of a model that searches and scores call.

B batch · S source length · T target length · N hypotheses · V vocabulary
"""

from typing import Any, Protocol

from torch import Tensor

from allyouneed.core.config import TransformerConfig


class DecodingCache(Protocol):
    """The state that a decoder keeps between steps."""

    def select(self, sentences_B: Tensor | None, hypotheses_BN: Tensor | None, /) -> None:
        """Keeps some sentences and re-orders the hypotheses of each, in place.

        `sentences_B` are indices into the cache's present sentences; None keeps all of them.
        `hypotheses_BN[b, n]` is the index of the hypothesis of kept sentence b that becomes its
        n-th; None keeps all hypotheses in order.
        """


class Decodable(Protocol):
    """A model that searches can use: the core's Transformer, an engine, an ensemble."""

    @property
    def config(self) -> TransformerConfig:
        """Vocabulary size, special ids, longest target."""

    def encode(self, source_BS: Tensor, /) -> Any:
        """Source ids BS → a memory. Searches only pass it to `start`."""

    def start(self, memory: Any, hypotheses: int, max_length: int, /) -> Any:
        """A new `DecodingCache` for `hypotheses` per sentence and at most `max_length` steps."""

    def step(self, ids_BN: Tensor, cache: Any, /) -> Tensor:
        """Logits BNV of each hypothesis' next token, from its newest id and the cache."""


class TeacherForced(Protocol):
    """A model that takes whole targets at once: the core's Transformer, an ensemble."""

    @property
    def config(self) -> TransformerConfig:
        """Vocabulary size and special ids."""

    def __call__(self, source_BS: Tensor, target_BT: Tensor, /) -> Tensor:
        """Logits BTV of the token after each position of `target_BT` (shifted right)."""
