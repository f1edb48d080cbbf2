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
        help="Hypotheses kept at each step (4; 1 is greedy, at most 1000).", rich_help_panel=SEARCH
    ),
]
LengthPenalty = Annotated[
    float | None,
    typer.Option(help="Alpha of Wu et al. 2016 (0.6); 0 is no penalty.", rich_help_panel=SEARCH),
]
Device = Annotated[
    str | None,
    typer.Option(help="The device: cpu, cuda, cuda:1, ...", rich_help_panel=RUNNING),
]
Threads = Annotated[
    int | None,
    typer.Option(help="Number of cores; by default all.", min=1, rich_help_panel=RUNNING),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="LANGUAGE",
        help="The texts' language, for a model of several languages: de, fr, ...",
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="LANGUAGE|FILE",
        help="The target language, for a model of several languages; or the file or folder to "
        "write translated documents to.",
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        help="The engine that runs the model: core (the paper's code, any device), cpu-float32 "
        "(the same results, faster), cpu-int8 (the fastest on a CPU; a word may differ), cuda. "
        "auto chooses the fastest for the device; --debug names it.",
        rich_help_panel=RUNNING,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        help="Write the results to this file instead of printing them. It appears only when "
        "complete.",
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
        help="Name the engine that runs the model, and show the traceback of an error.",
        callback=_remember_debug,
        is_eager=True,
        rich_help_panel=RUNNING,
    ),
]
