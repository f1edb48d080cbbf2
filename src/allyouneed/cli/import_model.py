"""`allyouneed import`: a model of another toolkit becomes a model folder."""

from pathlib import Path
from typing import Annotated

import typer

from allyouneed.cli.options import Debug
from allyouneed.cli.output import note
from allyouneed.errors import UsageError


def import_model(
    source: Annotated[Path, typer.Argument(help="What the other toolkit saved.")],
    into: Annotated[Path, typer.Option(help="The model folder to write; it must not be in use.")],
    from_: Annotated[
        str | None,
        typer.Option("--from", help="The format; without it, told by what SOURCE is: marian."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Make a model folder of another toolkit's model, to translate with it here.

    **Examples**

    - `allyouneed import opus-mt-en-fr --into en-fr`
    - `allyouneed translate --model ./en-fr "A man rides a bike."`

    marian is a folder as `MarianMTModel.save_pretrained` writes it and OPUS-MT is handed out:
    config.json, the weights, vocab.json, source.spm, target.spm. Nothing is fetched.
    """
    from allyouneed.interop.formats import FORMATS, format_of

    if from_ is not None and from_ not in FORMATS:
        raise UsageError(f"--from {from_} is not one of {', '.join(FORMATS)}")
    options: dict[str, object] = {}
    name = from_ or format_of(source)
    for option, value in options.items():
        if value is not None and option not in FORMATS[name].options:
            raise UsageError(f"--{option} says nothing about a model from {name}; leave it out")
    given = {option: options[option] for option in FORMATS[name].options}
    folder = FORMATS[name].read(source, into, note=note, **given)
    note(f"written to {folder.path}; translate with it: --model {folder.path}")
