"""`allyouneed heads`: measures where every head of a model looks, and the loss without it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from allyouneed.cli.bar import bar
from allyouneed.cli.options import DEFAULT_MODEL, Json, Model, PairFiles, RunningOnCore
from allyouneed.cli.output import as_json, note, result
from allyouneed.cli.pairs import file_lines
from allyouneed.cli.tables import head_table, print_result

if TYPE_CHECKING:
    from allyouneed.insight.head_report import HeadReport


def heads(
    *,
    files: PairFiles,
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
    running: RunningOnCore,
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
    pairs = list(files.pairs())
    gold_lines = file_lines(gold) if gold else None
    translator = running.translator(model)
    with bar("reading") as show:
        report = head_report(
            translator,
            [pair.source for pair in pairs],
            [pair.target for pair in pairs],
            gold=gold_lines,
            importance=importance,
            progress=show,
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
