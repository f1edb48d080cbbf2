"""`allyouneed align`: which words of two sentences are each other's translation."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from allyouneed.cli.bar import bar
from allyouneed.cli.options import Debug, Json, PairFiles
from allyouneed.cli.output import as_json, result
from allyouneed.cli.pairs import file_lines, file_pairs
from allyouneed.errors import DataError

if TYPE_CHECKING:
    from allyouneed.data.corpus import Pair
    from allyouneed.evaluation.alignment_error import GoldAlignment

TextPair = tuple[str, str]


def align(
    *,
    files: PairFiles,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(help="More pairs (TSV) to learn from, for which no line is printed."),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(help='Print the error rate against manual links: "0-0" sure, "1?2" possible.'),
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Link the words of sentence pairs that are each other's translation. Needs no model.

    **Examples**

    - `allyouneed align --tsv mine.tsv > mine.talp`
    - `allyouneed align --source new.en --target new.de --corpus tatoeba/train.en-de.tsv.gz`
    - `allyouneed align --tsv aligned.tsv --gold aligned.talp --corpus large.tsv`

    Each pair gives one line of output: "0-0 1-2" links source word 0 to target word 0, and 1 to 2
    (Pharaoh format). Words are what white space separates, counted from 0. The links are learnt
    from the pairs themselves, which takes thousands of pairs; --corpus adds pairs to learn from.
    With --gold, the alignment error rate (AER, 0 is best) is printed in place of the links.
    """
    from allyouneed.data.alignment.texts import align_texts
    from allyouneed.decoding.links import pharaoh
    from allyouneed.evaluation.alignment_error import alignment_error_rate

    pairs = [(pair.source, pair.target) for pair in files.pairs()]
    wanted = _gold_alignments(gold, pairs) if gold else []
    with bar("reading") as show:
        more = ((pair.source, pair.target) for pair in _pairs_of(corpus or []))
        found = align_texts(pairs, more, show)
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


def _gold_alignments(path: Path, pairs: "Sequence[TextPair]") -> "list[GoldAlignment]":
    """The alignments by people, one for each pair.

    Raises:
        DataError: a line is malformed, or the file has another number of lines.
    """
    from allyouneed.evaluation.alignment_error import GoldAlignment

    lines = file_lines(path)
    if len(lines) != len(pairs):
        raise DataError(
            f"{path} has {len(lines):,} lines for {len(pairs):,} pairs; it needs one for each"
        )
    read = []
    for number, (line, (one, other)) in enumerate(zip(lines, pairs, strict=True), 1):
        links = GoldAlignment.of(line, f"{path}:{number}")
        links.check(len(one.split()), len(other.split()), f"{path}:{number}")
        read.append(links)
    return read


def _pairs_of(files: list[Path]) -> Iterator["Pair"]:
    for file in files:
        yield from file_pairs(None, None, file)
