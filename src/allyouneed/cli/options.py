"""Options that mean the same in every verb."""

from pathlib import Path
from typing import Annotated

import typer

from allyouneed.cli.loading import DEFAULT_MODEL
from allyouneed.cli.settings import Settings

__all__ = ["DEFAULT_MODEL"]  # the default of `Model`


def _remember_debug(context: typer.Context, value: bool) -> bool:
    if value:
        context.find_object(Settings).debug = True  # type: ignore[union-attr]
    return value


RUNNING = "How it runs"
SEARCH = "Search"

Model = Annotated[
    str,
    typer.Option(
        help="A model by name (`allyouneed models` lists them), or a model folder.",
        metavar="NAME|FOLDER",
    ),
]
EncoderFolder = Annotated[
    str | None, typer.Option("--model", help="A folder of an encoder-only model.", metavar="FOLDER")
]
Beam = Annotated[
    int | None,
    typer.Option(
        help="Hypotheses kept at each step (4); 1 is greedy, 1000 the most.", rich_help_panel=SEARCH
    ),
]
LengthPenalty = Annotated[
    float | None,
    typer.Option(help="Alpha of Wu et al. 2016 (0.6); 0 is none.", rich_help_panel=SEARCH),
]
Device = Annotated[
    str | None,
    typer.Option(help="Where to compute: cpu, cuda, cuda:1, ...", rich_help_panel=RUNNING),
]
Threads = Annotated[
    int | None,
    typer.Option(help="Cores to use; without it all of them.", min=1, rich_help_panel=RUNNING),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="LANGUAGE",
        help="The texts' language, for a model of several: de, fr, ...",
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="LANGUAGE|FILE",
        help="The language to translate into, for a model of several; or where the translation of "
        "a document, or of a folder of them, is written.",
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        help="What runs the model: core (the paper's code, on any device); cpu-float32 (the same "
        "numbers, faster); cpu-int8 (the fastest on a CPU, now and then another word); cuda. "
        "auto takes the fastest for the device, and --debug says which that is.",
        rich_help_panel=RUNNING,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        help="Write the results into this file, whole or not at all, instead of printing them.",
        metavar="FILE",
        rich_help_panel=RUNNING,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="One JSON object per line.", rich_help_panel=RUNNING)
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        help="Say what runs the model, and show the traceback of an error.",
        callback=_remember_debug,
        is_eager=True,
        rich_help_panel=RUNNING,
    ),
]
