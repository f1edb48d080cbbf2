"""`allyouneed models`: lists the models of this machine."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from allyouneed.cli.options import Debug, Json
from allyouneed.cli.output import as_json, note, result
from allyouneed.errors import ModelFolderError

if TYPE_CHECKING:
    from allyouneed.model_folder.folder import ModelFolder

WIDE = 500  # columns of output that goes to a file or a pipe
SHOWN = 3  # languages; if there are more, only their number is shown


def models(json: Json = False, debug: Debug = False) -> None:
    """List the models of this machine: those bundled with the package and imported ones.

    **Examples**

    - `allyouneed models`
    - `allyouneed models --json`
    - `allyouneed import firefox:en-fr`
    - `allyouneed translate --model firefox-en-fr "Good morning."`

    Use a model by its name. Imported models are in one folder: $ALLYOUNEED_MODELS, or else
    allyouneed/models in the user's data folder (~/.local/share on Linux). To remove a model, remove
    its folder. A note names the cache, which holds compiled libraries, packed weights and fetched
    files, and its size. --json prints one object a line: languages and directions as codes such as
    "de", and the names of these codes.
    """
    from allyouneed.model_folder.folder import bundled_folder, bundled_models
    from allyouneed.model_folder.places import (
        cache_bytes,
        cache_home,
        imported_models,
        models_home,
    )

    here = [(name, bundled_folder(name), "bundled") for name in bundled_models()]
    here += [(name, path, "imported") for name, path in imported_models().items()]
    rows = []
    for name, path, origin in here:
        try:
            rows.append(_row(name, path, origin))
        except ModelFolderError as error:
            note(f"{name}: {error}")
    if json:
        for row in rows:
            result(as_json(row))
        return
    table = Table(box=None)
    for column in ("name", "from", "into", "kind", "size", "licence", "engine", "place"):
        table.add_column(column, no_wrap=True)
    for row in rows:
        table.add_row(
            row["name"],
            _few(sorted({row["names"][source] for source, _ in row["directions"]})),
            _few(sorted({row["names"][target] for _, target in row["directions"]})),
            row["kind"],
            f"{row['bytes'] / 1e6:,.0f} MB",
            row["licence"],
            row["engine"],
            row["place"] if row["origin"] == "bundled" else row["path"],
        )
    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = WIDE
    console.print(table)
    note(f"imported models are in {models_home()}")
    with suppress(OSError):  # there is no home directory
        megabytes = cache_bytes() / 1e6
        note(f"the cache has {megabytes:,.0f} MB in {cache_home()}; you can remove it at any time")


def _row(name: str, path: Path, origin: str) -> dict[str, Any]:
    """The values shown for a model."""
    from allyouneed.model_folder.folder import open_model_folder
    from allyouneed.text.language_names import code_of, name_of

    folder = open_model_folder(path)
    directions = [
        [code_of(source), code_of(target)] for source, target in folder.speaks.directions()
    ]
    languages = sorted(map(code_of, folder.speaks.codes))
    return {
        "name": name,
        "origin": origin,
        "path": str(path),
        "place": "in the package" if origin == "bundled" else str(path),
        "kind": _kind(folder),
        "languages": languages,
        "names": {code: name_of(code) for code in languages},
        "directions": directions,
        "bytes": sum(file.stat().st_size for file in path.iterdir() if file.is_file()),
        "licence": _licence(path),
        "engine": _engine(folder),
    }


def _kind(folder: "ModelFolder") -> str:
    if folder.heads is not None:
        return "encoder"
    return "replies" if folder.history is not None else "translates"


def _engine(folder: "ModelFolder") -> str:
    """The engine that "auto" chooses on a CPU."""
    if folder.heads is not None:
        return "core"
    from allyouneed.engine.native import why_not

    return "cpu-int8" if why_not(folder.config) is None else "core"


def _licence(path: Path) -> str:
    """The licence that the model's card names."""
    try:
        card = (path / "README.md").read_text("utf-8", errors="replace")[:20_000]
    except OSError:
        return ""
    for line in card.splitlines():
        name, colon, said = line.strip("-* ").partition(":")
        if colon and name.strip("* ").lower() in ("licence", "license", "its licence"):
            return said.strip("*. ")
    found = [line for line in card.splitlines() if "licen" in line.lower()]
    return "see its README.md" if found else ""


def _few(names: list[str]) -> str:
    if len(names) <= SHOWN:
        return ", ".join(names)
    return f"{len(names)} languages"
