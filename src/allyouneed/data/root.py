"""Where data files are looked for."""

import os
from pathlib import Path

from allyouneed.data.published import DATA_SETS
from allyouneed.errors import DataError

VARIABLE = "ALLYOUNEED_DATA"


def data_root() -> Path | None:
    """The folder of the data: $ALLYOUNEED_DATA, else ../shared/data beside the working directory.

    None when there is neither. Raises DataError when the variable names no folder.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not Path(named).is_dir():
            raise DataError(f"{VARIABLE}={named} is no folder; correct it or unset it")
        return Path(named)
    beside = Path.cwd().parent / "shared" / "data"
    return beside if beside.is_dir() else None


def data_home() -> Path:
    """Where fetched data is kept: $ALLYOUNEED_DATA, else the user's own folder for data,
    $XDG_DATA_HOME/allyouneed (~/.local/share/allyouneed)."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    home = os.environ.get("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "allyouneed"


def is_looked_into(folder: Path) -> bool:
    """Whether the recipes' files are looked for in this folder."""
    return any(folder.resolve() == place.resolve() for place in _places(None))


def _places(base: Path | None) -> list[Path]:
    return [place for place in (base, data_root(), data_home()) if place is not None]


def resolve(path: Path, base: Path | None) -> Path:
    """The file meant by a path: absolute as it stands; relative in the folder `base`, then in the
    data root and in the folder of fetched data.

    Without `base` the file is a recipe's, and `load_recipe` has looked beside the recipe. Raises
    DataError that lists where it looked.
    """
    path = path.expanduser()
    if path.is_absolute():
        candidates = [path]
    else:
        candidates = list(dict.fromkeys(place / path for place in _places(base)))
    for candidate in candidates:
        if candidate.exists():
            return candidate
    name = path.parts[0] if path.parts else ""
    fetched = f"`allyouneed fetch {name}` brings it, or " if name in DATA_SETS else ""
    raise DataError(
        f"{path}: no such file; looked at {', '.join(map(str, candidates))}; {fetched}"
        f"correct its name, or set {VARIABLE} to the folder that holds it"
    )
