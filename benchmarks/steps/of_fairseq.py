"""fairseq 0.12.2's Transformer as a peer.

Python 3.11 rejects its dataclasses, so the check is disabled. Its positions are replaced by the
paper's.
"""

import dataclasses
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from allyouneed.core.config import TransformerConfig
from allyouneed.core.positions import sinusoidal_encoding
from allyouneed.core.transformer import Transformer
from allyouneed.data.collate import Batch
from steps.toolkits import SMOOTHING, fill

WORDS = {
    "embeddings.tokens": "embed_tokens",
    "self_attention_residual.norm": "self_attn_layer_norm",
    "cross_attention_residual.norm": "encoder_attn_layer_norm",
    "feed_forward_residual.norm": "final_layer_norm",
    "self_attention": "self_attn",
    "cross_attention": "encoder_attn",
    "W_Q": "q_proj",
    "W_K": "k_proj",
    "W_V": "v_proj",
    "W_O": "out_proj",
    "feed_forward.W_1": "fc1",
    "feed_forward.W_2": "fc2",
    "output.": "decoder.output_projection.",
}


class FairSeq(nn.Module):
    """fairseq's `TransformerModelBase` with its label-smoothed cross-entropy."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        with lenient_dataclasses():
            from fairseq.criterions.label_smoothed_cross_entropy import label_smoothed_nll_loss
            from fairseq.models.transformer import TransformerModelBase
            from fairseq.models.transformer.transformer_config import TransformerConfig as Config

        config = model.config
        words = _Words(config)
        shape = Config(dropout=config.dropout, share_all_embeddings=True)
        for side, layers in (
            (shape.encoder, config.encoder_layers),
            (shape.decoder, config.decoder_layers),
        ):
            side.embed_dim, side.ffn_embed_dim = config.d_model, config.d_ff
            side.attention_heads, side.layers = config.heads, layers
        shape.decoder.input_dim = shape.decoder.output_dim = config.d_model
        task = SimpleNamespace(source_dictionary=words, target_dictionary=words)
        self.model: Any = TransformerModelBase.build_model(shape, task)
        fill(self.model, model, WORDS)
        table = sinusoidal_encoding(config.max_positions, config.d_model)
        for stack in (self.model.encoder, self.model.decoder):  # the paper's, not tensor2tensor's
            row = torch.zeros(config.pad + 1, config.d_model)  # position 0 follows padding's row
            stack.embed_positions.weights = torch.cat([row, table])
        self.loss: Callable[..., Any] = label_smoothed_nll_loss
        self.pad = config.pad

    def forward(self, batch: Batch) -> Tensor:
        """The loss."""
        lengths = (batch.source_BS != self.pad).sum(-1)
        output = self.model(batch.source_BS, lengths, batch.target_in_BT)
        log_probabilities = self.model.get_normalized_probs(output, log_probs=True)
        labels_P1 = batch.labels_BT.reshape(-1, 1)
        loss, _ = self.loss(
            log_probabilities.flatten(0, 1), labels_P1, SMOOTHING, ignore_index=self.pad
        )
        total: Tensor = loss
        return total / batch.target_tokens


class _Words:
    """The part of fairseq's dictionary that a model uses."""

    def __init__(self, config: TransformerConfig) -> None:
        self._config = config

    def __len__(self) -> int:
        return self._config.vocabulary

    def pad(self) -> int:
        return self._config.pad


@contextmanager
def lenient_dataclasses() -> Iterator[None]:
    """In the `with` block dataclasses may have mutable defaults, as before Python 3.11, because
    fairseq and hydra use them. Warnings about missing packages are suppressed too."""
    strict = dataclasses.dataclass

    def lenient(made: Any = None, /, **options: Any) -> Any:
        if made is None:
            return partial(lenient, **options)
        made = strict(made, **options)
        if made.__hash__ is None:
            made.__hash__ = object.__hash__
        return made

    logging.disable(logging.INFO)
    dataclasses.dataclass = lenient  # type: ignore[assignment]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        dataclasses.dataclass = strict
        logging.disable(logging.NOTSET)
