"""The text of `allyouneed --help` above the verbs, and `--version`."""

from typing import Annotated

import typer

from allyouneed import __version__


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
