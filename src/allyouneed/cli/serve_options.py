"""The options of `allyouneed serve`; each can stand in a variable too."""

from pathlib import Path
from typing import Annotated, Any

import typer

from allyouneed.cli.options import RUNNING

ACCESS = "Who may use it"
LIMITS = "Limits"


def _option(key: str, help: str, panel: str | None = None, flag: str = "", **more: Any) -> Any:
    """An option for this key of serve.toml; `flag` where it is called otherwise than the key."""
    named = [flag] if flag else []
    variable = f"ALLYOUNEED_{key.upper()}"
    return typer.Option(*named, help=help, rich_help_panel=panel, envvar=variable, **more)


Models = Annotated[
    list[str] | None,
    _option(
        "model",
        "A bundled model or a model folder; again for each further one. A folder that does not "
        "name its languages: en-fr=FOLDER. Without it: all bundled models.",
        metavar="NAME|FOLDER",
    ),
]
Host = Annotated[
    str | None,
    _option("host", "The address to listen at (127.0.0.1: this machine alone); 0.0.0.0 is all."),
]
Port = Annotated[int | None, _option("port", "Its port (5000); 0 is any free one.")]
Config = Annotated[
    Path | None,
    _option(
        "config",
        "A TOML file with these options as keys: max_characters = 5000.",
        metavar="FILE",
    ),
]
Beam = Annotated[int | None, _option("beam", "Hypotheses kept at each step (4).")]
Glossaries = Annotated[
    Path | None,
    _option(
        "glossaries",
        "Where glossaries are kept; without it a folder of your own.",
        metavar="FOLDER",
    ),
]
Suggestions = Annotated[
    Path | None,
    _option(
        "suggestions",
        "Keep better translations that clients suggest in this TMX file; without it none are.",
        metavar="FILE",
    ),
]
NoPage = Annotated[bool | None, _option("no_page", "APIs alone.", flag="--no-page")]
Look = Annotated[
    bool | None,
    _option(
        "look",
        "Let the page open the live view of a translation. The view needs torch, and memory for a "
        "second copy of the model. Without this option it can be opened on loopback alone.",
        flag="--look/--no-look",
    ),
]

Open = Annotated[
    bool | None,
    _option("open", "Let everybody in who reaches the address, without a key.", ACCESS, "--open"),
]
Keys = Annotated[
    Path | None,
    _option("keys", "The file of keys, as `allyouneed keys` makes it.", ACCESS, metavar="FILE"),
]
Hosts = Annotated[
    list[str] | None,
    _option(
        "hosts", "A host name that the service goes by, such as behind a proxy.", ACCESS,
        "--allow-host",
    ),
]  # fmt: skip
Origins = Annotated[
    list[str] | None,
    _option(
        "origins", "Another site whose pages may ask: https://example.org.", ACCESS,
        "--allow-origin",
    ),
]  # fmt: skip
TLSCertificate = Annotated[
    Path | None,
    _option("tls_certificate", "A certificate (PEM), for https.", ACCESS, metavar="FILE"),
]
TLSKey = Annotated[Path | None, _option("tls_key", "Its key (PEM).", ACCESS, metavar="FILE")]

Deadline = Annotated[
    float | None,
    _option(
        "deadline",
        "Seconds that a request may take (30), where its header Request-Timeout does not name "
        "others.",
        LIMITS,
    ),
]
MaxCharacters = Annotated[int | None, _option("max_characters", "Of a request (500,000).", LIMITS)]
MaxTexts = Annotated[int | None, _option("max_texts", "Of a request (10,000).", LIMITS)]
MaxAlternatives = Annotated[int | None, _option("max_alternatives", "Of a text (10).", LIMITS)]
MaxBody = Annotated[int | None, _option("max_body", "Bytes of a request (4 MiB).", LIMITS)]
MaxFile = Annotated[int | None, _option("max_file", "Bytes of a document (20 MiB).", LIMITS)]
MaxConnections = Annotated[int | None, _option("max_connections", "At a time (4096).", LIMITS)]
QueueTokens = Annotated[
    int | None, _option("queue_tokens", "Tokens that may wait (1,000,000).", LIMITS)
]
RequestsPerMinute = Annotated[
    int | None,
    _option("requests_per_minute", "Of a client without a key (0: any number).", LIMITS),
]

LogJSON = Annotated[
    bool | None,
    _option(
        "log_json", "A JSON object for each request, on standard error.", RUNNING, "--log-json"
    ),
]
LogTexts = Annotated[
    bool | None,
    _option(
        "log_texts",
        "Tracebacks of errors in the log; these may show clients' texts.",
        RUNNING,
        "--log-texts",
    ),
]
