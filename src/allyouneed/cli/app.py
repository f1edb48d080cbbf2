"""The command `allyouneed`: its verbs, and what happens when one of them fails."""

import codecs
import io
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, NoReturn

import typer

from allyouneed import __version__
from allyouneed.cli.chat import chat
from allyouneed.cli.encode import encode
from allyouneed.cli.evaluate import evaluate
from allyouneed.cli.export import export
from allyouneed.cli.fetch import fetch
from allyouneed.cli.fill import fill
from allyouneed.cli.heads import heads
from allyouneed.cli.import_model import import_model
from allyouneed.cli.keys import keys_verbs
from allyouneed.cli.look import look
from allyouneed.cli.options import Settings
from allyouneed.cli.predict import predict
from allyouneed.cli.score import score
from allyouneed.cli.select_vocabulary import select_vocabulary
from allyouneed.cli.serve import serve
from allyouneed.cli.tokenize import tokenize
from allyouneed.cli.train import train
from allyouneed.cli.translate import translate
from allyouneed.cli.where import where
from allyouneed.errors import DISK_FULL, AllYouNeedError, UsageError, needs_torch
from allyouneed.pipeline import at_work

INTERRUPTED = 130  # as a shell reports a program that was ended by Ctrl-C


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits: 0 done, 1 the work failed, 2 the call was wrong."""
    codecs.register_error("as U+FFFD", lambda error: ("\ufffd".encode(), error.end))  # type: ignore[attr-defined]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="as U+FFFD", newline="\n")
    closed = [name for name in ("stdout", "stderr") if getattr(sys, name) is None]
    for name in closed:
        setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    settings = Settings()
    try:
        if "stdout" in closed:
            raise UsageError("standard output is closed; leave it open, or redirect it into a file")
        given = list(sys.argv[1:] if arguments is None else arguments)
        with needs_torch(f"`allyouneed {given[0] if given else ''}`"):
            code = run(given, settings)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        if settings.debug:
            traceback.print_exc()
        sys.stderr.write(f"error: {explain(error)}\n")
        code = getattr(error, "exit_code", 1)
    leave(code)


def leave(code: int) -> NoReturn:
    """Ends the process; threads that wait for input, or for the end of a batch whose translations
    nobody wants any more, are not waited for."""
    if at_work():
        with suppress(OSError):
            sys.stderr.flush()
            sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def run(arguments: list[str], settings: Settings) -> int:
    """One call of the command line; its exit code. Errors are raised."""
    command = typer.main.get_command(build())
    try:
        with command.make_context("allyouneed", arguments or ["--help"], obj=settings) as context:
            command.invoke(context)
    except typer.Exit as ended:
        return ended.exit_code
    return 0


def build() -> typer.Typer:
    """The verbs, ready to be called."""
    app = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    app.callback()(allyouneed)
    for verb in (
        translate,
        look,
        heads,
        tokenize,
        train,
        chat,
        evaluate,
        score,
        predict,
        fill,
        encode,
        select_vocabulary,
        export,
        fetch,
        where,
        serve,
    ):
        app.command()(verb)
    app.command("import")(import_model)  # no name of a function
    app.add_typer(keys_verbs(), name="keys")
    return app


def explain(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, AllYouNeedError):
        text = str(error)
    elif hasattr(error, "format_message"):  # typer's own, about the call
        text = f"{error.format_message()} (--help shows what there is)"
    elif isinstance(error, OSError) and error.errno in DISK_FULL:
        text = f"{error.filename or 'the output'}: {error.strerror}; make room, then run it again"
    elif isinstance(error, OSError) and error.filename:
        text = f"{error.filename}: {error.strerror}"
    else:
        text = f"{type(error).__name__}: {error}; --debug shows where"
    return " ".join(text.split())


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"allyouneed {__version__}")
        raise typer.Exit


def allyouneed(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """The Transformer of "Attention Is All You Need": translate with it, train it, read it.

    **Examples**

    - `allyouneed translate "A man rides a bike."`
    - `allyouneed train multi30k`
    - `allyouneed where "label smoothing"`

    Each verb has examples of its own: `allyouneed VERB --help`
    """
