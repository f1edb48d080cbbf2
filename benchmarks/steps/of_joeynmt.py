"""joeynmt 2.3.0's Transformer as a peer.

Its loss lacks a constant, the entropy of the smoothed labels, which is added here.
"""

import math
from types import SimpleNamespace
from typing import Any

from torch import Tensor, nn

from allyouneed.core.transformer import Transformer
from allyouneed.data.collate import Batch
from steps.toolkits import SMOOTHING, fill

BOTH = {
    "feed_forward_residual.norm": "feed_forward.layer_norm",
    "feed_forward.W_1": "feed_forward.pwff_layer.0",
    "feed_forward.W_2": "feed_forward.pwff_layer.3",
    "W_Q": "q_layer",
    "W_K": "k_layer",
    "W_V": "v_layer",
    "W_O": "output_layer",
}
ENCODER = {
    "encoder.embeddings.tokens": "src_embed.lut",
    "self_attention_residual.norm": "layer_norm",
    "self_attention": "src_src_att",
    **BOTH,
}
DECODER = {
    "decoder.embeddings.tokens": "trg_embed.lut",
    "self_attention_residual.norm": "x_layer_norm",
    "cross_attention_residual.norm": "dec_layer_norm",
    "self_attention": "trg_trg_att",
    "cross_attention": "src_trg_att",
    **BOTH,
    "output.": "decoder.output_layer.",
}


class Joey(nn.Module):
    """joeynmt's `Model` with its `XentLoss`."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        from joeynmt.decoders import TransformerDecoder
        from joeynmt.embeddings import Embeddings
        from joeynmt.encoders import TransformerEncoder
        from joeynmt.model import Model

        config = model.config
        shape = {
            "hidden_size": config.d_model,
            "ff_size": config.d_ff,
            "num_heads": config.heads,
            "dropout": config.dropout,
            "emb_dropout": config.dropout,
            "layer_norm": "post",
        }
        words = SimpleNamespace(
            pad_index=config.pad,
            bos_index=config.start,
            eos_index=config.end,
            sep_index=None,
            unk_index=None,
            specials=[],
            lang_tags=[],
        )
        embedding = Embeddings(config.d_model, True, config.vocabulary, config.pad)
        encoder = TransformerEncoder(num_layers=config.encoder_layers, **shape)
        decoder = TransformerDecoder(
            num_layers=config.decoder_layers, vocab_size=config.vocabulary, **shape
        )
        decoder.output_layer.weight = embedding.lut.weight
        for layer in (*encoder.layers, *decoder.layers):
            layer.feed_forward.pwff_layer[2].p = 0.0  # the paper has no dropout there
            for part in ("src_src_att", "trg_trg_att", "src_trg_att"):
                if attention := getattr(layer, part, None):
                    attention.dropout.p = 0.0
        self.model: Any = Model(encoder, decoder, embedding, embedding, words, words)
        self.model.loss_function = ("crossentropy", SMOOTHING)
        fill(self.model, model, ENCODER, DECODER)
        self.pad = config.pad
        rest = SMOOTHING / (config.vocabulary - 2)
        self.entropy = -SMOOTHING * math.log(rest) - (1 - SMOOTHING) * math.log(1 - SMOOTHING)

    def forward(self, batch: Batch) -> Tensor:
        """The loss."""
        there_BS = batch.source_BS != self.pad
        loss, *_ = self.model(
            return_type="loss",
            src=batch.source_BS,
            src_mask=there_BS.unsqueeze(1),
            src_length=there_BS.sum(-1),
            trg_input=batch.target_in_BT,
            trg=batch.labels_BT,
            trg_mask=(batch.target_in_BT != self.pad).unsqueeze(1),
        )
        total: Tensor = loss
        return total / batch.target_tokens + self.entropy
