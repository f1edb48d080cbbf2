"""`allyouneed evaluate`: BLEU and chrF of a model or of given translations; a comparison of two."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from allyouneed.cli.loading import opened
from allyouneed.cli.options import (
    DEFAULT_MODEL,
    Beam,
    Debug,
    Device,
    Engine,
    From,
    Json,
    LengthPenalty,
    Threads,
    To,
)
from allyouneed.cli.output import as_json, note, result
from allyouneed.cli.pairs import file_lines, file_pairs
from allyouneed.cli.search import beam_options
from allyouneed.cli.tables import comparison_table, evaluation_table, print_result
from allyouneed.errors import UsageError

if TYPE_CHECKING:
    from allyouneed.decoding.options import BeamOptions
    from allyouneed.evaluation.comparison import Comparison
    from allyouneed.evaluation.report import Evaluation
    from allyouneed.translation.translator import Translator

COLUMNS = (
    TextColumn("{task.description}"),
    BarColumn(),
    MofNCompleteColumn(),
    TimeRemainingColumn(),
)


def evaluate(
    reference: Annotated[
        Path | None,
        typer.Option(help="Reference translations, one per line; .gz, .xz, .zst too."),
    ] = None,
    source: Annotated[
        Path | None, typer.Option(help="Sentences to translate, line by line.")
    ] = None,
    tsv: Annotated[
        Path | None, typer.Option(help="Both in one file: source, tab, reference.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help=f"The model to evaluate ({DEFAULT_MODEL}).", metavar="NAME|FOLDER"),
    ] = None,
    hypothesis: Annotated[
        Path | None,
        typer.Option(help="Translations to score; with --model: the baseline to compare with."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(help="A model that is the baseline to compare with.", metavar="NAME|FOLDER"),
    ] = None,
    from_: From = None,
    to: To = None,
    output: Annotated[
        Path | None, typer.Option(help="A file to write the translations to.")
    ] = None,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    json: Json = False,
    device: Device = None,
    threads: Threads = None,
    engine: Engine = "auto",
    debug: Debug = False,
) -> None:
    """Measure translations: sacreBLEU (cased, lower-cased) and chrF, with 95 % intervals.

    **Examples**

    - `allyouneed evaluate --model en-de --source test.en --reference test.de`
    - `allyouneed evaluate --tsv test.tsv --output translations.de`
    - `allyouneed evaluate --hypothesis translations.de --reference test.de`
    - `allyouneed evaluate --model new --against old --source test.en --reference test.de`

    With a baseline (--against, or --hypothesis together with --model), both systems are compared on
    the same resampled test sets (Koehn 2004).
    """
    if hypothesis and against and model:
        raise UsageError("--against and --hypothesis are two baselines for --model; leave one out")
    if output and not output.parent.is_dir():
        raise UsageError(f"--output {output}: there is no folder {output.parent}")
    if output and output.is_dir():
        raise UsageError(f"--output {output} is a folder; name a file")
    if hypothesis and not model and not against:
        given = {"beam": beam, "length-penalty": length_penalty, "device": device}
        given |= {"threads": threads, "engine": None if engine == "auto" else engine}
        if idle := [f"--{name}" for name, value in given.items() if value is not None]:
            raise UsageError(
                f"{', '.join(idle)}: nothing is translated when --hypothesis is scored without a "
                "model; leave it out, or add --model"
            )
    from allyouneed.evaluation.comparison import compare
    from allyouneed.evaluation.metrics import check_line_counts
    from allyouneed.evaluation.report import evaluate as scored
    from allyouneed.files import write_whole

    options = beam_options(1, {"beam": beam, "length_penalty": length_penalty}, {})
    name = model or ("" if hypothesis else DEFAULT_MODEL)
    sources, references = read_test_set(source, reference, tsv, translated=bool(name or against))
    ready = file_lines(hypothesis) if hypothesis else []
    if hypothesis:
        check_line_counts(ready, references)

    def translated(model: str) -> list[str]:
        translator = opened(model, engine, device, threads, debug)
        return translate_all(translator, sources, options, from_, to)

    system = translated(name) if name else ready
    if output:
        write_whole(output, "".join(f"{line}\n" for line in system))
    outcome: Evaluation | Comparison
    if against or (hypothesis and model):
        baseline = translated(against) if against else ready
        outcome = compare(baseline, system, references)
        table = comparison_table(outcome, against or str(hypothesis), name or str(hypothesis))
        scores = [one.system for one in outcome.metrics]
    else:
        outcome = scored(system, references)
        for text in outcome.notes:
            note(text)
        table = evaluation_table(outcome, name or str(hypothesis))
        scores = list(outcome.scores)
    if json:
        result(as_json(outcome.to_dict()))
    else:
        print_result(table, scores)


def read_test_set(
    source: Path | None, reference: Path | None, tsv: Path | None, translated: bool
) -> tuple[list[str], list[str]]:
    """Sources and references. The sources are empty if nothing is translated.

    Raises:
        UsageError: the options do not name both, or name one of them twice.
        DataError: a file cannot be read, or the files have different numbers of lines.
    """
    if reference and not (translated or source or tsv):
        return [], file_lines(reference)
    pairs = list(file_pairs(source, reference, tsv))
    return [pair.source for pair in pairs], [pair.target for pair in pairs]


def translate_all(
    translator: "Translator",
    sources: Sequence[str],
    options: "BeamOptions",
    source: str | None = None,
    target: str | None = None,
) -> list[str]:
    """A translation of one line for each source. Shows the progress, and the notes at the end."""
    texts: list[str] = []
    notes: Counter[str] = Counter()
    first: dict[str, str] = {}  # of the notes that differ in their numbers only
    console = Console(stderr=True)
    with Progress(
        *COLUMNS, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        for translation in progress.track(
            translator.translate_lines(sources, options=options, source=source, target=target),
            len(sources),
            description="translating",
        ):
            texts.append(translation.text.replace("\n", " "))
            kinds = {re.sub(r"\d+", "N", text): text for text in translation.notes}
            first = kinds | first
            notes.update(kinds)
    for kind, count in notes.items():
        note(f"{count:,} of {len(texts):,} sentences: {first[kind]}")
    return texts
