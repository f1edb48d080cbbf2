"""`allyouneed encode`: a vector for each text."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from allyouneed.cli.lines import numbered_chunks
from allyouneed.cli.options import EncoderFolder, Json, RunningOnCore
from allyouneed.cli.output import as_json, check_output, note, result
from allyouneed.errors import UsageError
from allyouneed.files import whole_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def encode(
    *,
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="Texts to encode, each in quotes. Without them: standard input."),
    ] = None,
    model: EncoderFolder = None,
    pooling: Annotated[
        str, typer.Option(help="mean: of the tokens' states; first: the state of [CLS].")
    ] = "mean",
    output: Annotated[
        Path | None,
        typer.Option(help="A .npy file for all vectors, one row each (float32).", metavar="FILE"),
    ] = None,
    json: Json = False,
    running: RunningOnCore,
) -> None:
    """Turn texts into vectors with an encoder-only model.

    **Examples**

    - `allyouneed encode --model runs/masked-lm/model --output vectors.npy < sentences.txt`
    - `allyouneed encode --model runs/masked-lm/model "The man went to the store."`

    Without --output every text gives one line, a JSON list of numbers. With --json the line is an
    object with the text and its vector.
    """
    if pooling not in ("mean", "first"):
        raise UsageError(f"--pooling {pooling} is not one of mean, first")
    if output is not None and (json or output.suffix != ".npy"):
        raise UsageError(
            f"--output {output}{' --json' if json else ''}: vectors are written either to one .npy "
            "file or, without --output, as lines of JSON"
        )
    if output is not None:
        check_output(output)
    encoder = running.encoder(model, "masked-lm")
    rows: list[NDArray[np.float32]] = []
    for chunk, places in numbered_chunks(texts, note):
        vectors, notes = encoder.encode_with_notes(chunk, pooling)  # type: ignore[arg-type]
        for place, said in zip(places, notes, strict=True):
            for one in said:
                note(f"{place}: {one}")
        if output is not None:
            rows.append(vectors)
            continue
        for text, vector in zip(chunk, vectors, strict=True):
            numbers = [float(str(number)) for number in vector]  # the shortest form of a float32
            result(as_json({"text": text, "vector": numbers} if json else numbers))
    if output is not None:
        _save(rows, encoder.config.d_model, output)


def _save(rows: "list[NDArray[np.float32]]", width: int, path: Path) -> None:
    """Writes all vectors as one array (texts, width)."""
    import numpy as np

    with whole_file(path) as beside, beside.open("wb") as file:
        np.save(file, np.concatenate([np.zeros((0, width), np.float32), *rows]))
    note(f"{sum(map(len, rows)):,} vectors of {width} numbers written to {path}")
