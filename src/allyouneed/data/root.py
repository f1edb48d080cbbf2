"""Where data files are looked for."""

import os
from pathlib import Path

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


def resolve(path: Path, base: Path | None) -> Path:
    """The file meant by a path in a recipe: absolute as it stands; relative beside the recipe
    (in the folder `base`), then in the data root.

    Raises DataError that lists where it looked.
    """
    path = path.expanduser()
    if path.is_absolute():
        candidates = [path]
    else:
        folders = [folder for folder in (base, data_root()) if folder is not None]
        candidates = [folder / path for folder in folders]
    for candidate in candidates:
        if candidate.exists():
            return candidate
    looked = ", ".join(map(str, candidates)) or "no folder at all"
    raise DataError(
        f"{path}: no such file; looked at {looked}; "
        f"set {VARIABLE} to the folder that holds it, or give an absolute path"
    )
