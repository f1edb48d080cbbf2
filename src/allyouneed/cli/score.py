"""`allyouneed score`: computes the log-probabilities of given translations under a model."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from allyouneed.cli.options import DEFAULT_MODEL, Json, LanguageOptions, Model, PairFiles, Running
from allyouneed.cli.output import as_json, result
from allyouneed.errors import DataError, UsageError
from allyouneed.text.shown import shown

if TYPE_CHECKING:
    from allyouneed.data.corpus import Pair
    from allyouneed.translation.result import Score

PAIRS_AT_ONCE = 512


def score(
    *,
    files: PairFiles,
    model: Model = DEFAULT_MODEL,
    languages: LanguageOptions,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Also print each token with its log-probability.")
    ] = False,
    json: Json = False,
    running: Running,
) -> None:
    """Score given translations: their log-probability under a model.

    **Examples**

    - `allyouneed score --source input.en --target output.de`
    - `allyouneed score --tsv pairs.tsv --tokens`

    The columns are separated by tabs. Column 1 is the log-probability (natural logarithm), column 2
    its mean per token (the end token is counted), column 3 that mean as a probability, column 4 the
    translation.
    """
    if running.engine not in ("auto", "core"):
        raise UsageError(
            f"--engine {running.engine} cannot score given translations, only the core model can; "
            "leave --engine out, or use core"
        )
    pairs = files.pairs()
    translator = replace(running, engine="core").translator(model)
    while chunk := list(islice(pairs, PAIRS_AT_ONCE)):
        try:
            texts = [p.source for p in chunk], [p.target for p in chunk]
            scores = translator.score(*texts, source=languages.from_, target=languages.to)
        except DataError as error:
            place = f"{files.tsv or files.target}:{chunk[0].line}-{chunk[-1].line}"
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
