"""The configuration of a Transformer: an immutable value, checked when it is made."""

import math
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any, Literal, get_args

from allyouneed.errors import ConfigError

Residual = Literal["post-norm", "pre-norm"]
Norm = Literal["layer", "rms"]
Activation = Literal["relu", "gelu", "silu", "swiglu"]
Positions = Literal["sinusoidal", "stored", "learned", "rotary", "none"]
Decoder = Literal["self-attention", "ssru"]
SharedEmbeddings = Literal["all", "output", "none"]
# The values that a field with this annotation may have, NumPy's numbers among them.
NUMBERS: dict[Any, Any] = {int: Integral, int | None: Integral | None, float: Real}


def width_of_head(d_model: int, heads: int) -> int:
    """d_k = d_v = d_model / h, the width K of one head (section 3.2.2).

    Raises:
        ConfigError: `heads` does not divide `d_model`. The message names the nearest d_model that
            `heads` divides.
    """
    if d_model % heads:
        below = d_model // heads * heads
        widths = " or ".join(str(width) for width in (below, below + heads) if width)
        raise ConfigError(
            f"heads={heads} does not divide d_model={d_model}; "
            f"choose d_model={widths}, or set head_width"
        )
    return d_model // heads


@dataclass(frozen=True, kw_only=True, slots=True)
class TransformerConfig:
    """Hyper-parameters with the names of the paper's table 3. The defaults are its base model.

    `vocabulary` is the size of the vocabulary that source and target share. `source_vocabulary`
    is the size of a separate source vocabulary; then `shared_embeddings` cannot be "all".
    `shared_embeddings` (section 3.4): "all" uses one matrix as source embedding, target embedding
    and output projection; "output" shares the target embedding with the output projection;
    "none" shares nothing.
    `pad`, `start` and `end` are ids. The decoder's input begins with `start`. In a model without a
    decoder the input begins with `start` (BERT's [CLS]) and each segment ends in `end` ([SEP]).

    Raises:
        ConfigError: no model can be built with a value. The message says which values would do.
    """

    vocabulary: int = 37_000
    source_vocabulary: int | None = None
    d_model: int = 512
    heads: int = 8
    head_width: int | None = None  # None: d_model / heads, as in section 3.2.2
    d_ff: int = 2048
    encoder_layers: int = 6
    decoder_layers: int = 6
    dropout: float = 0.1  # on sub-layer outputs and embeddings, section 5.4
    attention_dropout: float = 0.0  # on attention weights
    activation_dropout: float = 0.0  # inside the feed-forward network
    dropout_before_activation: bool = False
    max_positions: int = 1024
    residual: Residual = "post-norm"
    norm: Norm = "layer"
    norm_epsilon: float = 1e-5
    activation: Activation = "relu"
    positions: Positions = "sinusoidal"
    decoder: Decoder = "self-attention"  # "ssru": a recurrence in its place (Kim et al. 2019)
    scale_embeddings: bool = True  # multiply embeddings by sqrt(d_model), section 3.4
    normalise_embeddings: bool = False  # layer norm on the embeddings, as in BERT
    segments: int = 0  # number of segment embeddings; BERT has 2
    shared_embeddings: SharedEmbeddings = "all"
    bias: bool = True  # of the projections; layer norms always have a bias
    output_bias: bool = False
    pad: int = 0
    start: int = 1
    end: int = 2

    def __post_init__(self) -> None:
        self._check_types()
        self._check_choices()
        self._check_sizes()
        self._check_rates()
        self._check_ids()

    @property
    def width_of_head(self) -> int:
        """d_k = d_v, the width K of one head (section 3.2.2)."""
        if self.head_width is not None:
            return self.head_width
        return width_of_head(self.d_model, self.heads)

    def tied_weights(self) -> dict[str, str]:
        """Shared weights: the name of each copy → the name under which files store the weight."""
        source, target = "encoder.embeddings.tokens.weight", "decoder.embeddings.tokens.weight"
        return {
            "all": {target: source, "output.weight": source},
            "output": {"output.weight": target},
            "none": {},
        }[self.shared_embeddings]

    def _check_types(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, NUMBERS.get(field.type, object)):
                what = "a number" if field.type is float else "a whole number"
                raise ConfigError(f"{field.name}={value!r} must be {what}")

    def _check_sizes(self) -> None:
        for name in ("vocabulary", "d_model", "heads", "d_ff", "max_positions"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 1")
        for name in ("head_width", "source_vocabulary"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ConfigError(
                    f"{name}={getattr(self, name)} must be at least 1; or leave {name} out"
                )
        for name in ("encoder_layers", "decoder_layers", "segments"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name}={getattr(self, name)} must not be negative")
        must_be_even = {
            "sinusoidal": ("d_model", self.d_model),
            "rotary": ("head width", self.width_of_head),
        }
        name, width = must_be_even.get(self.positions, ("", 0))
        if width % 2:
            raise ConfigError(
                f"{self.positions} positions pair sines with cosines and need an even "
                f"{name}, not {width}; try {width + 1}"
            )

    def _check_choices(self) -> None:
        choices = {
            "residual": Residual,
            "norm": Norm,
            "activation": Activation,
            "positions": Positions,
            "decoder": Decoder,
            "shared_embeddings": SharedEmbeddings,
        }
        for name, kind in choices.items():
            if getattr(self, name) not in get_args(kind):
                known = ", ".join(map(repr, get_args(kind)))
                raise ConfigError(f"{name}={getattr(self, name)!r} is not one of {known}")
        if self.source_vocabulary is not None and self.shared_embeddings == "all":
            raise ConfigError(
                f"source_vocabulary={self.source_vocabulary} needs separate source embeddings; "
                'set shared_embeddings="output" or leave source_vocabulary out'
            )

    def _check_rates(self) -> None:
        for name in ("dropout", "attention_dropout", "activation_dropout"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise ConfigError(f"{name}={getattr(self, name)} must lie in [0, 1)")
        if not 0 < self.norm_epsilon < math.inf:
            raise ConfigError(f"norm_epsilon={self.norm_epsilon} must be positive, such as 1e-5")

    def _check_ids(self) -> None:
        smaller = min(self.vocabulary, self.source_vocabulary or self.vocabulary)
        # Only targets begin with `start`, so `start` needs no place in the source vocabulary.
        sizes = {"pad": smaller, "start": self.vocabulary, "end": smaller}
        for name, size in sizes.items():
            if not 0 <= getattr(self, name) < size:
                raise ConfigError(
                    f"{name}={getattr(self, name)} is not an id of a vocabulary of {size}; "
                    f"choose 0 … {size - 1}"
                )
        if self.pad == self.end:
            raise ConfigError(
                f"pad={self.pad} and end={self.end} are the same id, so the end of a sentence "
                "would count as padding; choose two different ids"
            )


BASE = TransformerConfig()  # table 3, row "base"
BIG = replace(BASE, d_model=1024, heads=16, d_ff=4096, dropout=0.3)  # table 3, row "big"
SMALL = replace(BASE, d_model=256, heads=4, d_ff=1024, encoder_layers=4, decoder_layers=2)
TINY = replace(
    SMALL, d_model=128, d_ff=256, decoder_layers=4, dropout=0.3
)  # fairseq's "Transformer-Tiny" for Multi30k
BERT = replace(
    BASE,
    vocabulary=30_522,
    d_model=768,
    heads=12,
    d_ff=3072,
    encoder_layers=12,
    decoder_layers=0,
    attention_dropout=0.1,
    max_positions=512,
    norm_epsilon=1e-12,
    activation="gelu",
    positions="learned",
    scale_embeddings=False,
    normalise_embeddings=True,
    segments=2,
)  # BERT-base (Devlin et al. 2019), an encoder without a decoder

PRESETS = {"base": BASE, "big": BIG, "small": SMALL, "tiny": TINY, "bert": BERT}
