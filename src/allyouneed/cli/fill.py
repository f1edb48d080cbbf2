"""`allyouneed fill`: predicts masked words."""

from typing import Annotated

import typer

from allyouneed.cli.lines import numbered_chunks
from allyouneed.cli.options import EncoderFolder, Json, RunningOnCore
from allyouneed.cli.output import as_json, note, result
from allyouneed.errors import AllYouNeedError


def fill(
    *,
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="Texts with [MASK], each in quotes. Without them: standard input."),
    ] = None,
    model: EncoderFolder = None,
    top: Annotated[int, typer.Option(help="Pieces shown for each mask.")] = 5,
    json: Json = False,
    running: RunningOnCore,
) -> None:
    """Fill in the words that [MASK] hides, with an encoder-only model.

    **Examples**

    - `allyouneed fill --model runs/masked-lm/model "The man went to the [MASK]."`
    - `allyouneed fill --model runs/masked-lm/model --top 1 < masked.txt`

    Prints the most probable pieces for every mask, one per line: the probability, a tab, and the
    text with the piece in place of the mask. With --json there is one line for each text.
    """
    encoder = running.encoder(model, "masked-lm")
    for chunk, places in numbered_chunks(texts, note):
        try:
            found = encoder.fill(chunk, top)
        except AllYouNeedError as error:
            where = f"{places[0]} to {places[-1]}: of these, " if len(chunk) > 1 else ""
            raise type(error)(f"{where}{error}") from error
        for text, masks in zip(chunk, found, strict=True):
            if json:
                shown = [
                    [
                        {"piece": one.piece, "probability": one.probability, "text": one.text}
                        for one in fillings
                    ]
                    for fillings in masks
                ]
                result(as_json({"text": text, "masks": shown}))
                continue
            for one in (one for fillings in masks for one in fillings):
                result(f"{one.probability:.4f}\t{one.text}")
