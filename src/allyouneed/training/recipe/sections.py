"""What a recipe may say: one frozen, strict model per section, every key with its description.

Keys that are not listed here are errors, and so are values of another type: a misspelt word is
never passed over.
"""

import dataclasses
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, model_validator

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
from allyouneed.data.corpus import Corpus, Format, MadeTask
from allyouneed.data.filters import Filters
from allyouneed.data.noise.noise import Noise
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.options import WIDEST_BEAM
from allyouneed.errors import AllYouNeedError
from allyouneed.model_folder.folder import bundled_models

Share = Annotated[float, Field(ge=0, lt=1)]
Chance = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
NaturalNumber = Annotated[int, Field(ge=0)]


def _anchor(path: Path, info: ValidationInfo) -> Path:
    """Absolute where the path leads to something from one of the context's folders."""
    path = path.expanduser()
    places = [folder / path for folder in (info.context or {}).get("folders", ())]
    return next((place for place in places if place.exists()), path)


def _anchor_model(name: str, info: ValidationInfo) -> str:
    """The same for a model folder; a bundled model's name, and what leads nowhere, stays as it is
    ("./en-de" is no bundled model)."""
    path = _anchor(Path(name), info)
    return str(path) if path.is_absolute() and name not in bundled_models() else name


File = Annotated[Path, AfterValidator(_anchor)]
Model = Annotated[str, Field(min_length=1), AfterValidator(_anchor_model)]
Models = Model | Annotated[tuple[Model, ...], Field(min_length=1)]


class Section(BaseModel):
    """A table of the recipe: frozen, no unknown keys, no silent change of type."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        protected_namespaces=(),
    )


class CorpusSection(Section):
    """One corpus: files of sentence pairs, or pairs that the project makes itself."""

    source: File | None = Field(
        default=None, description="file with the sentences to translate, or folder of such files"
    )
    target: File | None = Field(
        default=None,
        description="their translations, line by line; without it source holds both sides",
    )
    format: Format | None = Field(
        default=None, description="how the file is read; without it, by its suffix"
    )
    source_field: str = Field(
        default="source",
        description='column of the source: its name (csv, jsonl, parquet), or from "1" on (tsv)',
    )
    target_field: str = Field(default="target", description="column of the target, likewise")
    made: MadeTask | None = Field(
        default=None,
        description="make pairs of letters, the target being the source copied or reversed",
    )
    pairs: Count = Field(default=Corpus.pairs, description="how many pairs to make")
    seed: NaturalNumber = Field(default=Corpus.seed, description="what the made pairs follow from")

    @model_validator(mode="after")
    def _fits_together(self) -> "CorpusSection":
        try:
            Corpus(**self.values())
        except AllYouNeedError as error:
            raise ValueError(str(error)) from None
        return self

    def values(self) -> dict[str, Any]:
        """What the data layer's `Corpus` takes of what is said here."""
        return self.model_dump(exclude_unset=True)

    @model_validator(mode="after")
    def _nothing_goes_unread(self) -> "CorpusSection":
        unread = set() if self.made else {"pairs", "seed"}
        if self.made or self.target is not None:
            unread |= {"source_field", "target_field"}
        if said := sorted(unread & self.model_fields_set):
            kind = "a made corpus" if self.made else "these files"
            raise ValueError(f"{', '.join(said)} says nothing about {kind}; leave it out")
        return self


class TrainCorpusSection(CorpusSection):
    """A corpus to learn from, as it is, or with one side written by models."""

    weight: Positive = Field(
        default=1.0, description="how often an epoch sees each pair, on average"
    )
    distill: Models | None = Field(
        default=None,
        description="model folder (or bundled name) whose translations take the targets' place, "
        "or a list of those that decide together; a corpus that is named twice, once without, is "
        "learnt from both ways",
    )
    back_translate: Models | None = Field(
        default=None,
        description="the same for the sources' place: models that translate the targets back; no "
        "source need be named",
    )

    @model_validator(mode="after")
    def _models_write_one_side(self) -> "TrainCorpusSection":
        if self.distill is not None and self.back_translate is not None:
            raise ValueError(
                "distill and back_translate would leave nothing of the corpus as it is; name the "
                "corpus twice, each time with one of them"
            )
        return self

    @property
    def written(self) -> Literal["source", "target"]:
        """The side that `teachers` write, where there are any."""
        return "target" if self.back_translate is None else "source"

    @property
    def teachers(self) -> tuple[str, ...]:
        """The models that `distill` or `back_translate` names."""
        models = self.back_translate or self.distill or ()
        return (models,) if isinstance(models, str) else models

    def values(self) -> dict[str, Any]:
        """The same; where the sources are yet to be written, the targets stand for them."""
        values = super().values()
        values.pop("distill", None)
        if values.pop("back_translate", None) is not None and self.source is None:
            values["source"] = self.target
        return values


class FiltersSection(Section):
    """Which pairs are left out, with a word about it in the report."""

    min_tokens: Count = Field(
        default=Filters.min_tokens, description="shortest sentence kept, in tokens, its end counted"
    )
    max_tokens: Count = Field(
        default=Filters.max_tokens, description="longest sentence kept, in tokens, its end counted"
    )
    max_ratio: Annotated[float, Field(ge=1)] = Field(
        default=Filters.max_ratio, description="longer side over shorter side, in tokens"
    )
    ratio_slack: NaturalNumber = Field(
        default=Filters.ratio_slack,
        description="tokens that the longer side has free beyond the ratio",
    )
    drop_duplicates: bool = Field(
        default=Filters.drop_duplicates, description="keep only the first of exactly equal pairs"
    )
    drop_empty: bool = Field(
        default=Filters.drop_empty, description="leave out pairs with an empty side"
    )

    @model_validator(mode="after")
    def _fits_together(self) -> "FiltersSection":
        try:
            self.filters()
        except AllYouNeedError as error:
            raise ValueError(str(error)) from None
        return self

    def filters(self) -> Filters:
        """The same as a value of the data layer."""
        return Filters(**self.model_dump())


class DataSection(Section):
    """The corpora. A relative path is looked for beside the recipe, in the working directory,
    and in the data folder ($ALLYOUNEED_DATA)."""

    train: tuple[TrainCorpusSection, ...] = Field(min_length=1, description="pairs to learn from")
    valid: tuple[CorpusSection, ...] = Field(min_length=1, description="pairs to validate on")
    temperature: Annotated[float, Field(ge=1)] = Field(
        default=1.0,
        description="above 1, small corpora are seen more often and large ones less: a corpus of n "
        "pairs is drawn like n^(1/temperature)",
    )
    filters: FiltersSection = Field(
        default=FiltersSection(), description="what is left out of training"
    )
    normaliser: Literal["plain-marks"] | None = Field(
        default=None,
        description="how both sides are written for the model, in training and ever after: "
        "plain-marks has the quotes, dashes and spaces of a plain keyboard; without it as init "
        "has it, or as the texts are",
    )


class NoiseSection(Section):
    """Pairs as people type them: the share of pairs, from 0 to 1, that get each kind of noise. It
    is drawn once, when the pairs are tokenised."""

    copies: Count = Field(
        default=Noise.copies,
        description="how often an epoch has each pair, each time with noise of its own",
    )
    capitals: Chance = Field(default=0.0, description="both sides in capitals")
    title_case: Chance = Field(
        default=0.0, description="the source with a capital at the beginning of each word"
    )
    small_letters: Chance = Field(default=0.0, description="the source in small letters")
    no_end_mark: Chance = Field(
        default=0.0, description="both sides without their full stop, question or exclamation mark"
    )
    typing_errors: Chance = Field(default=0.0, description="the source with typing errors")
    no_accents: Chance = Field(
        default=0.0, description="the source without umlauts and accents: ae, or a"
    )
    doubled_spaces: Chance = Field(
        default=0.0, description="the source with some spaces twice; data.normaliser undoes it"
    )
    emoji: Chance = Field(default=0.0, description="both sides with the same emoji at the end")
    copied: Chance = Field(
        default=0.0,
        description="another name or number on both sides, or an address, a placeholder or code "
        "put into both",
    )
    joined: Chance = Field(default=0.0, description="two pairs in one line")
    foreign: Chance = Field(
        default=0.0, description="both sides with words of the target language in quotes"
    )

    @model_validator(mode="after")
    def _fits_together(self) -> "NoiseSection":
        try:
            self.noise(0)
        except AllYouNeedError as error:
            raise ValueError(str(error)) from None
        return self

    def noise(self, seed: int) -> Noise | None:
        """The same as a value of the data layer; None where no pair becomes another."""
        noise = Noise(seed=seed, **self.model_dump())
        return None if noise == Noise(seed=seed) else noise


class VocabularySection(Section):
    """The joint subword vocabulary of both languages (section 5.1)."""

    size: Annotated[int, Field(ge=260)] = Field(
        default=8000, description="entries, the 256 bytes and 4 marks included"
    )
    dropout: Share = Field(
        default=0.0, description="probability of undoing a merge in training (BPE dropout)"
    )
    tokenizer: File | None = Field(
        default=None,
        description="a tokenizer.json to use instead of training one; size is then its own",
    )


class ModelSection(Section):
    """The Transformer: a preset, and any field of TransformerConfig that differs from it."""

    preset: Literal["base", "big", "small", "tiny", "bert"] | None = Field(
        default=None,
        description="shape to start from; without it base, or with init that model's own",
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
        description="layer norm after the addition (the paper) or before the sub-layer",
    )
    norm: Norm | None = Field(default=None, description="layer norm or RMS norm")
    norm_epsilon: Positive | None = Field(default=None, description="added to the variance")
    activation: Activation | None = Field(
        default=None, description="activation of the feed-forward networks; swiglu is gated"
    )
    positions: Positions | None = Field(
        default=None, description="how a token knows its place (section 3.5)"
    )
    decoder: Decoder | None = Field(
        default=None,
        description="how a decoder layer sees the past: self-attention, or ssru, a recurrence "
        "in its place (Kim et al. 2019)",
    )
    scale_embeddings: bool | None = Field(
        default=None, description="embeddings times the root of d_model (section 3.4)"
    )
    normalise_embeddings: bool | None = Field(
        default=None, description="layer norm on the sum of embedding and position, as BERT does"
    )
    segments: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="kinds of segments that embeddings tell apart: 2 in BERT"
    )
    shared_embeddings: SharedEmbeddings | None = Field(
        default=None, description="which of the three embedding matrices are one (section 3.4)"
    )
    bias: bool | None = Field(default=None, description="biases in the linear layers")
    output_bias: bool | None = Field(default=None, description="a bias in the output projection")

    def config(
        self, vocabulary: int, start_from: TransformerConfig | None = None
    ) -> TransformerConfig:
        """The configuration for so many vocabulary entries, or `start_from` with changed keys.

        Raises ConfigError, with the field and a remedy, where the parts do not fit.
        """
        base = start_from or dataclasses.replace(
            PRESETS[self.preset or "base"], vocabulary=vocabulary
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

    @property
    def heads(self) -> AlignmentHeads:
        """The head, as a model folder names it."""
        return AlignmentHeads(self.layer, (self.head,))

    def check(self, config: TransformerConfig) -> None:
        """Raises UsageError for a layer or head that a decoder of this shape does not have."""
        self.heads.check(config.decoder_layers, config.heads)


class OptimizerSection(Section):
    """Adam with the paper's values (section 5.3)."""

    name: Literal["adam", "adamw"] = Field(default="adam", description="adamw decays weights apart")
    betas: tuple[Share, Share] = Field(default=(0.9, 0.98), description="decay of both moments")
    epsilon: Positive = Field(default=1e-9, description="added to the root of the second moment")
    weight_decay: Annotated[float, Field(ge=0)] = Field(
        default=0.0, description="pull towards zero"
    )
    clip_norm: Annotated[float, Field(ge=0)] = Field(
        default=0.0, description="largest norm of all gradients together; 0 leaves them alone"
    )


class TrainingSection(Section):
    """How long, how much at once, and what is kept."""

    init: Model | None = Field(
        default=None,
        description="model folder (or bundled name) whose weights training starts from",
    )
    epochs: Count | None = Field(
        default=None, description="stop after so many passes over the data"
    )
    steps: Count | None = Field(default=None, description="stop after so many updates")
    max_minutes: Positive | None = Field(default=None, description="stop after so many minutes")
    patience: Count | None = Field(
        default=None, description="stop after so many validations without a better one"
    )
    batch_tokens: Count = Field(
        default=4096, description="most tokens on a side of a batch, padding counted"
    )
    accumulate: Count = Field(default=1, description="batches whose gradients make one update")
    label_smoothing: Share = Field(default=0.1, description="epsilon_ls of section 5.4")
    r_drop: Annotated[float, Field(ge=0)] = Field(
        default=0.0,
        description="alpha of R-Drop: every batch goes through twice, and the two have to agree",
    )
    word_dropout: Share = Field(
        default=0.0, description="probability of hiding an input token of either side as a whole"
    )
    average_decay: Share = Field(
        default=0.0,
        description="moving average of the weights, validated in their place; usually 0.999",
    )
    precision: Literal["float32", "bf16"] = Field(default="float32", description="bf16: autocast")
    sharded: bool = Field(
        default=False,
        description="each worker holds a part of weights and moments (FSDP2) instead of all (DDP)",
    )
    max_skipped: NaturalNumber = Field(
        default=5,
        description="updates in a row left out for a loss that is not finite; one more ends it",
    )
    stored_precision: Literal["float32", "bfloat16", "float16", "int8"] = Field(
        default="float32",
        description="of the weights in the final model folder; int8 with one scale per row",
    )
    average_last: NaturalNumber = Field(
        default=5, description="checkpoints averaged into the final model (section 6.1); 0 for none"
    )
    keep_last: Count | None = Field(
        default=None, description="checkpoints kept; without it as many as are averaged, at least 2"
    )
    checkpoint_every_steps: Count | None = Field(
        default=None, description="without this and the next key: at the end of every epoch"
    )
    checkpoint_every_minutes: Positive | None = Field(
        default=None, description="write a checkpoint when so many minutes have gone by"
    )
    validate_every_steps: Count | None = Field(
        default=None, description="without it: at the end of every epoch"
    )
    log_every: Count = Field(default=50, description="steps between two lines of the log")

    @model_validator(mode="after")
    def _ends_and_keeps(self) -> "TrainingSection":
        if self.epochs is None and self.steps is None and self.max_minutes is None:
            raise ValueError("has no end; give epochs, steps or max_minutes")
        if self.keep_last is not None and self.keep_last < self.average_last:
            raise ValueError(
                f"keep_last = {self.keep_last} keeps fewer checkpoints than "
                f"average_last = {self.average_last} needs; leave keep_last out"
            )
        return self

    @property
    def checkpoints_kept(self) -> int:
        """How many checkpoints stay on disk."""
        return self.keep_last or max(self.average_last, 2)


class SamplesSection(Section):
    """What is shown of a validation; it measures on all of valid."""

    samples: NaturalNumber = Field(default=5, description="texts of valid shown in the report")


class ValidationSection(SamplesSection):
    """What a validation translates; its loss is always over all of valid."""

    sentences: NaturalNumber = Field(
        default=200, description="sentences translated for BLEU; 0 for the loss alone"
    )
    beam: Annotated[int, Field(ge=1, le=WIDEST_BEAM)] = Field(
        default=4, description="hypotheses kept per sentence"
    )
