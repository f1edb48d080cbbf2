"""`allyouneed serve`: the translation service."""

import logging
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from allyouneed.cli.options import RUNNING, Debug, Engine, Threads
from allyouneed.cli.output import note
from allyouneed.errors import UsageError

ACCESS = "Who may use it"
LIMITS = "Limits"
MISSING = "the service needs a few more packages: pip install 'allyouneed[server]'"


def _variable(name: str) -> str:
    return f"ALLYOUNEED_{name.upper()}"


def serve(
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A bundled model or a model folder; again for each further one. A folder that "
            "does not name its languages: en-fr=FOLDER. Without it: all bundled models.",
            metavar="NAME|FOLDER",
            envvar=_variable("model"),
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            help="The address to listen at (127.0.0.1: this machine alone); 0.0.0.0 is all.",
            envvar=_variable("host"),
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(help="Its port (5000); 0 is any free one.", envvar=_variable("port")),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            help="A TOML file with these options as keys: max_characters = 5000.",
            metavar="FILE",
            envvar=_variable("config"),
        ),
    ] = None,
    beam: Annotated[
        int | None,
        typer.Option(help="Hypotheses kept at each step (4).", envvar=_variable("beam")),
    ] = None,
    no_page: Annotated[
        bool | None,
        typer.Option("--no-page", help="APIs alone.", envvar=_variable("no_page")),
    ] = None,
    open_to_all: Annotated[
        bool | None,
        typer.Option(
            "--open",
            help="Let everybody in who reaches the address, without a key.",
            rich_help_panel=ACCESS,
            envvar=_variable("open"),
        ),
    ] = None,
    keys: Annotated[
        Path | None,
        typer.Option(
            help="The file of keys, as `allyouneed keys` makes it.",
            metavar="FILE",
            rich_help_panel=ACCESS,
            envvar=_variable("keys"),
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="A host name that the service goes by, such as behind a proxy.",
            rich_help_panel=ACCESS,
            envvar=_variable("hosts"),
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            help="Another site whose pages may ask: https://example.org.",
            rich_help_panel=ACCESS,
            envvar=_variable("origins"),
        ),
    ] = None,
    tls_certificate: Annotated[
        Path | None,
        typer.Option(
            help="A certificate (PEM), for https.",
            metavar="FILE",
            rich_help_panel=ACCESS,
            envvar=_variable("tls_certificate"),
        ),
    ] = None,
    tls_key: Annotated[
        Path | None,
        typer.Option(
            help="Its key (PEM).",
            metavar="FILE",
            rich_help_panel=ACCESS,
            envvar=_variable("tls_key"),
        ),
    ] = None,
    deadline: Annotated[
        float | None,
        typer.Option(
            help="Seconds that a request may take (30), where its header Request-Timeout does "
            "not name others.",
            rich_help_panel=LIMITS,
            envvar=_variable("deadline"),
        ),
    ] = None,
    max_characters: Annotated[
        int | None,
        typer.Option(
            help="Of a request (500,000).",
            rich_help_panel=LIMITS,
            envvar=_variable("max_characters"),
        ),
    ] = None,
    max_texts: Annotated[
        int | None,
        typer.Option(
            help="Of a request (10,000).", rich_help_panel=LIMITS, envvar=_variable("max_texts")
        ),
    ] = None,
    max_alternatives: Annotated[
        int | None,
        typer.Option(
            help="Of a text (10).", rich_help_panel=LIMITS, envvar=_variable("max_alternatives")
        ),
    ] = None,
    max_body: Annotated[
        int | None,
        typer.Option(
            help="Bytes of a request (4 MiB).",
            rich_help_panel=LIMITS,
            envvar=_variable("max_body"),
        ),
    ] = None,
    max_file: Annotated[
        int | None,
        typer.Option(
            help="Bytes of a document (20 MiB).",
            rich_help_panel=LIMITS,
            envvar=_variable("max_file"),
        ),
    ] = None,
    max_connections: Annotated[
        int | None,
        typer.Option(
            help="At a time (4096).", rich_help_panel=LIMITS, envvar=_variable("max_connections")
        ),
    ] = None,
    queue_tokens: Annotated[
        int | None,
        typer.Option(
            help="Tokens that may wait (1,000,000).",
            rich_help_panel=LIMITS,
            envvar=_variable("queue_tokens"),
        ),
    ] = None,
    requests_per_minute: Annotated[
        int | None,
        typer.Option(
            help="Of a client without a key (0: any number).",
            rich_help_panel=LIMITS,
            envvar=_variable("requests_per_minute"),
        ),
    ] = None,
    log_json: Annotated[
        bool | None,
        typer.Option(
            "--log-json",
            help="A JSON object for each request, on standard error.",
            rich_help_panel=RUNNING,
            envvar=_variable("log_json"),
        ),
    ] = None,
    log_texts: Annotated[
        bool | None,
        typer.Option(
            "--log-texts",
            help="Tracebacks of errors in the log; these may show clients' texts.",
            rich_help_panel=RUNNING,
            envvar=_variable("log_texts"),
        ),
    ] = None,
    threads: Threads = None,
    engine: Engine = "auto",
    debug: Debug = False,
) -> None:
    """Serve translations over HTTP: a page, LibreTranslate's API, DeepL's API, and more.

    **Examples**

    - `allyouneed serve`
    - `allyouneed serve --model en-de --model runs/my-run/model --port 8080`
    - `allyouneed keys add weblate && allyouneed serve --host 0.0.0.0`
    - `curl -d q='Good morning.' -d source=en -d target=de http://127.0.0.1:5000/translate`

    The page is at http://127.0.0.1:5000 and the description of the APIs at /openapi.json. Programs
    made for LibreTranslate or DeepL take the same address as their server. Sentences of all
    requests are translated together; a long request does not hold up a short one. SIGTERM ends
    what runs and then the service; SIGHUP reads models and keys anew. Every option can stand in
    the file of --config and in a variable, ALLYOUNEED_PORT for --port; an option counts more than
    a variable, a variable more than the file.
    """
    given: dict[str, Any] = {
        "model": model or None,
        "host": host,
        "port": port,
        "beam": beam,
        "page": False if no_page else None,
        "open": open_to_all,
        "keys": keys,
        "hosts": allow_host or None,
        "origins": allow_origin or None,
        "tls_certificate": tls_certificate,
        "tls_key": tls_key,
        "deadline": deadline,
        "max_characters": max_characters,
        "max_texts": max_texts,
        "max_alternatives": max_alternatives,
        "max_body": max_body,
        "max_file": max_file,
        "max_connections": max_connections,
        "queue_tokens": queue_tokens,
        "requests_per_minute": requests_per_minute,
        "log_json": log_json,
        "log_texts": log_texts,
        "threads": threads,
        "engine": None if engine == "auto" else engine,
    }
    try:
        from allyouneed.serving.app import Service
        from allyouneed.serving.server import address_of, open_socket
        from allyouneed.serving.server import serve as run
    except ModuleNotFoundError as error:
        raise UsageError(f"{MISSING} ({error.name} is missing)") from error
    from allyouneed.serving.keys import KeyFile, Keyring, default_path
    from allyouneed.serving.logs import log_to
    from allyouneed.serving.settings import resolve
    from allyouneed.serving.shelf import open_shelf

    settings = resolve(given, config)
    keyring = Keyring(
        KeyFile(settings.keys or default_path()), settings.open, settings.requests_per_minute
    )
    if not (settings.loopback or settings.open or keyring.needed):
        raise UsageError(
            f"host={settings.host} can be reached from other machines, and there is no key; make "
            "one with `allyouneed keys add NAME`, or let everybody in with --open"
        )
    log_to(sys.stderr, settings.log_json)
    opened = open_socket(settings)
    with opened:
        service = Service(settings, lambda: open_shelf(settings.model, settings.engine), keyring)
        languages = ", ".join(f"{s} to {t}" for s, t in sorted(service.desk.shelf.models))
        if debug:
            for shelved in service.desk.shelf.models.values():
                note(f"{shelved.name}: {shelved.translator.engine.description}")

        def tell() -> None:
            message = f"serving {languages} at {address_of(settings, opened)}"
            if settings.log_json:
                logging.getLogger("allyouneed.serving").info(message)
            else:
                note(f"{message} until Ctrl-C")

        run(service, opened, tell)
