"""`allyouneed chat`: a conversation with a model that has learnt to reply."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from allyouneed.cli.loading import opened
from allyouneed.cli.options import SEARCH, Debug, Device, Engine, Json, Threads
from allyouneed.cli.search import given
from allyouneed.cli.talk import answer_lines, talk
from allyouneed.cli.variety import measure
from allyouneed.errors import UsageError

SAMPLING = "Sampling (the default)"
EVALUATION = "Evaluation"


def chat(
    model: Annotated[
        str, typer.Option(help="A model folder, of a model that replies.", metavar="FOLDER")
    ],
    temperature: Annotated[
        float | None,
        typer.Option(
            help="Below 1 keeps to the probable, above 1 dares more (0.8).",
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    top_k: Annotated[
        int | None,
        typer.Option(help="From the k most probable tokens only (all).", rich_help_panel=SAMPLING),
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(
            help="From the fewest that reach probability p (0.9).", rich_help_panel=SAMPLING
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The same seed draws the same (0).", rich_help_panel=SAMPLING)
    ] = None,
    beam: Annotated[
        int | None,
        typer.Option(
            help="Search instead, keeping so many hypotheses; 1 is greedy, 1000 the most.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    no_repeat_ngram: Annotated[
        int | None,
        typer.Option(
            help="No run of n tokens occurs twice in a reply (3); 0: any may.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(help="Tokens of a reply at most (80).", rich_help_panel=SEARCH)
    ] = None,
    evaluate: Annotated[
        Path | None,
        typer.Option(
            help="Measure how varied the replies to these turns are (turn, tab, reply).",
            rich_help_panel=EVALUATION,
        ),
    ] = None,
    first: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Only the first so many turns of the --evaluate file.",
            rich_help_panel=EVALUATION,
        ),
    ] = None,
    spaced: Annotated[
        bool,
        typer.Option(
            "--spaced",
            help="In the --evaluate file spaces stand around punctuation; take them out.",
            rich_help_panel=EVALUATION,
        ),
    ] = False,
    json: Json = False,
    device: Device = None,
    threads: Threads = None,
    engine: Engine = "auto",
    debug: Debug = False,
) -> None:
    """Talk to a model that was trained to reply.

    **Examples**

    - `allyouneed chat --model runs/chat/model`
    - `echo "How are you?" | allyouneed chat --model runs/chat/model`
    - `allyouneed chat --model runs/chat/model --beam 4`
    - `allyouneed chat --model runs/chat/model --evaluate dev.tsv --first 200`

    `/help` lists what can be typed beside turns, such as `/why`. Ctrl-C stops a reply, Ctrl-D
    leaves. From a pipe, each line is a turn of one conversation and gives one line; commands answer
    on standard error, and with --json as objects of their own.
    """
    from allyouneed.chat import DRAWN, SEARCHED, Chat

    drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    if beam is not None:
        for name in given(drawing):
            raise UsageError(
                f"--{name.replace('_', '-')} is for sampling, and --beam {beam} searches; leave "
                "one of them out"
            )
    if evaluate is None and (first is not None or spaced):
        raise UsageError("--first and --spaced are about the file of --evaluate; name one")
    typed = {**drawing, "beam": beam, "no_repeat_ngram": no_repeat_ngram, "max_length": max_length}
    options = replace(DRAWN if beam is None else SEARCHED, **given(typed))
    conversation = Chat(opened(model, engine, device, threads, debug), options)
    if evaluate is not None:
        measure(conversation, evaluate, first, spaced, json)
    elif sys.stdin is not None and sys.stdin.isatty() and not json:
        talk(conversation)
    elif answer_lines(conversation, json):
        raise typer.Exit(UsageError.exit_code)
