"""What search needs from a model.

B batch · S source length · T target length · N hypotheses · V vocabulary
"""

from typing import Any, Protocol

from torch import Tensor

from allyouneed.core.config import TransformerConfig


class DecodingCache(Protocol):
    """A decoder's state between steps."""

    def select(self, sentences_B: Tensor | None, hypotheses_BN: Tensor | None, /) -> None:
        """Keeps these sentences (indices into those now present; None: all), and lets hypothesis
        `hypotheses_BN[b, n]` of the kept sentence b go on as its n-th (None: as they stand)."""


class Decodable(Protocol):
    """All that search knows of a model: the core's Transformer, an engine, an ensemble."""

    @property
    def config(self) -> TransformerConfig:
        """Vocabulary size, special ids, longest target."""

    def encode(self, source_BS: Tensor, /) -> Any:
        """Source ids → a memory, which search only hands on to `start`."""

    def start(self, memory: Any, hypotheses: int, max_length: int, /) -> Any:
        """A fresh `DecodingCache` for `hypotheses` per sentence and `max_length` steps."""

    def step(self, ids_BN: Tensor, cache: Any, /) -> Tensor:
        """Logits BNV of what follows, given each hypothesis' newest id."""


class TeacherForced(Protocol):
    """A model that looks at whole targets at once: the core's Transformer, an ensemble."""

    @property
    def config(self) -> TransformerConfig:
        """Vocabulary size and special ids."""

    def __call__(self, source_BS: Tensor, target_BT: Tensor, /) -> Tensor:
        """Logits BTV of what follows each position of the (shifted) target."""
