"""`allyouneed heads`: measures where every head of a model looks, and the loss without it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from allyouneed.cli.evaluate import COLUMNS
from allyouneed.cli.loading import opened
from allyouneed.cli.options import DEFAULT_MODEL, Debug, Device, Json, Model, Threads
from allyouneed.cli.output import as_json, note, result
from allyouneed.cli.pairs import file_lines, file_pairs
from allyouneed.cli.tables import head_table, print_result

if TYPE_CHECKING:
    from allyouneed.insight.head_report import HeadReport


def heads(
    source: Annotated[
        Path | None, typer.Option(help="Sentences, one per line; .gz, .xz, .zst too.")
    ] = None,
    target: Annotated[Path | None, typer.Option(help="Their translations, line by line.")] = None,
    tsv: Annotated[
        Path | None, typer.Option(help="Both in one file: source, tab, translation.")
    ] = None,
    model: Model = DEFAULT_MODEL,
    gold: Annotated[
        Path | None,
        typer.Option(help='Manual word alignments, line by line: "0-0" sure, "1?2" possible.'),
    ] = None,
    importance: Annotated[
        bool,
        typer.Option("--importance", help="Switch off each head in turn: change of loss and BLEU."),
    ] = False,
    picture: Annotated[
        Path | None, typer.Option(help="Write a picture of layers × heads: .png, .svg or .pdf.")
    ] = None,
    json: Json = False,
    device: Device = None,
    threads: Threads = None,
    debug: Debug = False,
) -> None:
    """Measure every attention head over a corpus: where it looks, and the loss without it.

    **Examples**

    - `allyouneed heads --source test.en --target test.de`
    - `allyouneed heads --source test.en --target test.de --importance --picture heads.png`
    - `allyouneed heads --tsv aligned.tsv --gold aligned.talp --json`

    Columns: entropy of the weights (nats), distance (tokens), and the mean weight of the previous,
    own and next token, of the start and end tokens, and of the rarest word. --gold adds the
    alignment error rate of each cross-attention head. --importance adds the changes of loss and of
    greedy search's BLEU; for each head it needs a pass over the corpus and a translation of it.
    """
    from allyouneed.insight.head_report import head_report

    if picture:
        check_picture(picture)
    pairs = list(file_pairs(source, target, tsv))
    gold_lines = file_lines(gold) if gold else None
    translator = opened(model, "core", device, threads, debug)
    console = Console(stderr=True)
    with Progress(
        *COLUMNS, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("reading", total=None)
        report = head_report(
            translator,
            [pair.source for pair in pairs],
            [pair.target for pair in pairs],
            gold=gold_lines,
            importance=importance,
            progress=lambda stage, done, total: progress.update(
                task, description=stage, completed=done, total=total
            ),
        )
    title = f"{model}, {report.sentences:,} sentences"
    if picture:
        draw(report, title, picture)
    if json:
        result(as_json(report.to_dict()))
    else:
        print_result(head_table(report, title), ())


def check_picture(path: Path) -> None:
    """Raises UsageError if the picture cannot be written. It is checked before the long work."""
    from allyouneed.insight.plotting import check_place, plotting

    check_place(path)
    plotting()


def draw(report: "HeadReport", title: str, path: Path) -> None:
    """Writes the picture, with a note that names its file."""
    from allyouneed.insight.figures import head_grid, save

    save(head_grid(report.grids(), title=title), path)
    note(f"{path} written")
