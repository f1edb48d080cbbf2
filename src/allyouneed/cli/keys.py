"""`allyouneed keys`: manages the keys of the service."""

import time
from pathlib import Path
from typing import Annotated

import typer

from allyouneed.cli.options import Debug, Json
from allyouneed.cli.output import as_json, note, result

KeysFile = Annotated[
    Path | None,
    typer.Option(
        "--keys", help="The file of keys (~/.local/share/allyouneed/keys.sqlite).", metavar="FILE"
    ),
]


def keys_verbs() -> typer.Typer:
    """The subcommands of `keys`."""
    verbs = typer.Typer(
        add_completion=False,
        rich_markup_mode="markdown",
        help="Make, list and remove the keys of `allyouneed serve`.",
        no_args_is_help=True,
    )
    verbs.command()(add)
    verbs.command("list")(list_keys)
    verbs.command()(remove)
    return verbs


def add(
    name: Annotated[str, typer.Argument(help="What the key is for, such as weblate.")],
    characters: Annotated[
        int | None, typer.Option(help="Largest number of characters per month.", min=1)
    ] = None,
    requests: Annotated[
        int | None, typer.Option(help="Largest number of requests per minute.", min=1)
    ] = None,
    file: KeysFile = None,
    debug: Debug = False,
) -> None:
    """Make a key and print it. It is shown only once, because the file holds its hash only.

    **Examples**

    - `allyouneed keys add weblate`
    - `allyouneed keys add guests --characters 100000 --requests 20`

    Clients of LibreTranslate's API send the key as `api_key`, clients of DeepL's API as their key,
    others as `Authorization: Bearer KEY`. A running service accepts it after a few seconds.
    """
    from allyouneed.serving.keys import KeyFile, default_path

    result(KeyFile(file or default_path()).add(name, characters, requests))


def list_keys(file: KeysFile = None, json: Json = False, debug: Debug = False) -> None:
    """List the keys: name, date, and this month's characters and requests."""
    from allyouneed.serving.keys import KeyFile, default_path

    path = file or default_path()
    found = KeyFile(path).keys()
    if not found and not json:
        note(f"there are no keys in {path}")
    for key in found.values():
        if json:
            result(
                as_json(
                    {
                        "name": key.name,
                        "created": key.created,
                        "used_characters": key.used_characters,
                        "characters": key.characters,
                        "used_requests": key.used_requests,
                        "requests_per_minute": key.requests,
                    }
                )
            )
            continue
        made = time.strftime("%Y-%m-%d", time.localtime(key.created))
        most = f" of {key.characters:,}" if key.characters else ""
        result(
            f"{key.name}\t{made}\t{key.used_characters:,}{most} characters\t"
            f"{key.used_requests:,} requests"
        )


def remove(
    name: Annotated[str, typer.Argument(help="The name that the key was made with.")],
    file: KeysFile = None,
    debug: Debug = False,
) -> None:
    """Remove a key; a running service refuses it after a few seconds."""
    from allyouneed.serving.keys import KeyFile, default_path

    KeyFile(file or default_path()).remove(name)
    note(f"the key {name!r} is removed")
