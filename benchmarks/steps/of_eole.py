"""eole 0.6.4's Transformer as a peer.

Its decoder supports pre-norm only, so the whole model is pre-norm, and its losses are compared with
those of our pre-norm model.
"""

import warnings
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from allyouneed.core.transformer import Transformer
from allyouneed.data.collate import Batch
from steps.toolkits import SMOOTHING, fill

WORDS = {
    "encoder.embeddings.tokens": "src_emb.embeddings",
    "decoder.embeddings.tokens": "tgt_emb.embeddings",
    "encoder.norm": "encoder.layer_norm",
    "decoder.norm": "decoder.layer_norm",
    "layers": "transformer_layers",
    "self_attention_residual.norm": "input_layernorm",
    "cross_attention_residual.norm": "precontext_layernorm",
    "feed_forward_residual.norm": "post_attention_layernorm",
    "self_attention": "self_attn",
    "cross_attention": "context_attn",
    "W_Q": "linear_query",
    "W_K": "linear_keys",
    "W_V": "linear_values",
    "W_O": "final_linear",
    "feed_forward.W_1": "mlp.gate_up_proj",
    "feed_forward.W_2": "mlp.down_proj",
    "output.": "generator.",
}


class Eole(nn.Module):
    """eole's `EncoderDecoderModel`, pre-norm, with the criterion of its `LossCompute`."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # eole warns about missing kernels for GPUs
            from eole.config.models import TransformerDecoderConfig, TransformerEncoderConfig
            from eole.decoders.transformer import TransformerDecoder
            from eole.encoders.transformer import TransformerEncoder
            from eole.models.model import EncoderDecoderModel
            from eole.modules.embeddings import Embeddings

        config = model.config
        shape: dict[str, Any] = {
            "hidden_size": config.d_model,
            "transformer_ff": config.d_ff,
            "heads": config.heads,
            "add_qkvbias": True,
            "add_ffnbias": True,
        }
        running = SimpleNamespace(dropout=[config.dropout], attention_dropout=[0.0])
        encoder = TransformerEncoderConfig(layers=config.encoder_layers, **shape)
        decoder = TransformerDecoderConfig(
            layers=config.decoder_layers, with_cross_attn=True, **shape
        )
        embeddings = Embeddings(
            config.d_model, config.vocabulary, config.pad, dropout=config.dropout
        )
        self.model: Any = EncoderDecoderModel(
            encoder=TransformerEncoder(encoder, running),
            decoder=TransformerDecoder(decoder, running),
            src_emb=embeddings,
            tgt_emb=embeddings,
            hidden_size=config.d_model,
        )
        self.model.generator = nn.Linear(config.d_model, config.vocabulary, bias=False)
        self.model.generator.weight = embeddings.embeddings.weight
        fill(self.model, model, WORDS)
        for stack in (self.model.encoder, self.model.decoder):
            for layer in stack.transformer_layers:
                layer.mlp.dropout_1.p = 0.0  # the paper has no dropout inside the feed-forward
        self.loss = nn.CrossEntropyLoss(
            ignore_index=config.pad, reduction="sum", label_smoothing=SMOOTHING
        )
        self.pad = config.pad

    def forward(self, batch: Batch) -> Tensor:
        """The loss."""
        lengths = (batch.source_BS != self.pad).sum(-1)
        target = torch.cat([batch.target_in_BT, batch.labels_BT[:, -1:]], dim=1)
        states_BTD, *_ = self.model(batch.source_BS, target, lengths)
        logits_PV = self.model.generator(states_BTD.flatten(0, 1))
        loss: Tensor = self.loss(logits_PV.float(), batch.labels_BT.flatten())
        return loss / batch.target_tokens
