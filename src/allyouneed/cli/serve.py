"""`allyouneed serve`: the translation service."""

import logging
import os
import signal
import sys
from typing import TYPE_CHECKING

import typer

from allyouneed.cli.output import note
from allyouneed.cli.serve_options import (
    Access,
    Config,
    Limits,
    Logs,
    Offer,
    Running,
    given,
    variables,
)
from allyouneed.cli.settings import CallSettings
from allyouneed.errors import UsageError

if TYPE_CHECKING:
    from socket import socket

    from allyouneed.serving.keys import Keyring
    from allyouneed.serving.settings import Settings

MISSING = "the service needs a few more packages: pip install 'allyouneed[server]'"


def serve(
    context: typer.Context,
    *,
    offer: Offer,
    config: Config = None,
    access: Access,
    limits: Limits,
    logs: Logs,
    running: Running,
) -> None:
    """Serve translations over HTTP: a page, LibreTranslate's API, DeepL's API, and more.

    **Examples**

    - `allyouneed serve`
    - `allyouneed serve --model en-de --model runs/my-run/model --port 8080`
    - `allyouneed keys add weblate && allyouneed serve --host 0.0.0.0`
    - `curl -d q='Good morning.' -d source=en -d target=de http://127.0.0.1:5000/translate`

    The page is at http://127.0.0.1:5000 and the description of the APIs at /openapi.json. Programs
    made for LibreTranslate or DeepL take the same address as their server. Sentences of all
    requests are translated together; a long request does not hold up a short one. After SIGTERM
    the service finishes running requests, then ends. After SIGHUP it reads models and keys again.
    Each option can also be a key in the file of --config (`max_characters = 5000`) or an
    environment variable (`ALLYOUNEED_MAX_CHARACTERS` for --max-characters). An option on the
    command line overrides the variable, and a variable overrides the file.
    """
    _prepare_the_process()
    try:
        from allyouneed.serving.server import open_socket
    except ModuleNotFoundError as error:
        raise UsageError(f"{MISSING} ({error.name} is missing)") from error
    from allyouneed.serving.logs import log_to
    from allyouneed.serving.settings import resolve

    options = given(context, offer, access, limits, logs, running)
    settings = resolve(options, config, variables(context))
    context.ensure_object(CallSettings).debug = settings.debug
    keyring = _keyring(settings)
    log_to(sys.stderr, settings.log_json)
    settings = _with_possible_connections(settings)
    with open_socket(settings) as opened:
        try:
            _run(settings, keyring, opened)
        except KeyboardInterrupt:  # while models are loaded; one more must not wait for that
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            raise


def _prepare_the_process() -> None:
    """Sets the limits of memory and the variables that have to be set before other packages are
    imported."""
    from allyouneed.serving.memory import hold_little_memory

    hold_little_memory()
    # pydantic looks for plug-ins in every package that is installed; that takes up to 0.1 s.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def _keyring(settings: "Settings") -> "Keyring":
    """The keys that clients need.

    Raises:
        UsageError: other machines can reach the service, and there is no key.
    """
    from allyouneed.serving.keys import KeyFile, Keyring, default_path

    keyring = Keyring(
        KeyFile(settings.keys or default_path()), settings.open, settings.requests_per_minute
    )
    if not (settings.loopback or settings.open or keyring.needed):
        raise UsageError(
            f"host={settings.host} can be reached from other machines, and there is no key; make "
            "one with `allyouneed keys add NAME`, or let everybody in with --open"
        )
    return keyring


def _with_possible_connections(settings: "Settings") -> "Settings":
    """The settings, with no more connections than the system lets this process have."""
    from allyouneed.serving.descriptors import connections_possible

    wanted, possible = settings.max_connections, connections_possible(settings.max_connections)
    if possible < wanted:
        _say(
            settings,
            f"{possible} connections can be open at a time, not {wanted}, because the system lets "
            "this process open no more files; to have more, raise the hard limit of `ulimit -n`, "
            "or LimitNOFILE of a systemd unit",
        )
    return settings.model_copy(update={"max_connections": possible})


def _say(settings: "Settings", message: str) -> None:
    if settings.log_json:
        logging.getLogger("allyouneed.serving").info(message)
    else:
        note(message)


def _run(settings: "Settings", keyring: "Keyring", opened: "socket") -> None:
    """Serves until the process is told to end."""
    from allyouneed.cli.serve_look import ServedViews
    from allyouneed.serving.app import Service
    from allyouneed.serving.server import address_of
    from allyouneed.serving.server import serve as run
    from allyouneed.serving.shelf import open_shelf

    service = Service(
        settings, lambda: open_shelf(settings.model, settings.engine), keyring, ServedViews()
    )
    models = service.desk.shelf.models
    languages = ", ".join(f"{source} to {target}" for source, target in sorted(models))
    if settings.debug:
        for shelved in models.values():
            note(f"{shelved.name}: {shelved.translator.engine.description}")

    def tell() -> None:
        to = f" to clients with a key of {keyring.file.path}" if keyring.needed else ""
        until = "" if settings.log_json else " until Ctrl-C"
        _say(settings, f"serving {languages} at {address_of(settings, opened)}{to}{until}")

    run(service, opened, tell)
