"""`allyouneed align`: which words of two sentences are each other's translation."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from allyouneed.cli.evaluate import COLUMNS
from allyouneed.cli.options import Debug, Json
from allyouneed.cli.output import as_json, result
from allyouneed.cli.pairs import file_lines, file_pairs
from allyouneed.errors import DataError

if TYPE_CHECKING:
    from allyouneed.data.corpus import Pair


def align(
    source: Annotated[
        Path | None, typer.Option(help="Sentences, one a line; .gz, .xz, .zst too.")
    ] = None,
    target: Annotated[Path | None, typer.Option(help="Their translations, line by line.")] = None,
    tsv: Annotated[
        Path | None, typer.Option(help="Both in one file: source, tab, translation.")
    ] = None,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(help="More pairs (TSV) to learn from, for which no line is printed."),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(help='Print the error rate against links by people: "0-0" sure, "1?2".'),
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Link the words of sentence pairs that are each other's translation. Needs no model.

    **Examples**

    - `allyouneed align --tsv mine.tsv > mine.talp`
    - `allyouneed align --source new.en --target new.de --corpus tatoeba/train.en-de.tsv.gz`
    - `allyouneed align --tsv aligned.tsv --gold aligned.talp --corpus large.tsv`

    A line of output belongs to each pair: "0-0 1-2" links source word 0 to target word 0, and 1 to
    2 (Pharaoh format). Words are what white space separates, counted from 0. The links are learnt
    from the pairs themselves, so it takes some thousands of them: of a few pairs alone, little can
    be learnt, and --corpus names more. With --gold, the alignment error rate (AER, 0 is best) is
    printed in place of the links.
    """
    from allyouneed.data.alignment.texts import align_texts
    from allyouneed.decoding.links import pharaoh
    from allyouneed.evaluation.alignment_error import GoldAlignment, alignment_error_rate

    pairs = [(pair.source, pair.target) for pair in file_pairs(source, target, tsv)]
    wanted: list[GoldAlignment] = []
    if gold:
        lines = file_lines(gold)
        if len(lines) != len(pairs):
            raise DataError(
                f"{gold} has {len(lines):,} lines for {len(pairs):,} pairs; it needs one for each"
            )
        for number, (line, pair) in enumerate(zip(lines, pairs, strict=True), 1):
            wanted.append(GoldAlignment.of(line, f"{gold}:{number}"))
            counts = [len(side.split()) for side in pair]
            wanted[-1].check(counts[0], counts[1], f"{gold}:{number}")
    console = Console(stderr=True)
    with Progress(
        *COLUMNS, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("reading", total=None)
        found = align_texts(
            pairs,
            ((pair.source, pair.target) for pair in _pairs_of(corpus or [])),
            lambda stage, done, total: progress.update(
                task, description=stage, completed=done, total=total
            ),
        )
    if gold:
        rate = alignment_error_rate(found, wanted)
        values = {"alignment_error_rate": rate, "pairs": len(pairs)}
        result(as_json(values) if json else f"AER {rate:.3f} over {len(pairs):,} pairs")
        return
    for (one, other), links in zip(pairs, found, strict=True):
        if json:
            result(as_json({"source": one, "target": other, "alignment": links}))
        else:
            result(pharaoh(tuple(links)))


def _pairs_of(files: list[Path]) -> Iterator["Pair"]:
    for file in files:
        yield from file_pairs(None, None, file)
