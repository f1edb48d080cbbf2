"""An encoder without a decoder, with output heads on its states (BERT, Devlin et al. 2019).

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
    """An encoder and its output heads, by name. A head is applied to the encoder's states:

        logits = model.heads["labels"](model(ids_BS, segments_BS).states_BSD)

    A text is given as [CLS] text [SEP], a pair of texts as [CLS] first [SEP] second [SEP]. The
    segment of the second text and of its [SEP] is 1, of everything else 0. Shorter rows are padded
    with `config.pad` on the right.
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
        """Ids BS → states BSD and the mask that hides padding. Without `segments_BS` all are 0.

        Raises:
            ShapeError: ids that are not BS, more ids than `config.max_positions`, or `segments_BS`
                for a model whose `config.segments` is 0.
        """
        return self.encoder(ids_BS, segments_BS)

    def tied_weights(self) -> dict[str, str]:
        """Shared weights: the name of each copy → the name under which files store the weight.

        The stored name is the first one in the order encoder, pooler, heads.
        """
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
    """A new encoder with the requested heads: "masked_words", "next_sentence", "labels", "tags".

    `labels` and `tags` are the numbers of labels and tags; None leaves the head out. `pooler`
    says whether "next_sentence" and "labels" read the first token's state through a `Pooler`;
    None means True if the model has one of these two heads. The `config` of the returned model
    has no decoder layers.

    Raises:
        ConfigError: `labels` or `tags` is below 1, or `config` has a `source_vocabulary`.
    """
    for name, count in (("labels", labels), ("tags", tags)):
        if count is not None and count < 1:
            raise ConfigError(f"{name}={count} must be at least 1; or leave {name} out")
    if config.source_vocabulary is not None:
        raise ConfigError(
            f"source_vocabulary={config.source_vocabulary} does not apply to an encoder without "
            "a decoder; give its size as vocabulary"
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
