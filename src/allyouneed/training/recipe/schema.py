"""The schemas of whole recipes; `sections` has those of their tables.

Keys that bear on one another across sections are checked here.
"""

from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from allyouneed.data.root import resolve
from allyouneed.errors import ConfigError, DataError, UsageError
from allyouneed.text.conversation import History
from allyouneed.training.recipe.data_sections import DataSection, NoiseSection, TermsSection
from allyouneed.training.recipe.sections import (
    GuidedAlignmentSection,
    ModelSection,
    OptimizerSection,
    SamplesSection,
    TrainingSection,
    ValidationSection,
    VocabularySection,
)
from allyouneed.training.recipe.values import NaturalNumber, Section
from allyouneed.training.schedule import Noam, ScheduleSection


class CommonRecipe(Section):
    """The keys that recipes of all tasks share. The data section differs between tasks."""

    name: Annotated[str, Field(pattern=r"^\w[\w.-]*$")] = Field(
        description="name of the run's folder and of the model"
    )
    description: str = Field(default="", description="description of the model, for its card")
    licence: str = Field(default="", description="licence of the data, for the model card")
    task: str = Field(default="translate", description="what is learnt")
    source_language: str = Field(default="", description="for the model card")
    target_language: str = Field(default="", description="for the model card")
    seed: NaturalNumber = Field(default=1, description="seed of all random choices")
    tensorboard: bool = Field(default=False, description="also write TensorBoard files")
    data: Section = Field(description="the corpora")
    vocabulary: VocabularySection = Field(default=VocabularySection(), description="the subwords")
    model: ModelSection = Field(default=ModelSection(), description="the Transformer")
    optimizer: OptimizerSection = Field(default=OptimizerSection(), description="Adam")
    schedule: ScheduleSection = Field(
        default=Noam(),
        description="the learning rate, step by step; with training.init it is constant by default",
    )
    training: TrainingSection = Field(description="length, batches, and files that are kept")
    validation: SamplesSection = Field(
        default=SamplesSection(), description="texts shown of a validation"
    )

    @model_validator(mode="after")
    def _init_or_new(self) -> "CommonRecipe":
        if self.vocabulary.renew and self.training.init is None:
            raise ValueError(
                "vocabulary.renew = true replaces the vocabulary of training.init, which is not "
                "given; leave it out, since a new model learns its vocabulary anyway"
            )
        kept = None if self.vocabulary.renew else self.vocabulary.tokenizer
        given = {"model.preset": self.model.preset, "vocabulary.tokenizer": kept}
        for key, value in given.items():
            if self.training.init is not None and value is not None:
                raise ValueError(
                    f"{key} = {str(value)!r} and training.init = {self.training.init!r} "
                    "contradict each other; leave one out"
                )
        return self

    @model_validator(mode="after")
    def _model_can_be_built(self) -> "CommonRecipe":
        if self.training.init is not None:
            return self
        try:
            self.model.config(self.vocabulary.size)
        except ConfigError as error:
            raise ValueError(f"[model] {error}") from None
        return self

    def locate(self, path: Path) -> Path:
        """The file that a path of this recipe means.

        `load_recipe` has already resolved paths relative to the recipe and to the working
        directory. Other paths are looked for in the data folder ($ALLYOUNEED_DATA).

        Raises:
            DataError: there is no such file; the message lists the places.
        """
        try:
            return resolve(path, None)
        except DataError as error:
            if _is_packaged(path):
                raise DataError(
                    f"{error}; docs/reference/recipes.md says where it comes from"
                ) from error
            if path.is_absolute():
                raise
            raise DataError(f"not beside the recipe or here: {error}") from error


class PairsRecipe(CommonRecipe):
    """The keys of tasks that learn to write the second text of a pair from the first."""

    data: DataSection = Field(description="the corpora")
    noise: NoiseSection = Field(
        default=NoiseSection(), description="noise like that of typed text, only in training"
    )
    terms: TermsSection | None = Field(
        default=None,
        description="terms that the model learns to read in its source; by default none",
    )
    validation: ValidationSection = Field(
        default=ValidationSection(), description="sentences that are translated"
    )
    guided_alignment: GuidedAlignmentSection | None = Field(
        default=None, description="a head that learns word alignments; without it none does"
    )

    @model_validator(mode="after")
    def _can_be_written(self) -> "PairsRecipe":
        if self.training.init is None:
            config = self.model.config(self.vocabulary.size)
            if not config.decoder_layers or config.segments:
                raise ValueError(
                    f"[model] has {config.decoder_layers} decoder layers and {config.segments} "
                    f"segments, but task = {self.task!r} writes a text from a whole other one: "
                    "choose a preset with a decoder, and leave segments out"
                )
        return self

    @property
    def directions(self) -> list[tuple[str, str]]:
        """The directions that the corpora name, in their order; none for a model of one."""
        found = (one for corpus in self.data.train for one in corpus.directions)
        return list(dict.fromkeys(found))

    @property
    def teachers(self) -> tuple[str, ...]:
        """The models that write one side of corpora before training, in their order."""
        return tuple(teacher for corpus in self.data.train for teacher in corpus.teachers)

    @model_validator(mode="after")
    def _languages_are_named_throughout(self) -> "PairsRecipe":
        if not any(corpus.directions for corpus in (*self.data.train, *self.data.valid)):
            return self
        for part in ("train", "valid"):
            for number, corpus in enumerate(getattr(self.data, part)):
                key = f"data.{part}.{number}"
                if not corpus.directions:
                    raise ValueError(
                        f"{key} names no languages and other corpora do; give it source_language "
                        "and target_language"
                    )
                for direction in corpus.directions:
                    if direction not in self.directions:
                        raise ValueError(
                            f"{key} validates {'-'.join(direction)}, which no corpus of data.train "
                            "trains; add one, or leave it out"
                        )
        if self.source_language or self.target_language:
            raise ValueError(
                "source_language and target_language at the top are for a model of one direction, "
                "and the corpora name theirs; leave them out at the top"
            )
        return self

    @model_validator(mode="after")
    def _terms_have_one_direction(self) -> "PairsRecipe":
        if self.terms is not None and (self.directions or self.history):
            what = "corpora that name their languages" if self.directions else "conversations"
            raise ValueError(
                f"[terms] is for translation in one direction, not for {what}; leave it out (terms "
                "guide the search of such a model)"
            )
        return self

    @model_validator(mode="after")
    def _head_is_there(self) -> "PairsRecipe":
        if self.guided_alignment is not None and self.training.init is None:
            config = self.model.config(self.vocabulary.size)
            try:
                self.guided_alignment.check(config)
            except UsageError as error:
                raise ValueError(f"[guided_alignment] {error}") from None
        return self

    @property
    def history(self) -> History | None:
        """How sources are made from the turns of a conversation; None for tasks without turns."""
        return None


class Recipe(PairsRecipe):
    """Translation: pairs of sentences."""

    task: Literal["translate"] = Field(default="translate", description="what is learnt")


def _is_packaged(path: Path) -> bool:
    """Whether a packaged recipe names this file."""
    recipes = (resources.files("allyouneed") / "recipes").iterdir()
    named = f'"{path.as_posix()}"'
    return any(named in each.read_text("utf-8") for each in recipes if each.name.endswith(".toml"))
