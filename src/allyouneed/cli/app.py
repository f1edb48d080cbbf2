"""The command `allyouneed`: its verbs, and the handling of their errors."""

import codecs
import gc
import io
import os
import sys
import traceback
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, NoReturn

from allyouneed.cli.settings import CallSettings
from allyouneed.errors import DISK_FULL, AllYouNeedError, UsageError, needs_torch
from allyouneed.pipeline import at_work

if TYPE_CHECKING:
    import typer

INTERRUPTED = 130  # the exit code that shells give to a program ended by Ctrl-C
# The threshold of the garbage collector: starting creates about this many objects, none in cycles.
GARBAGE = 50_000
COMPLETION = "_ALLYOUNEED_COMPLETE"  # set by a shell that asks for completions
BLAS_THREADS = "OPENBLAS_NUM_THREADS"
VERBS = (
    "translate",
    "look",
    "heads",
    "align",
    "tokenize",
    "train",
    "chat",
    "evaluate",
    "score",
    "predict",
    "fill",
    "encode",
    "select-vocabulary",
    "calibrate",
    "export",
    "models",
    "fetch",
    "where",
    "serve",
    "mcp",
    "import",
    "keys",
)
"""The verbs in the order of `--help`. The verb `select-vocabulary` is the function
`select_vocabulary` of `allyouneed.cli.select_vocabulary`. `import` is a Python keyword, so its
function is called `import_model`."""
GROUPS = ("keys",)  # verbs with subcommands, which a function such as `keys_verbs` returns


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits: 0 done, 1 the work failed, 2 the call was wrong."""
    gc.set_threshold(GARBAGE)
    codecs.register_error("as U+FFFD", lambda error: ("\ufffd".encode(), error.end))  # type: ignore[attr-defined]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="as U+FFFD", newline="\n")
    closed = [name for name in ("stdout", "stderr") if getattr(sys, name) is None]
    for name in closed:
        setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    settings = CallSettings()
    try:
        if "stdout" in closed:
            raise UsageError("standard output is closed; leave it open, or redirect it into a file")
        given = list(sys.argv[1:] if arguments is None else arguments)
        with needs_torch(f"`allyouneed {given[0] if given else ''}`"):
            code = run(given, settings)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of the output has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        if settings.debug:
            traceback.print_exc()
        sys.stderr.write(f"error: {explain(error)}\n")
        code = getattr(error, "exit_code", 1)
    leave(code)


def leave(code: int) -> NoReturn:
    """Ends the process. It does not wait for threads that read input or translate a batch whose
    results are no longer needed."""
    if at_work():
        with suppress(OSError):
            sys.stderr.flush()
            sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def run(arguments: list[str], settings: CallSettings) -> int:
    """Runs one call of the command line and returns its exit code. Raises the errors of the
    verb."""
    if arguments[:1] == ["translate"] and not any(text.startswith("-") for text in arguments):
        # Without options there is nothing to parse, and setting up the parser would take longer
        # than translating.
        import_numpy()
        from allyouneed.cli.translating import translate_all

        translate_all(arguments[1:])
        return 0
    import typer

    called = arguments[:1] if arguments and arguments[0] in VERBS else VERBS
    command = typer.main.get_command(build(called))
    if COMPLETION in os.environ:
        command.main(prog_name="allyouneed")
    try:
        with command.make_context("allyouneed", arguments or ["--help"], obj=settings) as context:
            command.invoke(context)
    except typer.Abort as ended:
        raise KeyboardInterrupt from ended
    except typer.Exit as ended:
        return ended.exit_code
    return 0


def import_numpy() -> None:
    """Imports numpy without starting the threads of its BLAS. Translating does not need them, and
    to start them takes a sixth of the processor time of a command that translates one sentence."""
    if BLAS_THREADS not in os.environ and "numpy" not in sys.modules:
        os.environ[BLAS_THREADS] = "1"
        try:
            import numpy as np  # noqa: F401
        finally:
            del os.environ[BLAS_THREADS]  # numpy has read it; torch reads it, too


def build(verbs: Iterable[str] = VERBS) -> "typer.Typer":
    """The command line with these verbs. Other verbs are not imported, which keeps a start
    short."""
    import typer

    from allyouneed.cli.about import allyouneed
    from allyouneed.cli.option_groups import with_single_options

    app = typer.Typer(
        rich_markup_mode="markdown", context_settings={"help_option_names": ["-h", "--help"]}
    )
    app.callback()(allyouneed)
    for verb in verbs:
        name = verb.replace("-", "_") + ("_model" if iskeyword(verb) else "")
        module: Any = import_module(f"allyouneed.cli.{name}")
        if verb in GROUPS:
            app.add_typer(getattr(module, f"{name}_verbs")(), name=verb)
        else:
            app.command(verb)(with_single_options(getattr(module, name)))
    return app


def explain(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, AllYouNeedError):
        text = str(error)
    elif hasattr(error, "format_message"):  # typer's own, about the call
        text = f"{error.format_message()} ({_remedy(error)})"
    elif isinstance(error, OSError) and error.errno in DISK_FULL:
        text = (
            f"{error.filename or 'the output'}: {error.strerror}; free some space, then try again"
        )
    elif isinstance(error, OSError) and error.filename:
        text = f"{error.filename}: {error.strerror}"
    else:
        text = f"{type(error).__name__}: {error}; --debug shows the place"
    return " ".join(text.split())


def _remedy(error: Exception) -> str:
    """The remedy for a wrong call. A text that begins with a dash is read as an option."""
    option = getattr(error, "option_name", None)
    if isinstance(option, str) and (" " in option or not option.startswith("--")):
        return 'put two dashes before a text that begins with a dash: -- "-5 degrees"'
    return "--help lists the verbs and options"
