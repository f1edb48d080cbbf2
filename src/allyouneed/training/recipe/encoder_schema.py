"""The schema of recipes for models without a decoder (Devlin et al. 2019)."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from allyouneed.data.tagged import TagFormat
from allyouneed.training.recipe.schema import CommonRecipe
from allyouneed.training.recipe.values import File, Positive, Section, Share

HELD_OUT = 0.05
WEIGHT = "mean number of times that an epoch sees each of its examples"


class TextSection(Section):
    """Running text."""

    source: File = Field(description="a text file, or a folder of such files")


class TrainTextSection(TextSection):
    """Running text to learn from."""

    weight: Positive = Field(default=1.0, description=WEIGHT)


class TextDataSection(Section):
    """Texts; relative paths as in all recipes."""

    train: tuple[TrainTextSection, ...] = Field(min_length=1, description="texts to learn from")
    valid: tuple[TextSection, ...] = Field(
        default=(), description="texts to validate on; if there are none, held_out is used"
    )
    held_out: Share | None = Field(
        default=None,
        description="without valid: the share of each training file's lines, at its end, to "
        f"validate on; {HELD_OUT:g} by default",
    )

    @model_validator(mode="after")
    def _something_is_held_out(self) -> Self:
        if not self.valid and self.held_out == 0:
            raise ValueError("there is no validation text; name one in valid, or set held_out")
        if self.valid and self.held_out is not None:
            raise ValueError("valid names texts, so held_out is not used; leave it out")
        return self


class MaskingSection(Section):
    """The words that are hidden (Devlin et al. 2019, 3.1): of the chosen words, 80 % become [MASK],
    10 % a random piece, and 10 % are not changed."""

    length: Annotated[int, Field(ge=8)] = Field(
        default=128, description="most tokens of an example, including [CLS] and [SEP]"
    )
    share: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.15, description="share of the tokens that are chosen"
    )
    whole_words: bool = Field(default=False, description="choose all pieces of a word or none")
    next_sentence: bool = Field(
        default=False,
        description="examples have two segments; half of the time the second comes from another "
        "place, and the model learns to tell",
    )


class LabelledSection(Section):
    """Texts with labels: TSV with a header line."""

    source: File = Field(description="a TSV file whose first line names its columns")
    texts: Annotated[tuple[str, ...], Field(max_length=2)] = Field(
        default=(), description="columns of one or two texts; by default all except the label's"
    )
    label: str = Field(default="label", description="the column of the label")


class TrainLabelledSection(LabelledSection):
    """Texts with labels to learn from."""

    weight: Positive = Field(default=1.0, description=WEIGHT)


class LabelledDataSection(Section):
    """Labelled texts; relative paths as in all recipes."""

    train: tuple[TrainLabelledSection, ...] = Field(min_length=1, description="texts to learn from")
    valid: tuple[LabelledSection, ...] = Field(min_length=1, description="texts to validate on")


class TaggedSection(Section):
    """Sentences with a tag for each word."""

    source: File = Field(description="words<TAB>tags, or a word and its tag on each line (CoNLL)")
    format: TagFormat | None = Field(
        default=None,
        description="lines or columns; by default .tsv files have lines, others columns. A .tsv "
        "with one word and its tag on each line could have either, and needs this key",
    )


class TrainTaggedSection(TaggedSection):
    """Sentences to learn from."""

    weight: Positive = Field(default=1.0, description=WEIGHT)


class TaggedDataSection(Section):
    """Tagged sentences; relative paths as in all recipes."""

    train: tuple[TrainTaggedSection, ...] = Field(
        min_length=1, description="sentences to learn from"
    )
    valid: tuple[TaggedSection, ...] = Field(min_length=1, description="sentences to validate on")


class EncoderRecipe(CommonRecipe):
    """The keys that recipes for all models without a decoder share."""

    @model_validator(mode="after")
    def _an_encoder_alone(self) -> Self:
        if self.training.sharded:
            raise ValueError(
                "training.sharded does not apply to models without a decoder, which every worker "
                "holds whole; leave it out"
            )
        if self.model.decoder_layers:
            raise ValueError(
                f"model.decoder_layers = {self.model.decoder_layers}, but task = {self.task!r} "
                "has no decoder; leave it out"
            )
        return self


class MaskedLanguageRecipe(EncoderRecipe):
    """Masked words in running text, and next sentences where asked for."""

    task: Literal["masked-lm"] = Field(description="what is learnt")
    data: TextDataSection = Field(description="the texts")
    masking: MaskingSection = Field(default=MaskingSection(), description="what is hidden")

    @model_validator(mode="after")
    def _can_be_learnt(self) -> Self:
        if self.vocabulary.dropout:
            raise ValueError("vocabulary.dropout does not apply to masked words; leave it out")
        return self


class ClassifyRecipe(EncoderRecipe):
    """A label for a text, or for two."""

    task: Literal["classify"] = Field(description="what is learnt")
    data: LabelledDataSection = Field(description="the labelled texts")


class TagRecipe(EncoderRecipe):
    """A tag for each word."""

    task: Literal["tag"] = Field(description="what is learnt")
    data: TaggedDataSection = Field(description="the tagged sentences")

    @model_validator(mode="after")
    def _can_be_learnt(self) -> Self:
        if self.vocabulary.dropout:
            raise ValueError(
                "vocabulary.dropout does not apply to tagging, where tags belong to fixed pieces; "
                "leave it out"
            )
        return self
