"""The schemas of a recipe's sections: a frozen, strict model for each, with a description per key.

Unknown keys and values of a wrong type are errors, so a misspelt key is never ignored.
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
from allyouneed.data.corpus import Corpus, Format, MadeTask, format_of
from allyouneed.data.filters import Filters
from allyouneed.data.noise.noise import Noise
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.options import WIDEST_BEAM
from allyouneed.errors import AllYouNeedError
from allyouneed.model_folder.folder import bundled_models

Language = Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]+)*$")]
Share = Annotated[float, Field(ge=0, lt=1)]
Chance = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
NaturalNumber = Annotated[int, Field(ge=0)]


def _anchor(path: Path, info: ValidationInfo) -> Path:
    """The path, made absolute if it exists relative to one of the context's folders."""
    path = path.expanduser()
    places = [folder / path for folder in (info.context or {}).get("folders", ())]
    return next((place for place in places if place.exists()), path)


def _anchor_model(name: str, info: ValidationInfo) -> str:
    """A model folder's path, made absolute like other paths. The name of a bundled model, and a
    path that does not exist, are not changed ("./en-de" is not the name of a bundled model)."""
    path = _anchor(Path(name), info)
    return str(path) if path.is_absolute() and name not in bundled_models() else name


File = Annotated[Path, AfterValidator(_anchor)]
Model = Annotated[str, Field(min_length=1), AfterValidator(_anchor_model)]
Models = Model | Annotated[tuple[Model, ...], Field(min_length=1)]


class Section(BaseModel):
    """A table of the recipe: frozen, without unknown keys, and without conversions of types."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        protected_namespaces=(),
    )


LANGUAGES = {"source_language", "target_language", "both_directions"}  # keys of a corpus


class CorpusSection(Section):
    """One corpus: files of sentence pairs, or pairs made from a seed."""

    source: File | None = Field(
        default=None, description="file with the sentences to translate, or folder of such files"
    )
    target: File | None = Field(
        default=None,
        description="their translations, line by line; without it source holds both sides",
    )
    format: Format | None = Field(
        default=None, description="format of the file; by default its suffix decides"
    )
    source_field: str = Field(
        default="source",
        description='column of the source: its name (csv, jsonl, parquet) or number from "1" (tsv)',
    )
    target_field: str = Field(default="target", description="column of the target, likewise")
    made: MadeTask | None = Field(
        default=None,
        description="make pairs of letters; the target is the source, copied or reversed",
    )
    source_language: Language | None = Field(
        default=None,
        description="the source's language, as a code such as de; with it, a model of several "
        "languages is trained, and each corpus needs both",
    )
    target_language: Language | None = Field(
        default=None, description="the target's language, likewise"
    )
    both_directions: bool = Field(
        default=False, description="use each pair the other way round, too"
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
        """The arguments of the data layer's `Corpus` that these keys give."""
        return self.model_dump(exclude_unset=True, exclude=LANGUAGES)

    @property
    def languages(self) -> tuple[str, str] | None:
        """The codes of source and target, where the corpus names them."""
        if self.source_language is None or self.target_language is None:
            return None
        return self.source_language, self.target_language

    @property
    def directions(self) -> list[tuple[str, str]]:
        """The directions that the pairs are used in; none where no languages are named."""
        if self.languages is None:
            return []
        return [self.languages, *([self.languages[::-1]] if self.both_directions else [])]

    @model_validator(mode="after")
    def _names_both_languages(self) -> "CorpusSection":
        if (self.source_language is None) != (self.target_language is None):
            raise ValueError("names one language; give source_language and target_language")
        if self.languages is None and self.both_directions:
            raise ValueError(
                "both_directions needs source_language and target_language, so that the model can "
                "be told which direction is meant"
            )
        if self.languages and self.source_language == self.target_language:
            raise ValueError(f"both languages are {self.source_language!r}; they have to differ")
        return self

    @model_validator(mode="after")
    def _nothing_goes_unread(self) -> "CorpusSection":
        unread = set() if self.made else {"pairs", "seed"}
        if self.made or self.target is not None:
            unread |= {"source_field", "target_field"}
        if said := sorted(unread & self.model_fields_set):
            kind = "a made corpus" if self.made else "these files"
            raise ValueError(f"{', '.join(said)} does not apply to {kind}; leave it out")
        return self


class TrainCorpusSection(CorpusSection):
    """A corpus to learn from, unchanged or with one side written by models."""

    weight: Positive = Field(
        default=1.0, description="how often an epoch sees each pair, on average"
    )
    distill: Models | None = Field(
        default=None,
        description="model folder (or bundled name) whose translations replace the targets, or a "
        "list of models that translate as an ensemble; to use the original targets too, name the "
        "corpus a second time without this key",
    )
    back_translate: Models | None = Field(
        default=None,
        description="model folder, or a list, whose translations of the targets replace the "
        "sources; source may then be left out",
    )

    @model_validator(mode="after")
    def _models_write_one_side(self) -> "TrainCorpusSection":
        if self.teachers and self.both_directions:
            raise ValueError(
                "both_directions has no place where models write one side; name the corpus twice, "
                "once for each direction"
            )
        if self.distill is not None and self.back_translate is not None:
            raise ValueError(
                "distill and back_translate together would replace both sides; name the corpus "
                "twice, each time with one of them"
            )
        return self

    @property
    def _is_one_text(self) -> bool:
        """Whether the corpus is a file of lines without a target. A name without a suffix may be
        that of a folder, whose files may hold pairs."""
        if self.source is None or self.target is not None or not self.source.suffix:
            return False
        return (self.format or format_of(self.source)) == "text"

    @property
    def written(self) -> Literal["source", "target"]:
        """The side that `teachers` write, if there are any."""
        return "target" if self.back_translate is None else "source"

    @property
    def teachers(self) -> tuple[str, ...]:
        """The models that `distill` or `back_translate` names."""
        models = self.back_translate or self.distill or ()
        return (models,) if isinstance(models, str) else models

    def values(self) -> dict[str, Any]:
        """The values for `Corpus`. If one side is still to be written, the other side replaces
        it."""
        values = super().values()
        if values.pop("distill", None) is not None and self._is_one_text:
            values["target"] = self.source
        if values.pop("back_translate", None) is not None and self.source is None:
            values["source"] = self.target
        return values


class FiltersSection(Section):
    """The pairs that are left out. The report counts them."""

    min_tokens: Count = Field(
        default=Filters.min_tokens, description="shortest sentence kept, in tokens with its end"
    )
    max_tokens: Count = Field(
        default=Filters.max_tokens, description="longest sentence kept, in tokens with its end"
    )
    max_ratio: Annotated[float, Field(ge=1)] = Field(
        default=Filters.max_ratio, description="largest ratio of longer to shorter side, in tokens"
    )
    ratio_slack: NaturalNumber = Field(
        default=Filters.ratio_slack,
        description="tokens by which the longer side may exceed the ratio",
    )
    drop_duplicates: bool = Field(
        default=Filters.drop_duplicates, description="keep only the first of exactly equal pairs"
    )
    drop_empty: bool = Field(
        default=Filters.drop_empty, description="leave out pairs with an empty side"
    )
    drop_other_scripts: bool = Field(
        default=Filters.drop_other_scripts,
        description="leave out pairs with a side whose letters are not those of its language, such "
        "as Cyrillic letters in English; without it, the report counts them",
    )

    @model_validator(mode="after")
    def _fits_together(self) -> "FiltersSection":
        try:
            self.filters()
        except AllYouNeedError as error:
            raise ValueError(str(error)) from None
        return self

    def filters(self) -> Filters:
        """The filters as a value of the data layer."""
        return Filters(**self.model_dump())


class DataSection(Section):
    """The corpora. A relative path is looked for beside the recipe, in the working directory,
    and in the data folder ($ALLYOUNEED_DATA)."""

    train: tuple[TrainCorpusSection, ...] = Field(min_length=1, description="pairs to learn from")
    valid: tuple[CorpusSection, ...] = Field(min_length=1, description="pairs to validate on")
    temperature: Annotated[float, Field(ge=1)] = Field(
        default=1.0,
        description="above 1, small corpora are seen more often and large ones less often: a "
        "corpus of n pairs is drawn in proportion to n^(1/temperature)",
    )
    filters: FiltersSection = Field(
        default=FiltersSection(), description="the pairs that are left out of training"
    )
    normaliser: Literal["plain-marks"] | None = Field(
        default=None,
        description="how texts are normalised for the model, in training and in use: plain-marks "
        "writes the quotes, dashes and spaces of a plain keyboard; by default the normaliser of "
        "init, or none",
    )


class NoiseSection(Section):
    """Noise like that of typed text: the share of pairs, from 0 to 1, that get each kind. Noise is
    drawn once, when the pairs are tokenised."""

    copies: Count = Field(
        default=Noise.copies,
        description="copies of each pair in an epoch, each with its own noise",
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
        default=0.0, description="the source with some doubled spaces; data.normaliser undoes it"
    )
    emoji: Chance = Field(default=0.0, description="both sides with the same emoji at the end")
    copied: Chance = Field(
        default=0.0,
        description="a name or number exchanged on both sides, or an address, a placeholder "
        "or code added to both",
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
        """The noise as a value of the data layer; None if no pair is changed."""
        noise = Noise(seed=seed, **self.model_dump())
        return None if noise == Noise(seed=seed) else noise


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
        """The configuration for a vocabulary of this size, or `start_from` with the given keys
        changed.

        Raises:
            ConfigError: the values do not fit each other; the message names the field and a remedy.
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
