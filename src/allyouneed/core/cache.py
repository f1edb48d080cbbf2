"""The decoder's cache: keys and values (or the state of a recurrence) of the decoded positions.

With the cache, a decoding step computes one position only.

B sentences · N hypotheses of each · R = B·N rows · H heads · L capacity · S source ·
K head width · D d_model
"""

from collections.abc import Sequence

import torch
from torch import Tensor


class LayerCache:
    """One decoder layer's keys and values.

    Keys and values of the target are kept once per hypothesis, those of the memory once per source
    sentence. A layer with a recurrence keeps `state_RD` instead of keys and values of the target.
    """

    def __init__(self, memory_keys_BHSK: Tensor, memory_values_BHSK: Tensor) -> None:
        self.memory_keys_BHSK = memory_keys_BHSK
        self.memory_values_BHSK = memory_values_BHSK
        self.state_RD: Tensor | None = None
        self._keys_RHLK: Tensor | None = None
        self._values_RHLK: Tensor | None = None

    def append(
        self, k_RH1K: Tensor, v_RH1K: Tensor, length: int, capacity: int
    ) -> tuple[Tensor, Tensor]:
        """All keys and all values so far, RHLK each with L = length + 1.

        The arguments are the keys and values of position `length`. The first call allocates room
        for `capacity` positions.
        """
        if self._keys_RHLK is None or self._values_RHLK is None:
            rows, heads, _, width = k_RH1K.shape
            self._keys_RHLK = k_RH1K.new_empty(rows, heads, capacity, width)
            self._values_RHLK = torch.empty_like(self._keys_RHLK)
        self._keys_RHLK[:, :, length] = k_RH1K[:, :, 0]
        self._values_RHLK[:, :, length] = v_RH1K[:, :, 0]
        return self._keys_RHLK[:, :, : length + 1], self._values_RHLK[:, :, : length + 1]

    def select_rows(self, rows_R: Tensor, length: int) -> None:
        """Copies row `rows_R[r]` to row r, for all r; only the first `length` positions count."""
        if self.state_RD is not None:
            self.state_RD = self.state_RD[rows_R]
        if self._keys_RHLK is None or self._values_RHLK is None:
            return
        self._keys_RHLK = _select(self._keys_RHLK, rows_R, length)
        self._values_RHLK = _select(self._values_RHLK, rows_R, length)

    def select_sentences(self, sentences_B: Tensor) -> None:
        """Keeps the memory's keys and values of these sentences, in this order."""
        self.memory_keys_BHSK = self.memory_keys_BHSK[sentences_B]
        self.memory_values_BHSK = self.memory_values_BHSK[sentences_B]


def _select(buffer_RHLK: Tensor, rows_R: Tensor, length: int) -> Tensor:
    known = buffer_RHLK[rows_R, :, :length]
    if rows_R.numel() > buffer_RHLK.size(0):
        buffer_RHLK = buffer_RHLK.new_empty(rows_R.numel(), *buffer_RHLK.shape[1:])
    buffer_RHLK = buffer_RHLK[: rows_R.numel()]
    buffer_RHLK[:, :, :length] = known
    return buffer_RHLK


class Cache:
    """The decoder's state between steps: a `LayerCache` for each layer, the mask of the memory.

    `length` is the number of positions decoded so far, `capacity` the largest number. `sentences_B`
    has, for each sentence that is still being decoded, its index in the encoded batch.
    """

    def __init__(
        self, layers: Sequence[LayerCache], may_look_B11S: Tensor, hypotheses: int, capacity: int
    ) -> None:
        self.layers = layers
        self.may_look_B11S = may_look_B11S
        self.hypotheses = hypotheses
        self.capacity = capacity
        self.length = 0
        self.sentences_B = torch.arange(may_look_B11S.size(0), device=may_look_B11S.device)

    def select(self, sentences_B: Tensor | None, hypotheses_BN: Tensor | None) -> None:
        """Keeps some sentences and re-orders the hypotheses of each, in place.

        `sentences_B` are indices into the cache's present sentences; None keeps all of them.
        `hypotheses_BN[b, n]` is the index of the hypothesis of kept sentence b that becomes its
        n-th; None keeps all hypotheses in order. N may differ from the present number.
        """
        if sentences_B is None and hypotheses_BN is None:
            return
        device = self.sentences_B.device
        kept_B = torch.arange(self.sentences_B.numel(), device=device)
        if sentences_B is not None:
            kept_B = sentences_B
            self.sentences_B = self.sentences_B[sentences_B]
            self.may_look_B11S = self.may_look_B11S[sentences_B]
        if hypotheses_BN is None:
            hypotheses_BN = torch.arange(self.hypotheses, device=device)[None]
        rows_R = (kept_B[:, None] * self.hypotheses + hypotheses_BN).flatten()
        self.hypotheses = hypotheses_BN.size(1)
        for layer in self.layers:
            layer.select_rows(rows_R, self.length)
            if sentences_B is not None:
                layer.select_sentences(sentences_B)
