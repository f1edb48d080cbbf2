"""`allyouneed evaluate`: BLEU and chrF of a model or of given translations; a comparison of two."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from allyouneed.cli.options import (
    DEFAULT_MODEL,
    Beam,
    Json,
    LanguageOptions,
    LengthPenalty,
    Running,
    VocabularySelection,
)
from allyouneed.cli.output import as_json, check_output, note, result
from allyouneed.cli.pairs import file_lines, file_pairs
from allyouneed.cli.search import beam_options
from allyouneed.cli.tables import comparison_table, evaluation_table, print_result
from allyouneed.cli.translating_corpus import translate_corpus
from allyouneed.errors import UsageError

if TYPE_CHECKING:
    from allyouneed.evaluation.comparison import Comparison
    from allyouneed.evaluation.report import Evaluation


@dataclass(frozen=True, kw_only=True)
class ReferenceFiles:
    """The files of the sentences and of their reference translations."""

    reference: Annotated[
        Path | None,
        typer.Option(help="Reference translations, one per line; .gz, .xz, .zst too."),
    ] = None
    source: Annotated[Path | None, typer.Option(help="Sentences to translate, line by line.")] = (
        None
    )
    tsv: Annotated[Path | None, typer.Option(help="Both in one file: source, tab, reference.")] = (
        None
    )

    def read(self, translated: bool) -> tuple[list[str], list[str]]:
        """Sources and references. The sources are empty if nothing is translated.

        Raises:
            UsageError: the options do not name both, or name one of them twice.
            DataError: a file cannot be read, or the files have different numbers of lines.
        """
        if self.reference and not (translated or self.source or self.tsv):
            return [], file_lines(self.reference)
        pairs = list(file_pairs(self.source, self.reference, self.tsv, "--reference"))
        return [pair.source for pair in pairs], [pair.target for pair in pairs]


@dataclass(frozen=True, kw_only=True)
class Systems:
    """The system that is measured, and the baseline that it is compared with.

    Raises:
        UsageError: two baselines are given.
    """

    model: Annotated[
        str | None,
        typer.Option(help=f"The model to evaluate ({DEFAULT_MODEL}).", metavar="NAME|FOLDER"),
    ] = None
    hypothesis: Annotated[
        Path | None,
        typer.Option(help="Translations to score; with --model: the baseline to compare with."),
    ] = None
    against: Annotated[
        str | None,
        typer.Option(help="A model that is the baseline to compare with.", metavar="NAME|FOLDER"),
    ] = None

    def __post_init__(self) -> None:
        if self.hypothesis and self.against and self.model:
            raise UsageError(
                "--against and --hypothesis are two baselines for --model; leave one out"
            )

    @property
    def measured(self) -> str:
        """The model that is measured; empty if given translations are."""
        return self.model or ("" if self.hypothesis else DEFAULT_MODEL)

    @property
    def translate(self) -> bool:
        """Whether a model translates the sources."""
        return bool(self.measured or self.against)

    @property
    def title(self) -> str:
        """The name of the measured system."""
        return self.measured or str(self.hypothesis)

    @property
    def baseline(self) -> str:
        """The name of the baseline; empty if there is none."""
        if self.against:
            return self.against
        return str(self.hypothesis) if self.hypothesis and self.model else ""


def evaluate(
    *,
    files: ReferenceFiles,
    systems: Systems,
    languages: LanguageOptions,
    output: Annotated[
        Path | None, typer.Option(help="A file to write the translations to.")
    ] = None,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    vocabulary_selection: VocabularySelection = False,
    json: Json = False,
    running: Running,
) -> None:
    """Measure translations: sacreBLEU (cased, lower-cased) and chrF, with 95 % intervals.

    **Examples**

    - `allyouneed evaluate --model en-de --source test.en --reference test.de`
    - `allyouneed evaluate --tsv test.tsv --output translations.de`
    - `allyouneed evaluate --hypothesis translations.de --reference test.de`
    - `allyouneed evaluate --model new --against old --source test.en --reference test.de`

    With a baseline (--against, or --hypothesis together with --model), both systems are compared on
    the same resampled test sets (Koehn 2004). --vocabulary-selection is for --model, not for the
    baseline.
    """
    if output:
        check_output(output)
    if vocabulary_selection and systems.against and not systems.measured:
        raise UsageError(
            "--vocabulary-selection needs --model; give --model in place of --hypothesis, or leave "
            "--vocabulary-selection out"
        )
    if not systems.translate:
        searching = {"beam": beam, "length-penalty": length_penalty}
        _refuse_idle(searching | {"vocabulary-selection": vocabulary_selection or None}, running)
    from allyouneed.evaluation.metrics import check_line_counts
    from allyouneed.files import write_whole

    options = beam_options(1, {"beam": beam, "length_penalty": length_penalty}, {})
    sources, references = files.read(systems.translate)
    ready = file_lines(systems.hypothesis) if systems.hypothesis else []
    if systems.hypothesis:
        check_line_counts(ready, references)

    def translated(model: str, selection: bool) -> list[str]:
        translator = running.translator(model, selection)
        return translate_corpus(translator, sources, options, languages.from_, languages.to)

    system = translated(systems.measured, vocabulary_selection) if systems.measured else ready
    if output:
        write_whole(output, "".join(f"{line}\n" for line in system))
    baseline = None
    if systems.baseline:
        baseline = translated(systems.against, False) if systems.against else ready
    _measure(systems, system, baseline, references, json)


def _measure(
    systems: Systems,
    system: Sequence[str],
    baseline: Sequence[str] | None,
    references: Sequence[str],
    json: bool,
) -> None:
    """Prints the scores of a system, or its comparison with a baseline."""
    from allyouneed.evaluation.comparison import compare
    from allyouneed.evaluation.report import evaluate as scored

    outcome: Evaluation | Comparison
    if baseline is not None:
        outcome = compare(baseline, system, references)
        table = comparison_table(outcome, systems.baseline, systems.title)
        scores = [one.system for one in outcome.metrics]
    else:
        outcome = scored(system, references)
        for text in outcome.notes:
            note(text)
        table = evaluation_table(outcome, systems.title)
        scores = list(outcome.scores)
    if json:
        result(as_json(outcome.to_dict()))
    else:
        print_result(table, scores)


def _refuse_idle(searching: Mapping[str, object], running: Running) -> None:
    """Raises UsageError for options that only matter to a model that translates."""
    engine = None if running.engine == "auto" else running.engine
    given = {"device": running.device, "threads": running.threads, "engine": engine}
    if idle := [f"--{name}" for name, value in {**searching, **given}.items() if value is not None]:
        raise UsageError(
            f"{', '.join(idle)}: nothing is translated when --hypothesis is scored without a "
            "model; leave it out, or add --model"
        )
