"""`allyouneed chat`: a conversation with a model that has learnt to reply."""

import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from allyouneed.cli.options import SEARCH, Json, Running
from allyouneed.cli.search import given
from allyouneed.cli.talk import answer_lines, talk
from allyouneed.cli.variety import measure
from allyouneed.errors import UsageError

SAMPLING = "Sampling (the default)"
EVALUATION = "Evaluation"


@dataclass(frozen=True, kw_only=True)
class ReplySampling:
    """How replies are drawn."""

    temperature: Annotated[
        float | None,
        typer.Option(
            help="Below 1 prefers probable tokens, above 1 gives more variety (0.8).",
            rich_help_panel=SAMPLING,
        ),
    ] = None
    top_k: Annotated[
        int | None,
        typer.Option(
            help="Draw from the k most probable tokens only (all).", rich_help_panel=SAMPLING
        ),
    ] = None
    top_p: Annotated[
        float | None,
        typer.Option(
            help="Draw from the fewest tokens with probability p together (0.9).",
            rich_help_panel=SAMPLING,
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(help="The same seed gives the same replies (0).", rich_help_panel=SAMPLING),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ReplySearch:
    """How replies are searched for, and their limits."""

    beam: Annotated[
        int | None,
        typer.Option(
            help="Beam search with this many hypotheses instead of sampling (1 is greedy; at "
            "most 1000).",
            rich_help_panel=SEARCH,
        ),
    ] = None
    no_repeat_ngram: Annotated[
        int | None,
        typer.Option(
            help="No sequence of n tokens occurs twice in a reply (3); 0 allows all.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    max_length: Annotated[
        int | None,
        typer.Option(help="Largest number of tokens of a reply (80).", rich_help_panel=SEARCH),
    ] = None


@dataclass(frozen=True, kw_only=True)
class VarietyFile:
    """A file on which the variety of replies is measured.

    Raises:
        UsageError: the other options are given without a file.
    """

    evaluate: Annotated[
        Path | None,
        typer.Option(
            help="Measure how varied the replies to these turns are (turn, tab, reply).",
            rich_help_panel=EVALUATION,
        ),
    ] = None
    first: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Use only this many turns from the start of the --evaluate file.",
            rich_help_panel=EVALUATION,
        ),
    ] = None
    spaced: Annotated[
        bool,
        typer.Option(
            "--spaced",
            help="Remove the spaces around punctuation in the --evaluate file.",
            rich_help_panel=EVALUATION,
        ),
    ] = False

    def __post_init__(self) -> None:
        if self.evaluate is None and (self.first is not None or self.spaced):
            raise UsageError("--first and --spaced need --evaluate FILE; add it, or leave them out")


def chat(
    *,
    model: Annotated[
        str, typer.Option(help="A model folder, of a model that replies.", metavar="FOLDER")
    ],
    sampling: ReplySampling,
    search: ReplySearch,
    evaluation: VarietyFile,
    json: Json = False,
    running: Running,
) -> None:
    """Talk to a model that was trained to reply.

    **Examples**

    - `allyouneed chat --model runs/chat/model`
    - `echo "How are you?" | allyouneed chat --model runs/chat/model`
    - `allyouneed chat --model runs/chat/model --beam 4`
    - `allyouneed chat --model runs/chat/model --evaluate dev.tsv --first 200`

    `/help` lists the commands, such as `/why`. Ctrl-C stops a reply, Ctrl-D leaves. In a pipe, each
    line is a turn of one conversation and gives one line of output. Commands answer on standard
    error; with --json they answer as JSON objects of their own.
    """
    from allyouneed.chat import DRAWN, SEARCHED, Chat

    if search.beam is not None:
        for name in given(asdict(sampling)):
            raise UsageError(
                f"--{name.replace('_', '-')} is for sampling, but --beam {search.beam} asks for "
                "beam search; leave one of them out"
            )
    typed = given(asdict(sampling) | asdict(search))
    options = replace(DRAWN if search.beam is None else SEARCHED, **typed)
    conversation = Chat(running.translator(model), options)
    if evaluation.evaluate is not None:
        measure(conversation, evaluation.evaluate, evaluation.first, evaluation.spaced, json)
    elif sys.stdin is not None and sys.stdin.isatty() and not json:
        talk(conversation)
    elif answer_lines(conversation, json):
        raise typer.Exit(UsageError.exit_code)
