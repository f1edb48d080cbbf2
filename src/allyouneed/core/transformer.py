"""The whole model (figure 1), and the functions that build its parts from a configuration.

B batch · S source length · T target length · D d_model · V vocabulary · N hypotheses
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from allyouneed.core.attention import MultiHeadAttention
from allyouneed.core.cache import Cache
from allyouneed.core.config import TransformerConfig
from allyouneed.core.decoder import Decoder, DecoderLayer, RecurrentDecoderLayer
from allyouneed.core.dropout import Dropout
from allyouneed.core.embeddings import Embeddings
from allyouneed.core.encoder import Encoder, EncoderLayer, Memory
from allyouneed.core.feed_forward import FeedForward, GatedFeedForward
from allyouneed.core.initialisation import initialise
from allyouneed.core.positions import LearnedPositions, Rotary, TablePositions, sinusoidal_encoding
from allyouneed.core.residual import PostNorm, PreNorm, Residual
from allyouneed.core.simple_recurrent_unit import SimpleRecurrentUnit
from allyouneed.errors import ConfigError


class Transformer(nn.Module):
    """Encoder, decoder and output projection (figure 1).

    A source sentence is a row of ids that ends in `config.end`. The decoder's input is the target
    shifted right: it begins with `config.start`. Shorter rows are padded with `config.pad`.

    Raises:
        ConfigError: `config` is no TransformerConfig, or `config.segments` is not 0.
        ShapeError: (from every method that takes ids) ids that are not BT, or more ids than
            `config.max_positions`.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        if not isinstance(config, TransformerConfig):
            raise ConfigError(f"config={config!r} is no TransformerConfig")
        if config.segments:
            raise ConfigError(
                f"segments={config.segments} needs an encoder without a decoder; leave segments out"
            )
        self.config = config
        self.encoder = Encoder(
            embeddings(config, config.source_vocabulary or config.vocabulary, config.pad),
            [encoder_layer(config) for _ in range(config.encoder_layers)],
            final_norm(config),
        )
        self.decoder = Decoder(
            embeddings(config, config.vocabulary, target_pad(config)),
            [decoder_layer(config) for _ in range(config.decoder_layers)],
            final_norm(config),
        )
        self.output = nn.Linear(config.d_model, config.vocabulary, bias=config.output_bias)
        self._share_embeddings()
        initialise(self)
        for name, module in self.named_modules():
            if isinstance(module, MultiHeadAttention):
                module.name = name

    def forward(self, source_BS: Tensor, target_BT: Tensor) -> Tensor:
        """Logits BTV of the token that follows each position of `target_BT` (shifted right)."""
        return self.output(self.decode(target_BT, self.encode(source_BS)))

    def encode(self, source_BS: Tensor) -> Memory:
        """Source ids BS → the memory: states BSD and the mask that hides padding."""
        return self.encoder(source_BS)

    def decode(self, target_BT: Tensor, memory: Memory) -> Tensor:
        """The decoder's states BTD for a known target; `output` turns them into logits."""
        return self.decoder(target_BT, memory)

    def start(self, memory: Memory, hypotheses: int, max_length: int) -> Cache:
        """A cache for decoding `hypotheses` per sentence, for at most `max_length` steps."""
        return self.decoder.start(memory, hypotheses, max_length)

    def step(self, ids_BN: Tensor, cache: Cache) -> Tensor:
        """Logits BNV of each hypothesis' next token, from its newest id and the cache."""
        return self.output(self.decoder.step(ids_BN, cache))

    def tied_weights(self) -> dict[str, str]:
        """Shared weights: the name of each copy → the name under which files store the weight."""
        return self.config.tied_weights()

    def _share_embeddings(self) -> None:
        # section 3.4: one matrix as source embedding, target embedding and output projection
        for name, owner in self.tied_weights().items():
            self.get_submodule(name.removesuffix(".weight")).weight = self.get_parameter(owner)


NORMS: dict[str, Callable[..., nn.Module]] = {
    "layer": nn.LayerNorm,  # Ba et al. 2016
    "rms": nn.RMSNorm,  # Zhang & Sennrich 2019
}
RESIDUALS: dict[str, type[PostNorm] | type[PreNorm]] = {
    "post-norm": PostNorm,
    "pre-norm": PreNorm,
}
ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU, "silu": nn.SiLU, "swiglu": nn.SiLU}


def norm(config: TransformerConfig) -> nn.Module:
    """A new norm over d_model, of the kind `config.norm`."""
    return NORMS[config.norm](config.d_model, eps=config.norm_epsilon)


def final_norm(config: TransformerConfig) -> nn.Module:
    """The norm after the last layer of a stack: the identity if the layers are post-norm."""
    return norm(config) if config.residual == "pre-norm" else nn.Identity()


def residual(config: TransformerConfig) -> PostNorm | PreNorm:
    """The residual connection around one sub-layer."""
    return RESIDUALS[config.residual](norm(config), config.dropout)


def attention_heads(config: TransformerConfig, positions: Rotary | None) -> MultiHeadAttention:
    """One multi-head attention; `positions` rotates its queries and keys."""
    return MultiHeadAttention(
        config.d_model,
        config.heads,
        head_width=config.head_width,
        bias=config.bias,
        dropout=config.attention_dropout,
        positions=positions,
    )


def self_attention(config: TransformerConfig) -> MultiHeadAttention:
    """One self-attention, with rotary positions if `config.positions` says so.

    Cross-attention never has rotary positions.
    """
    rotary = Rotary(config.width_of_head, config.max_positions)
    return attention_heads(config, rotary if config.positions == "rotary" else None)


def feed_forward(config: TransformerConfig) -> nn.Module:
    """The feed-forward network, with dropout after (or, on request, before) its activation."""
    parts: list[nn.Module] = [ACTIVATIONS[config.activation](), Dropout(config.activation_dropout)]
    activation = nn.Sequential(*(reversed(parts) if config.dropout_before_activation else parts))
    kind = GatedFeedForward if config.activation == "swiglu" else FeedForward
    return kind(config.d_model, config.d_ff, activation, config.bias)


def encoder_layer(config: TransformerConfig) -> EncoderLayer:
    """One layer of the encoder."""
    return EncoderLayer(self_attention(config), feed_forward(config), lambda: residual(config))


def decoder_layer(config: TransformerConfig) -> DecoderLayer | RecurrentDecoderLayer:
    """One layer of the decoder."""
    if config.decoder == "ssru":
        unit = SimpleRecurrentUnit(config.d_model, config.bias)
        return RecurrentDecoderLayer(unit, *_upper_sublayers(config))
    return DecoderLayer(self_attention(config), *_upper_sublayers(config))


def _upper_sublayers(
    config: TransformerConfig,
) -> tuple[MultiHeadAttention, nn.Module, Residual]:
    """Cross-attention, feed-forward network and residual connections of a decoder layer."""
    attention = attention_heads(config, positions=None)
    return attention, feed_forward(config), lambda: residual(config)


def positions(config: TransformerConfig) -> nn.Module | None:
    """The module that maps positions to the vectors added to embeddings; None adds nothing."""
    size = (config.max_positions, config.d_model)
    match config.positions:
        case "sinusoidal":
            return TablePositions(sinusoidal_encoding(*size))
        case "stored":
            return TablePositions(torch.zeros(size), stored=True)
        case "learned":
            return LearnedPositions(*size)
        case "rotary" | "none":
            return None


def target_pad(config: TransformerConfig) -> int:
    """The id that counts as padding in targets: `config.pad`, or -1 if targets begin with it.

    Marian's models begin targets with the padding id. That first id must stay visible, so no id
    is masked; padding after the end is hidden from earlier positions by the causal mask.
    """
    return -1 if config.start == config.pad else config.pad


def embeddings(config: TransformerConfig, vocabulary: int, pad: int) -> Embeddings:
    """The embeddings of one side, source or target, for `vocabulary` tokens."""
    return Embeddings(
        nn.Embedding(vocabulary, config.d_model),
        positions(config),
        max_positions=config.max_positions,
        pad=pad,
        scaled=config.scale_embeddings,
        segments=nn.Embedding(config.segments, config.d_model) if config.segments else None,
        norm=norm(config) if config.normalise_embeddings else None,
        dropout=config.dropout,
    )
