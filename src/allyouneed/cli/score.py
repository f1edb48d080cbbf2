"""`allyouneed score`: computes the log-probabilities of given translations under a model."""

import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from allyouneed.cli.loading import opened
from allyouneed.cli.options import (
    DEFAULT_MODEL,
    Debug,
    Device,
    Engine,
    From,
    Json,
    Model,
    Threads,
    To,
)
from allyouneed.cli.output import as_json, result
from allyouneed.cli.pairs import file_pairs
from allyouneed.errors import DataError, UsageError
from allyouneed.text.shown import shown

if TYPE_CHECKING:
    from allyouneed.data.corpus import Pair
    from allyouneed.translation.result import Score

PAIRS_AT_ONCE = 512


def score(
    source: Annotated[Path, typer.Option(help="Sentences, one per line; .gz, .xz, .zst too.")],
    target: Annotated[Path, typer.Option(help="Their translations, line by line.")],
    model: Model = DEFAULT_MODEL,
    from_: From = None,
    to: To = None,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Also print each token with its log-probability.")
    ] = False,
    json: Json = False,
    device: Device = None,
    threads: Threads = None,
    engine: Engine = "auto",
    debug: Debug = False,
) -> None:
    """Score given translations: their log-probability under a model.

    **Examples**

    - `allyouneed score --source input.en --target output.de`
    - `allyouneed score --source input.en --target output.de --tokens`

    The columns are separated by tabs. Column 1 is the log-probability (natural logarithm), column 2
    its mean per token (the end token is counted), column 3 that mean as a probability, column 4 the
    translation.
    """
    if engine not in ("auto", "core"):
        raise UsageError(
            f"--engine {engine} cannot score given translations, only the core model can; "
            "leave --engine out, or use core"
        )
    pairs = file_pairs(source, target, None)
    translator = opened(model, "core", device, threads, debug)
    while chunk := list(islice(pairs, PAIRS_AT_ONCE)):
        try:
            texts = [p.source for p in chunk], [p.target for p in chunk]
            scores = translator.score(*texts, source=from_, target=to)
        except DataError as error:
            place = f"{target}:{chunk[0].line}-{chunk[-1].line}"
            raise DataError(f"{place}: of these lines, {error}") from error
        for pair, one in zip(chunk, scores, strict=True):
            if json:
                result(as_json({"source": pair.source, "target": pair.target, **one.to_dict()}))
            else:
                result("\n".join(lines(pair, one, tokens)))


def lines(pair: "Pair", score: "Score", tokens: bool) -> Iterator[str]:
    """A line for the pair and, if wanted, one for each of its tokens."""
    numbers = (score.log_probability, score.average_log_likelihood, score.probability)
    yield "\t".join([*(f"{number:.4f}" for number in numbers), pair.target])
    if tokens:
        for token, value in zip(score.tokens, score.token_log_probabilities, strict=True):
            yield f"\t{value:.4f}\t{math.exp(value):.4f}\t{shown(token)}"
