"""`allyouneed predict`: predicts labels of texts or pairs of texts, or tags of words."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from allyouneed.cli.lines import numbered_chunks
from allyouneed.cli.options import EncoderFolder, Json, RunningOnCore
from allyouneed.cli.output import as_json, note, result
from allyouneed.errors import DataError, UsageError

if TYPE_CHECKING:
    from allyouneed.encoder_only.model import EncoderModel
    from allyouneed.encoder_only.prediction import Prediction, Tagging


def predict(
    *,
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="Texts to label, each in quotes. Without them: standard input."),
    ] = None,
    model: EncoderFolder = None,
    pairs: Annotated[
        bool,
        typer.Option("--pairs", help="Each text is a pair of texts with a tab between them."),
    ] = False,
    json: Json = False,
    running: RunningOnCore,
) -> None:
    """Label texts with an encoder-only model.

    **Examples**

    - `allyouneed predict --model runs/sst2/model "A charming and funny film."`
    - `allyouneed predict --model runs/sst2/model --json < reviews.txt`

    Every text, or line of standard input, gives one line: the label, a tab, and the label's
    probability. A model that tags words gives one tag for each word, separated by spaces. With
    --json the line has the probabilities of all labels, or each word with its tag.
    """
    encoder = running.encoder(model, "sst2")
    for chunk, places in numbered_chunks(texts, note):
        answers = _found(encoder, chunk, places, pairs)
        for text, place, found in zip(chunk, places, answers, strict=True):
            for said in found.notes:
                note(f"{place}: {said}")
            result(as_json({"text": text, **found.to_dict()}) if json else _line(found))


def _found(
    encoder: "EncoderModel", chunk: list[str], places: Sequence[str], pairs: bool
) -> "Sequence[Prediction | Tagging]":
    if not encoder.heads.labels and encoder.heads.tags:
        if pairs:
            raise UsageError("--pairs: this model tags the words of single texts; leave it out")
        return encoder.tag(chunk)
    if not pairs:
        return encoder.predict(chunk)
    try:
        return encoder.predict([*_pairs(chunk, places)])
    except DataError as error:
        where = f"{places[0]} to {places[-1]}: of these, " if len(chunk) > 1 else ""
        raise DataError(f"{where}{error}") from error


def _pairs(chunk: Sequence[str], places: Sequence[str]) -> Iterator[tuple[str, str]]:
    for text, place in zip(chunk, places, strict=True):
        parts = text.split("\t")
        if len(parts) != 2:
            raise DataError(
                f"{place} has {len(parts) - 1} tabs; a pair is two texts with one tab between them"
            )
        yield parts[0], parts[1]


def _line(found: "Prediction | Tagging") -> str:
    from allyouneed.encoder_only.prediction import Tagging

    if isinstance(found, Tagging):
        return " ".join(word.tag for word in found.words)
    return f"{found.label}\t{found.probability:.4f}"
