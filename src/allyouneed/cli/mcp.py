"""`allyouneed mcp`: translation as tools of a program that speaks the Model Context Protocol."""

import sys

from allyouneed.cli.options import Debug, Engine, Threads
from allyouneed.cli.output import note
from allyouneed.cli.serve_options import Beam, Models
from allyouneed.errors import UsageError

MISSING = "these tools need a few more packages: pip install 'allyouneed[mcp]'"


def mcp(
    model: Models = None,
    beam: Beam = None,
    threads: Threads = None,
    engine: Engine = "auto",
    debug: Debug = False,
) -> None:
    """Offer translation to programs that speak the Model Context Protocol (MCP).

    **Examples**

    - `allyouneed mcp`
    - `allyouneed mcp --model en-de --model runs/my-run/model`

    A program starts this command and speaks with it over standard input and output. Its
    configuration names the command:

    `{"mcpServers": {"allyouneed": {"command": "allyouneed", "args": ["mcp"]}}}`

    There are three tools. `translate` takes a text, a target language and, if known, the source
    language; `detect` says which language a text is in; `languages` lists what there is. Texts
    stay on this machine. The command ends when its standard input does.
    """
    try:
        from allyouneed.serving.tools import Tools
    except ModuleNotFoundError as error:
        raise UsageError(f"{MISSING} ({error.name} is missing)") from error
    from allyouneed.serving.settings import resolve
    from allyouneed.serving.shelf import open_shelf

    given = {"model": model or None, "beam": beam, "threads": threads, "engine": engine}
    settings = resolve(given, None)
    tools = Tools(settings, open_shelf(settings.model, settings.engine))
    if sys.stdin.isatty():
        note("waiting for a program that speaks MCP on standard input; Ctrl-D ends this")
    tools.server.run()
