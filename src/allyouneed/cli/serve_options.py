"""The options of `allyouneed serve`, in groups. An environment variable can set each of them, too.

Each field has the same name as its key in serve.toml and its field in `serving.settings.Settings`.
"""

import os
from copy import copy
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from allyouneed.cli import options
from allyouneed.cli.options import RUNNING

ACCESS = "Who may use it"
LIMITS = "Limits"


def _option(key: str, help: str, panel: str | None = None, flag: str = "", **more: Any) -> Any:
    """An option for this key of serve.toml; `flag` where typer would make another of the key.
    `earlier` in `more` is a key whose variable is still read."""
    named = [flag] if flag else []
    earlier = [_variable(more.pop("earlier"))] if "earlier" in more else []
    variables = [_variable(key), *earlier] if earlier else _variable(key)
    return typer.Option(*named, help=help, rich_help_panel=panel, envvar=variables, **more)


def _variable(key: str) -> str:
    return f"ALLYOUNEED_{key.upper()}"


def _as_elsewhere(key: str, option: Any) -> Any:
    """An option of other verbs, which has a variable here."""
    found = copy(option.__metadata__[0])
    found.envvar = _variable(key)
    return found


Models = Annotated[
    list[str] | None,
    _option(
        "model",
        "A bundled model or a model folder; repeatable. A folder that does not name its "
        "languages: en-fr=FOLDER. Without this option: all bundled models.",
        metavar="NAME|FOLDER",
    ),
]
Beam = Annotated[int | None, _option("beam", "Hypotheses kept at each step (4).")]
Config = Annotated[
    Path | None,
    _option(
        "config",
        "A TOML file with these options as keys: max_characters = 5000.",
        metavar="FILE",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Offer:
    """The models that are served, and the address."""

    model: Models = None
    host: Annotated[
        str | None,
        _option("host", "The address to listen at (127.0.0.1: only this machine). 0.0.0.0: all."),
    ] = None
    port: Annotated[int | None, _option("port", "The port to listen at (5000); 0: a free one.")] = (
        None
    )
    beam: Beam = None
    glossaries: Annotated[
        Path | None,
        _option(
            "glossaries",
            "Where glossaries are kept (~/.local/share/allyouneed/glossaries).",
            metavar="FOLDER",
        ),
    ] = None
    suggestions: Annotated[
        Path | None,
        _option(
            "suggestions",
            "Add translations that clients suggest to this TMX file. Without it: none are kept.",
            metavar="FILE",
        ),
    ] = None
    no_page: Annotated[
        bool | None, _option("no_page", "Serve the APIs without the page.", flag="--no-page")
    ] = None
    look: Annotated[
        bool | None,
        _option(
            "look",
            "Let the page open the live view of a translation. The view needs torch, and memory "
            "for a second copy of the model. Without this option: only if the service listens on "
            "loopback.",
            flag="--look/--no-look",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Access:
    """Who may use the service."""

    open: Annotated[
        bool | None,
        _option("open", "Accept requests without a key from any client.", ACCESS, "--open"),
    ] = None
    keys: Annotated[
        Path | None,
        _option("keys", "The file of keys, as `allyouneed keys` makes it.", ACCESS, metavar="FILE"),
    ] = None
    allow_host: Annotated[
        list[str] | None,
        _option(
            "allow_host",
            "A host name under which clients reach the service, for example behind a proxy.",
            ACCESS,
            earlier="hosts",
        ),
    ] = None
    allow_origin: Annotated[
        list[str] | None,
        _option(
            "allow_origin",
            "A website whose pages may call this service (CORS): https://example.org.",
            ACCESS,
            earlier="origins",
        ),
    ] = None
    tls_certificate: Annotated[
        Path | None,
        _option("tls_certificate", "A certificate (PEM), for https.", ACCESS, metavar="FILE"),
    ] = None
    tls_key: Annotated[
        Path | None, _option("tls_key", "The certificate's key (PEM).", ACCESS, metavar="FILE")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much a client may ask for."""

    deadline: Annotated[
        float | None,
        _option(
            "deadline",
            "Seconds that a request may take (30); its header Request-Timeout may name another "
            "number.",
            LIMITS,
        ),
    ] = None
    max_characters: Annotated[
        int | None, _option("max_characters", "Characters in one request (500,000).", LIMITS)
    ] = None
    max_texts: Annotated[
        int | None, _option("max_texts", "Texts in one request (10,000).", LIMITS)
    ] = None
    max_alternatives: Annotated[
        int | None, _option("max_alternatives", "Alternatives of one text (10).", LIMITS)
    ] = None
    max_body: Annotated[int | None, _option("max_body", "Bytes of a request (4 MiB).", LIMITS)] = (
        None
    )
    max_file: Annotated[
        int | None, _option("max_file", "Bytes of a document (20 MiB).", LIMITS)
    ] = None
    max_connections: Annotated[
        int | None, _option("max_connections", "Open connections (4096).", LIMITS)
    ] = None
    queue_tokens: Annotated[
        int | None, _option("queue_tokens", "Tokens that may wait (1,000,000).", LIMITS)
    ] = None
    requests_per_minute: Annotated[
        int | None,
        _option(
            "requests_per_minute", "Requests of an address without a key (0: no limit).", LIMITS
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Logs:
    """The log of the service's requests."""

    log_json: Annotated[
        bool | None,
        _option(
            "log_json",
            "Log each request as a JSON object, on standard error.",
            RUNNING,
            "--log-json",
        ),
    ] = None
    log_texts: Annotated[
        bool | None,
        _option(
            "log_texts",
            "Log tracebacks of errors, which may show clients' texts.",
            RUNNING,
            "--log-texts",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Running:
    """How the models are run."""

    threads: Annotated[int | None, _as_elsewhere("threads", options.Threads)] = None
    engine: Annotated[str, _as_elsewhere("engine", options.Engine)] = "auto"
    debug: Annotated[bool, _as_elsewhere("debug", options.Debug)] = False


def given(
    context: typer.Context, *groups: Offer | Access | Limits | Logs | Running
) -> dict[str, Any]:
    """The options that were typed or stand in variables, by the keys of serve.toml."""
    values = {field.name: getattr(group, field.name) for group in groups for field in fields(group)}
    return {key: value for key, value in values.items() if _source(context, key) != "DEFAULT"}


def variables(context: typer.Context) -> dict[str, str]:
    """The variables that options of a call were taken from, by the keys of serve.toml."""
    found = {}
    for option in context.command.params:
        if _source(context, str(option.name)) == "ENVIRONMENT":
            names = [option.envvar] if isinstance(option.envvar, str) else option.envvar or []
            found[str(option.name)] = next(name for name in names if os.environ.get(name))
    return found


def _source(context: typer.Context, key: str) -> str:
    """Where an option's value comes from: COMMANDLINE, ENVIRONMENT or DEFAULT."""
    source = context.get_parameter_source(key)
    return source.name if source else "DEFAULT"
