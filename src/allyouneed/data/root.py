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
            raise DataError(f"{VARIABLE}={named} is not a folder; correct it or unset it")
        return Path(named)
    beside = Path.cwd().parent / "shared" / "data"
    return beside if beside.is_dir() else None


def data_home() -> Path:
    """The folder of downloaded data: $ALLYOUNEED_DATA, or else the user's data folder
    $XDG_DATA_HOME/allyouneed (~/.local/share/allyouneed)."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    home = os.environ.get("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "allyouneed"


def is_looked_into(folder: Path) -> bool:
    """Whether recipes look for their files in this folder."""
    return any(folder.resolve() == place.resolve() for place in _places(None))


def _places(base: Path | None) -> list[Path]:
    return [place for place in (base, data_root(), data_home()) if place is not None]


def resolve(path: Path, base: Path | None) -> Path:
    """The existing file that a path means. An absolute path is taken as it is. A relative path is
    looked for in the folder `base`, then in the data root, then in the folder of downloaded data.

    `base` is None for a recipe's file, because `load_recipe` has already looked beside the recipe.

    Raises:
        DataError: the file does not exist; the message lists the places.
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
    fetched = f"`allyouneed fetch {name}` downloads it; or " if name in DATA_SETS else ""
    raise DataError(
        f"{path}: no such file; looked at {', '.join(map(str, candidates))}; {fetched}"
        f"correct its name, or set {VARIABLE} to the folder that holds it"
    )
