"""The options of `allyouneed translate`, in groups."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allyouneed.cli.options import (
    SEARCH,
    Beam,
    From,
    Json,
    LengthPenalty,
    Output,
    VocabularySelection,
)
from allyouneed.cli.search import beam_options, check_choice, given, sampling_options
from allyouneed.errors import UsageError

if TYPE_CHECKING:
    from allyouneed.translation.request import Options

SAMPLING = "Sampling"
DOCUMENTS = "Documents"


@dataclass(frozen=True, kw_only=True)
class TranslationLanguages:
    """The languages of a call. For documents, `to` may be the place of the translations instead."""

    from_: From = None
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="LANGUAGE|FILE",
            help="The target language, for a model of several languages; or the file or folder to "
            "write translated documents to.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class TranslationSampling:
    """How translations are drawn at random."""

    sample: Annotated[
        bool, typer.Option("--sample", help="Draw tokens at random.", rich_help_panel=SAMPLING)
    ] = False
    temperature: Annotated[
        float | None,
        typer.Option(
            help="Below 1 prefers probable tokens, above 1 gives more variety (1).",
            rich_help_panel=SAMPLING,
        ),
    ] = None
    top_k: Annotated[
        int | None,
        typer.Option(help="Draw from the k most probable tokens only.", rich_help_panel=SAMPLING),
    ] = None
    top_p: Annotated[
        float | None,
        typer.Option(
            help="Draw from the fewest tokens whose probabilities add up to p.",
            rich_help_panel=SAMPLING,
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(help="The same seed draws the same tokens (0).", rich_help_panel=SAMPLING),
    ] = None

    @property
    def typed(self) -> dict[str, Any]:
        """The options that were typed, beside --sample itself."""
        return {name: value for name, value in given(asdict(self)).items() if name != "sample"}


@dataclass(frozen=True, kw_only=True)
class TranslationSearch:
    """How translations are searched for, and their limits."""

    beam: Beam = None
    n_best: Annotated[
        int, typer.Option(min=1, help="Translations of each text.", rich_help_panel=SEARCH)
    ] = 1
    length_penalty: LengthPenalty = None
    min_length: Annotated[
        int, typer.Option(help="Smallest number of tokens before the end.", rich_help_panel=SEARCH)
    ] = 1
    max_length: Annotated[
        int | None,
        typer.Option(
            help="Largest number of tokens (tokens of the source + 50).", rich_help_panel=SEARCH
        ),
    ] = None
    no_repeat_ngram: Annotated[
        int,
        typer.Option(
            help="No sequence of n tokens occurs twice; 0 allows all.", rich_help_panel=SEARCH
        ),
    ] = 0
    prefix: Annotated[
        str, typer.Option(help="Text that every translation begins with.", rich_help_panel=SEARCH)
    ] = ""
    terms: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A glossary: .tsv or .csv (source, target), or .tbx. Write | between forms of "
            "a target; without a target the words are copied.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    vocabulary_selection: VocabularySelection = False

    def options(self, sampling: TranslationSampling, stream: bool) -> "Options":
        """The options of the search for `decoding`. A streamed search is greedy.

        Raises:
            UsageError: options of beam search and of sampling are mixed, or one is out of range.
        """
        beam = {"beam": self.beam, "length_penalty": self.length_penalty}
        lengths = {
            "min_length": self.min_length,
            "max_length": self.max_length,
            "no_repeat_ngram": self.no_repeat_ngram,
        }
        check_choice(sampling.sample, beam, sampling.typed)
        if sampling.sample:
            return sampling_options(self.n_best, sampling.typed, lengths)
        if stream and self.beam is None:
            beam["beam"] = 1
        return beam_options(self.n_best, beam, lengths)


@dataclass(frozen=True, kw_only=True)
class TranslationResults:
    """The parts of a translation that are shown, and the file that they are written to."""

    stream: Annotated[
        bool,
        typer.Option("--stream", help="Show a translation while it grows (greedy, or --sample)."),
    ] = False
    scores: Annotated[
        bool,
        typer.Option(
            "--scores",
            help="Put columns before each translation: H, exp(H) and the confidence.",
        ),
    ] = False
    alignments: Annotated[
        bool,
        typer.Option(
            "--alignments",
            help="Put word links i-j (Pharaoh) after each translation (--n-best: after the best).",
        ),
    ] = False
    attention: Annotated[
        bool,
        typer.Option("--attention", help="Draw which source pieces each target piece attends to."),
    ] = False
    output: Output = None
    json: Json = False

    @property
    def whole(self) -> dict[str, bool]:
        """The options that need a finished translation."""
        return {
            "scores": self.scores,
            "alignments": self.alignments,
            "attention": self.attention,
            "json": self.json,
        }

    def check_stream(self, search: TranslationSearch) -> None:
        """Raises UsageError for options that do not go with --stream, if it was typed."""
        if not self.stream:
            return
        if search.beam not in (None, 1) or search.n_best != 1:
            typed = f"--beam {search.beam}" if search.n_best == 1 else f"--n-best {search.n_best}"
            raise UsageError(
                f"--stream shows each word as soon as it is found, but {typed} may change earlier "
                "words until the end; leave one of them out (--stream is greedy, or uses --sample)"
            )
        for name, is_typed in self.whole.items():
            if is_typed:
                raise UsageError(
                    f"--{name} needs the whole translation, but --stream shows it word by word; "
                    "leave one of them out"
                )
        if search.terms is not None:
            raise UsageError(
                "terms need a search of several hypotheses; leave out --stream or --terms"
            )
        if self.output is not None:
            raise UsageError(
                "--stream shows a translation while it grows; leave out --stream or --output"
            )


@dataclass(frozen=True, kw_only=True)
class Documents:
    """How documents are translated."""

    format: Annotated[
        str | None,
        typer.Option(
            help="The format of documents whose names do not say it: docx, markdown, po, ...",
            rich_help_panel=DOCUMENTS,
        ),
    ] = None
    keys: Annotated[
        str | None,
        typer.Option(
            metavar="KEY,KEY",
            help="The keys of JSON or the columns of CSV whose texts are translated, such as "
            "title,message.text. Without it: all keys of .json and columns of .csv; text, title, "
            "body and similar keys of .jsonl.",
            rich_help_panel=DOCUMENTS,
        ),
    ] = None
    memory: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.tmx",
            help="A translation memory: equal sentences are taken from it, similar ones shown.",
            rich_help_panel=DOCUMENTS,
        ),
    ] = None
    update_memory: Annotated[
        bool,
        typer.Option(
            "--update-memory",
            help="Add the new translations to the memory.",
            rich_help_panel=DOCUMENTS,
        ),
    ] = False
    bilingual: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write every sentence beside its translation: .html, .tmx or .xlf.",
            rich_help_panel=DOCUMENTS,
        ),
    ] = None
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Skip files whose translation exists and is newer than the file.",
            rich_help_panel=DOCUMENTS,
        ),
    ] = False

    @property
    def named_keys(self) -> list[str]:
        """The keys that --keys names."""
        return [key.strip() for key in (self.keys or "").split(",") if key.strip()]

    @property
    def typed(self) -> dict[str, Any]:
        """The options that were typed."""
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True, kw_only=True)
class TranslationProtection:
    """Which parts of a text are copied unchanged."""

    protect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REGEX",
            help="Copy text that matches unchanged, such as a product's name; repeatable.",
        ),
    ] = None
    no_protect: Annotated[
        bool,
        typer.Option(
            "--no-protect",
            help="Let the model change addresses, {placeholders}, `code` and numbers, too.",
        ),
    ] = False

    @property
    def of_text(self) -> bool | list[str]:
        """The keyword `protect` of a translator for plain text."""
        return self.protect or not self.no_protect

    def check(self, with_documents: bool) -> None:
        """Raises UsageError if --no-protect is given with --protect or with documents."""
        if self.no_protect and with_documents:
            raise UsageError(
                "--no-protect is for text; placeholders of documents are always copied, so leave "
                "it out"
            )
        if self.no_protect and self.protect:
            raise UsageError("--protect and --no-protect contradict each other; leave one out")
