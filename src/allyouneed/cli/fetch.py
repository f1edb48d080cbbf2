"""`allyouneed fetch`: downloads a public data set for the recipes that need it."""

from pathlib import Path
from typing import Annotated

import typer

from allyouneed.cli.options import Debug, Json
from allyouneed.cli.output import as_json, note, result
from allyouneed.cli.transfers import Transfers
from allyouneed.errors import UsageError, nearest


def fetch(
    name: Annotated[str, typer.Argument(help="The data set: multi30k.")],
    into: Annotated[
        Path | None,
        typer.Option(
            help="The folder of data; by default $ALLYOUNEED_DATA, or else "
            "~/.local/share/allyouneed. Recipes look in both."
        ),
    ] = None,
    mirror: Annotated[
        str | None,
        typer.Option("--from", metavar="URL", help="Download from here, not from the publisher."),
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Download a public data set to a folder where recipes find it.

    **Examples**

    - `allyouneed fetch multi30k`
    - `allyouneed fetch multi30k --into ~/data`
    - `allyouneed fetch multi30k --from https://mirror.example/multi30k`

    The checksum of every file is checked. The same command resumes a broken download. At the end
    the folder is printed; with --json, each file.
    """
    from allyouneed.data.download import fetch as bring
    from allyouneed.data.published import DATA_SETS
    from allyouneed.data.root import VARIABLE, data_home, is_looked_into

    if name not in DATA_SETS:
        close = nearest(name, DATA_SETS)
        meant = f"; did you mean {close}?" if close else f"; known: {', '.join(DATA_SETS)}"
        raise UsageError(f"no data set is called {name!r}{meant}")
    data_set = DATA_SETS[name]
    folder = data_home() if into is None else into.expanduser()
    note(f"the publisher of {name} allows {data_set.licence} use")
    with Transfers() as transfers:
        paths = bring(data_set, folder, mirror, transfers.show)
    if json:
        for path, file in zip(paths, data_set.files, strict=True):
            size = path.stat().st_size
            result(as_json({"file": str(path), "bytes": size, "checksum": file.checksum}))
    else:
        result(str(folder / name))
    if not is_looked_into(folder):
        note(f"recipes find it with {VARIABLE}={folder}")
