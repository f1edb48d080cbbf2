"""`allyouneed serve`: the translation service."""

import logging
import os
import sys
from typing import Any

from allyouneed.cli import serve_options as option
from allyouneed.cli.options import Debug, Engine, Threads
from allyouneed.cli.output import note
from allyouneed.errors import UsageError

MISSING = "the service needs a few more packages: pip install 'allyouneed[server]'"


def serve(
    model: option.Models = None,
    host: option.Host = None,
    port: option.Port = None,
    config: option.Config = None,
    beam: option.Beam = None,
    glossaries: option.Glossaries = None,
    suggestions: option.Suggestions = None,
    no_page: option.NoPage = None,
    look: option.Look = None,
    open_to_all: option.Open = None,
    keys: option.Keys = None,
    allow_host: option.Hosts = None,
    allow_origin: option.Origins = None,
    tls_certificate: option.TLSCertificate = None,
    tls_key: option.TLSKey = None,
    deadline: option.Deadline = None,
    max_characters: option.MaxCharacters = None,
    max_texts: option.MaxTexts = None,
    max_alternatives: option.MaxAlternatives = None,
    max_body: option.MaxBody = None,
    max_file: option.MaxFile = None,
    max_connections: option.MaxConnections = None,
    queue_tokens: option.QueueTokens = None,
    requests_per_minute: option.RequestsPerMinute = None,
    log_json: option.LogJSON = None,
    log_texts: option.LogTexts = None,
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
        "glossaries": glossaries,
        "suggestions": suggestions,
        "page": False if no_page else None,
        "look": look,
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
    from allyouneed.serving.memory import hold_little_memory

    hold_little_memory()
    # pydantic looks for plug-ins in every package that is installed; that takes up to 0.1 s.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        from allyouneed.cli.serve_look import ServedViews
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
        service = Service(
            settings, lambda: open_shelf(settings.model, settings.engine), keyring, ServedViews()
        )
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
