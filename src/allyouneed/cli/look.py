"""`allyouneed look`: the live view, in a browser or as a file."""

import traceback
import webbrowser
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

from allyouneed.cli.bar import bar
from allyouneed.cli.options import DEFAULT_MODEL, RUNNING, Model, RunningOnCore
from allyouneed.cli.output import note, result
from allyouneed.errors import UsageError

if TYPE_CHECKING:
    from allyouneed.widget.page import Start
    from allyouneed.widget.session import Session

EXAMPLE = "The man did it, said the boy."
SWITCHING = "switching off each single head"


def look(
    *,
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="A sentence, or two to compare, each in quotes."),
    ] = None,
    model: Model = DEFAULT_MODEL,
    second_model: Annotated[
        str | None,
        typer.Option(help="Another model to compare with.", metavar="NAME|FOLDER"),
    ] = None,
    beam: Annotated[int, typer.Option(help="Hypotheses kept at each step.", min=1)] = 4,
    html: Annotated[
        Path | None,
        typer.Option(help="Save the view as this file, instead of opening it.", metavar="FILE"),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            help="Port of localhost; 0 is any free port.",
            min=0,
            max=65535,
            rich_help_panel=RUNNING,
        ),
    ] = 0,
    no_browser: Annotated[
        bool,
        typer.Option("--no-browser", help="Only print the address.", rich_help_panel=RUNNING),
    ] = False,
    running: RunningOnCore,
) -> None:
    """Look inside a translation: attention, beam, layers; switch heads off and see what changes.

    **Examples**

    - `allyouneed look "I am looking for a place to eat."`
    - `allyouneed look "The man did it, said the boy." "The man said the boy did it."`
    - `allyouneed look --second-model runs/my-run/model "A man rides a bike."`
    - `allyouneed look --html bike.html "A man rides a bike."`

    The view is a web page that only this machine can open, until Ctrl-C. A saved file needs no
    model and no network. It holds precomputed results, among them each single head switched off.
    """
    from allyouneed.widget.page import Start
    from allyouneed.widget.session import Session

    for text in texts or ():
        if not text.strip():
            raise UsageError(f"{text!r} has no words to translate; give a sentence in quotes")
    names = [model] if second_model is None else [model, second_model]
    start = Start.of(texts or [EXAMPLE], beam, len(names))
    if html is not None and (port or no_browser):
        raise UsageError("--port and --no-browser do not apply to --html; leave them out")
    translators = [running.translator(name) for name in names]
    on_failure = traceback.print_exception if running.debug else lambda error: None
    session = Session(translators, names, on_failure)
    if html is not None:
        _save(session, start, html)
    else:
        _serve(session, start, port, not no_browser)


def _save(session: "Session", start: "Start", path: Path) -> None:
    from allyouneed.widget.saved import save

    with bar(SWITCHING) as show:
        save(session, start, path, lambda done, total: show(SWITCHING, done, total))
    note(f"{path.stat().st_size / 1e6:.1f} MB; open it in any browser")
    result(str(path))


def _serve(session: "Session", start: "Start", port: int, browser: bool) -> None:
    from allyouneed.widget.server import PageServer

    with PageServer(session.ask, start, port) as server:
        note(f"the view is at {server.address}; Ctrl-C ends it")
        if browser:
            Thread(target=_open, args=(server.address,), daemon=True).start()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            note("closed")


def _open(address: str) -> None:
    if not webbrowser.open(address):
        note("no browser could be opened; open the address yourself")
