"""The encoder alone (Devlin et al. 2019): states of a text, and heads that make something of them.

B batch · S length · D d_model
"""

from collections.abc import Mapping
from dataclasses import replace

from torch import Tensor, nn

from allyouneed.core.attention import MultiHeadAttention
from allyouneed.core.config import TransformerConfig
from allyouneed.core.encoder import Encoder, Memory
from allyouneed.core.heads import (
    ClassificationHead,
    MaskedWordHead,
    NextSentenceHead,
    Pooler,
    TaggingHead,
)
from allyouneed.core.initialisation import initialise
from allyouneed.core.transformer import ACTIVATIONS, embeddings, encoder_layer, final_norm, norm
from allyouneed.errors import ConfigError


class EncoderOnly(nn.Module):
    """An encoder and its heads by name, each of which is applied to the encoder's states:

        logits = model.heads["labels"](model(ids_BS, segments_BS).states_BSD)

    A text comes as [CLS] text [SEP], a pair as [CLS] one [SEP] other [SEP], where the segment of
    the second and its [SEP] is 1; `config.pad` fills up at the right.
    """

    def __init__(
        self,
        config: TransformerConfig,
        encoder: Encoder,
        heads: Mapping[str, nn.Module],
        pooler: Pooler | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        self.encoder = encoder
        self.pooler = pooler
        self.heads = nn.ModuleDict(heads)
        initialise(self)
        for name, module in self.named_modules():
            if isinstance(module, MultiHeadAttention):
                module.name = name

    def forward(self, ids_BS: Tensor, segments_BS: Tensor | None = None) -> Memory:
        """Ids → states BSD and their mask; `segments_BS` is 0 everywhere where it is not given.

        Raises:
            ShapeError: ids that are not BS or do not fit into `config.max_positions`, or segments
                where `config.segments` is 0.
        """
        return self.encoder(ids_BS, segments_BS)

    def tied_weights(self) -> dict[str, str]:
        """Names of weights that are shared, each with the name that a file holds it under: the
        first in the order of encoder, pooler, heads."""
        owners: dict[int, str] = {}
        weights = self.named_parameters(remove_duplicate=False)
        found = {name: owners.setdefault(id(weight), name) for name, weight in weights}
        return {name: owner for name, owner in found.items() if name != owner}


def build_encoder_only(
    config: TransformerConfig,
    *,
    masked_words: bool = False,
    next_sentence: bool = False,
    labels: int | None = None,
    tags: int | None = None,
    pooler: bool | None = None,
) -> EncoderOnly:
    """An encoder of this shape with the heads asked for: "masked_words", "next_sentence", "labels"
    (so many of them) and "tags" (likewise).

    `pooler` says whether there is one, which "next_sentence" and "labels" then look through; None
    is: where there is one of these two. The model's own `config` has no decoder layers.

    Raises:
        ConfigError: no label or tag to tell, or a vocabulary for sources alone.
    """
    for name, count in (("labels", labels), ("tags", tags)):
        if count is not None and count < 1:
            raise ConfigError(f"{name}={count} must be at least 1, or left out")
    if config.source_vocabulary is not None:
        raise ConfigError(
            f"source_vocabulary={config.source_vocabulary} has no place in an encoder alone; "
            "give its size as vocabulary"
        )
    if pooler is None:
        pooler = next_sentence or labels is not None
    shared = Pooler(config.d_model) if pooler else None
    encoder = Encoder(
        embeddings(config, config.vocabulary, config.pad),
        [encoder_layer(config) for _ in range(config.encoder_layers)],
        final_norm(config),
    )
    heads: dict[str, nn.Module] = {}
    if masked_words:
        activation = ACTIVATIONS[config.activation]()
        heads["masked_words"] = MaskedWordHead(encoder.embeddings.tokens, activation, norm(config))
    if next_sentence:
        heads["next_sentence"] = NextSentenceHead(config.d_model, shared)
    if labels is not None:
        heads["labels"] = ClassificationHead(config.d_model, labels, shared, config.dropout)
    if tags is not None:
        heads["tags"] = TaggingHead(config.d_model, tags, config.dropout)
    return EncoderOnly(replace(config, decoder_layers=0), encoder, heads, shared)
