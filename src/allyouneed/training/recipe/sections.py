"""The schemas of a recipe's sections about the model and its training: a frozen, strict model for
each, with a description per key. `data_sections` has the sections about data.

Unknown keys and values of a wrong type are errors, so a misspelt key is never ignored.
"""

import dataclasses
from typing import Annotated, Literal

from pydantic import Field, model_validator

from allyouneed.core.config import (
    PRESETS,
    Activation,
    Decoder,
    Norm,
    Positions,
    Residual,
    SharedEmbeddings,
    TransformerConfig,
)
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.options import WIDEST_BEAM
from allyouneed.training.recipe.values import (
    Count,
    File,
    Model,
    NaturalNumber,
    Positive,
    Section,
    Share,
)


class VocabularySection(Section):
    """The joint subword vocabulary of both languages (section 5.1)."""

    size: Annotated[int, Field(ge=260)] = Field(
        default=8000, description="entries, including the 256 bytes and 4 special pieces"
    )
    dropout: Share = Field(
        default=0.0, description="probability of undoing a merge in training (BPE dropout)"
    )
    tokenizer: File | None = Field(
        default=None,
        description="a tokenizer.json to use instead of learning one; it sets the size too",
    )
    renew: bool = Field(
        default=False,
        description="with training.init: use a vocabulary of this run's text, not the one of init",
    )
    selection: Count | None = Field(
        default=None,
        description="learn vocabulary selection from the training pairs: at most so many target "
        "pieces for each source piece, such as 100; without this key none is learnt",
    )


class ModelSection(Section):
    """The Transformer: a preset, and any field of TransformerConfig that differs from it."""

    preset: Literal["base", "big", "small", "tiny", "bert"] | None = Field(
        default=None,
        description="shape to start from; by default base, or the shape of init",
    )
    d_model: Count | None = Field(default=None, description="width of every layer's output")
    heads: Count | None = Field(default=None, description="attention heads per layer")
    head_width: Count | None = Field(default=None, description="width of a head; d_model / heads")
    d_ff: Count | None = Field(default=None, description="inner width of the feed-forward networks")
    encoder_layers: Count | None = Field(default=None, description="layers of the encoder")
    decoder_layers: Count | None = Field(default=None, description="layers of the decoder")
    dropout: Share | None = Field(default=None, description="P_drop of section 5.4")
    attention_dropout: Share | None = Field(
        default=None, description="dropout of attention weights"
    )
    activation_dropout: Share | None = Field(
        default=None, description="dropout inside feed-forward"
    )
    dropout_before_activation: bool | None = Field(
        default=None, description="activation dropout before the activation instead of after it"
    )
    max_positions: Count | None = Field(default=None, description="longest sentence, in tokens")
    residual: Residual | None = Field(
        default=None,
        description="position of the norm: after the addition (the paper) or before the sub-layer",
    )
    norm: Norm | None = Field(default=None, description="layer norm or RMS norm")
    norm_epsilon: Positive | None = Field(default=None, description="added to the variance")
    activation: Activation | None = Field(
        default=None, description="activation of the feed-forward networks; swiglu is gated"
    )
    positions: Positions | None = Field(default=None, description="kind of positions (section 3.5)")
    decoder: Decoder | None = Field(
        default=None,
        description="how a decoder layer sees earlier tokens: self-attention, or ssru, a "
        "recurrence (Kim et al. 2019)",
    )
    scale_embeddings: bool | None = Field(
        default=None, description="multiply embeddings by the root of d_model (section 3.4)"
    )
    normalise_embeddings: bool | None = Field(
        default=None, description="layer norm on the sum of embedding and position, as BERT does"
    )
    segments: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="kinds of segments that embeddings tell apart: 2 in BERT"
    )
    shared_embeddings: SharedEmbeddings | None = Field(
        default=None, description="which of the three embedding matrices are shared (section 3.4)"
    )
    bias: bool | None = Field(default=None, description="biases in the linear layers")
    output_bias: bool | None = Field(default=None, description="a bias in the output projection")

    def config(
        self, vocabulary: int, start_from: TransformerConfig | None = None
    ) -> TransformerConfig:
        """The configuration of the preset, or `start_from`, with a vocabulary of this size and the
        given keys changed.

        Raises:
            ConfigError: the values do not fit each other; the message names the field and a remedy.
        """
        base = dataclasses.replace(
            start_from or PRESETS[self.preset or "base"], vocabulary=vocabulary
        )
        return dataclasses.replace(base, **self.model_dump(exclude={"preset"}, exclude_none=True))


class GuidedAlignmentSection(Section):
    """One head of the decoder's cross-attention learns word alignments, which an aligner makes of
    the training pairs; translations name it for markup, terms and `--alignments`."""

    layer: int = Field(
        default=-1, description="the decoder layer: from 0, or with negative numbers from the last"
    )
    head: NaturalNumber = Field(default=0, description="the head of that layer")
    weight: Positive = Field(
        default=0.05, description="what its cross-entropy counts beside the loss of a token"
    )
    pairs: Count | None = Field(
        default=None,
        description="training pairs of each direction that are aligned and that the head learns "
        "from; by default all",
    )

    @property
    def heads(self) -> AlignmentHeads:
        """The head, as a model folder names it."""
        return AlignmentHeads(self.layer, (self.head,))

    def check(self, config: TransformerConfig) -> None:
        """Raises UsageError for a layer or head that a decoder of this shape does not have."""
        self.heads.check(config.decoder_layers, config.heads)


class OptimizerSection(Section):
    """Adam with the paper's values (section 5.3)."""

    name: Literal["adam", "adamw"] = Field(
        default="adam", description="adamw has decoupled weight decay"
    )
    betas: tuple[Share, Share] = Field(default=(0.9, 0.98), description="decay of both moments")
    epsilon: Positive = Field(default=1e-9, description="added to the root of the second moment")
    weight_decay: Annotated[float, Field(ge=0)] = Field(
        default=0.0, description="pull towards zero"
    )
    clip_norm: Annotated[float, Field(ge=0)] = Field(
        default=0.0, description="largest norm of the whole gradient; 0 does not clip"
    )


class TrainingSection(Section):
    """The length of training, the size of an update, and the files that are kept."""

    init: Model | None = Field(
        default=None,
        description="model folder (or bundled name) whose weights training starts from",
    )
    epochs: Count | None = Field(
        default=None, description="stop after this many passes over the data"
    )
    steps: Count | None = Field(default=None, description="stop after this many updates")
    max_minutes: Positive | None = Field(default=None, description="stop after this many minutes")
    patience: Count | None = Field(
        default=None, description="stop after this many validations without an improvement"
    )
    batch_tokens: Count = Field(
        default=4096, description="most tokens on a side of a batch, including padding"
    )
    accumulate: Count = Field(default=1, description="batches whose gradients make one update")
    label_smoothing: Share = Field(default=0.1, description="epsilon_ls of section 5.4")
    r_drop: Annotated[float, Field(ge=0)] = Field(
        default=0.0,
        description="alpha of R-Drop: each batch passes twice with different dropout, and "
        "disagreement is penalised",
    )
    word_dropout: Share = Field(
        default=0.0, description="probability of hiding an input token of either side"
    )
    average_decay: Share = Field(
        default=0.0,
        description="decay of a moving average of the weights, which validation and the final "
        "model use; usually 0.999",
    )
    precision: Literal["float32", "bf16"] = Field(default="float32", description="bf16: autocast")
    sharded: bool = Field(
        default=False,
        description="each worker holds a part of weights and moments (FSDP2) instead of all (DDP)",
    )
    max_skipped: NaturalNumber = Field(
        default=5,
        description="updates in a row that may be skipped for a loss that is not finite; one more "
        "ends the run",
    )
    stored_precision: Literal["float32", "bfloat16", "float16", "int8"] = Field(
        default="float32",
        description="format of the weights in the final model folder; int8 has a scale per row",
    )
    average_last: NaturalNumber = Field(
        default=5, description="checkpoints averaged into the final model (section 6.1); 0 for none"
    )
    keep_last: Count | None = Field(
        default=None, description="checkpoints kept; by default as many as are averaged, at least 2"
    )
    checkpoint_every_steps: Count | None = Field(
        default=None, description="without this key and the next: at the end of every epoch"
    )
    checkpoint_every_minutes: Positive | None = Field(
        default=None, description="write a checkpoint after this many minutes"
    )
    validate_every_steps: Count | None = Field(
        default=None, description="by default at the end of every epoch"
    )
    log_every: Count = Field(default=50, description="steps between two lines of the log")

    @model_validator(mode="after")
    def _ends_and_keeps(self) -> "TrainingSection":
        if self.epochs is None and self.steps is None and self.max_minutes is None:
            raise ValueError("the run has no end; give epochs, steps or max_minutes")
        if self.keep_last is not None and self.keep_last < self.average_last:
            raise ValueError(
                f"keep_last = {self.keep_last} keeps fewer checkpoints than "
                f"average_last = {self.average_last} needs; leave keep_last out"
            )
        return self

    @property
    def checkpoints_kept(self) -> int:
        """The number of checkpoints that are kept on the disk."""
        return self.keep_last or max(self.average_last, 2)


class SamplesSection(Section):
    """The texts that are shown of a validation, which measures on all of valid."""

    samples: NaturalNumber = Field(default=5, description="texts of valid shown in the report")


class ValidationSection(SamplesSection):
    """The sentences that a validation translates. Its loss is always over all of valid."""

    sentences: NaturalNumber = Field(
        default=200, description="sentences translated for BLEU; 0 for the loss alone"
    )
    beam: Annotated[int, Field(ge=1, le=WIDEST_BEAM)] = Field(
        default=4, description="hypotheses kept per sentence"
    )
    length_penalty: Annotated[float, Field(ge=0, le=100)] | None = Field(
        default=None,
        description="alpha of Wu et al. 2016, here and in the model folder, from which translators "
        "take it; without it that of training.init, else 0.6",
    )
