"""The schemas of a recipe's sections about data: corpora, filters and noise, with a description per
key.

Unknown keys and values of a wrong type are errors, so a misspelt key is never ignored.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from allyouneed.data.corpus import Corpus, Format, MadeTask, format_of
from allyouneed.data.filters import Filters
from allyouneed.data.noise.noise import Noise
from allyouneed.errors import AllYouNeedError
from allyouneed.training.recipe.values import (
    Chance,
    Count,
    File,
    Language,
    Models,
    NaturalNumber,
    Positive,
    Section,
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
    quoted: bool = Field(
        default=Corpus.quoted,
        description='a text of a TSV file in quotes, "a ""b"" c", is read as a "b" c, as '
        "spreadsheets do",
    )
    made: MadeTask | None = Field(
        default=None,
        description="make pairs of letters; the target is the source, copied or reversed",
    )
    source_language: Language | None = Field(
        default=None,
        description="the source's language, as a code such as de; if one corpus names its "
        "languages, the model learns several languages, and every corpus must name "
        "source_language and target_language",
    )
    target_language: Language | None = Field(
        default=None, description="the target's language, likewise"
    )
    both_directions: bool = Field(
        default=False, description="use each pair the other way round, too"
    )
    pairs: Count = Field(default=Corpus.pairs, description="how many pairs to make")
    seed: NaturalNumber = Field(
        default=Corpus.seed, description="the random seed of the made pairs"
    )

    @model_validator(mode="after")
    def _fits_together(self) -> "CorpusSection":
        try:
            Corpus(**self.values())
        except AllYouNeedError as error:
            raise ValueError(str(error)) from None
        return self

    def values(self) -> dict[str, Any]:
        """These keys as the keyword arguments of `allyouneed.data`'s `Corpus`."""
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

    only_new: bool = Field(
        default=False,
        description="with distill or back_translate: skip texts that an earlier corpus already "
        "contains in the same language, and skip repeated texts",
    )

    @model_validator(mode="after")
    def _models_write_one_side(self) -> "TrainCorpusSection":
        if self.teachers and self.both_directions:
            raise ValueError(
                "both_directions has no place where models write one side; name the corpus twice, "
                "once for each direction"
            )
        if self.only_new and not self.teachers:
            raise ValueError(
                "only_new says which texts a model translates; name it with distill or "
                "back_translate, or leave only_new out"
            )
        if self.distill is not None and self.back_translate is not None:
            raise ValueError(
                "distill and back_translate together would replace both sides; name the corpus "
                "twice, each time with one of them"
            )
        return self

    @property
    def _is_one_text(self) -> bool:
        """Whether the source is a text file without targets. If neither `format` nor a suffix says
        so, the source may be a folder of pairs, and the answer is False."""
        if self.source is None or self.target is not None:
            return False
        known = self.format or (format_of(self.source) if self.source.suffix else None)
        return known == "text"

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
        values.pop("only_new", None)
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
    drop_validation: bool = Field(
        default=False,
        description="leave out pairs that share a text with a pair of valid, so that scores are of "
        "texts that training never saw",
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
        return Filters(**self.model_dump(exclude={"drop_validation"}))


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
    """Noise as in typed text. Each key except `copies` is the share of pairs, from 0 to 1, that get
    this kind of noise. Noise is drawn once, when the pairs are tokenised."""

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


class TermsSection(Section):
    """Trains the model to follow a glossary. In some pairs that contain a term and its translation,
    the translation is inserted after the term in the source, between marks. When a user translates
    with terms, their translations are inserted in the same way, and the model inflects them (Dinu
    et al. 2019)."""

    file: File = Field(
        description="glossary: source, tab, target on a line; of several forms "
        "(Fahrrad|Fahrrads), the first is inserted into the source; any of them in the target "
        "counts as the translation"
    )
    share: Chance = Field(
        default=0.5,
        description="of the pairs that contain a term and its translation, the share into which "
        "the translation is inserted; from the rest the model learns to translate without it",
    )
