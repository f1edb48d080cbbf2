"""The folders of imported models and of the cache."""

import os
import sys
from contextlib import suppress
from pathlib import Path

VARIABLE = "ALLYOUNEED_MODELS"
CONFIG = "config.json"


def models_home() -> Path:
    """The folder of imported models: $ALLYOUNEED_MODELS, or "allyouneed/models" in the user's data.

    The user's data are in $XDG_DATA_HOME or ~/.local/share, on macOS in ~/Library/Application
    Support, on Windows in %LOCALAPPDATA%.
    """
    if named := os.environ.get(VARIABLE):
        return Path(named)
    if data := os.environ.get("XDG_DATA_HOME"):
        place = Path(data)
    elif sys.platform == "win32":
        place = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        place = Path.home() / "Library" / "Application Support"
    else:
        place = Path.home() / ".local" / "share"
    return place / "allyouneed" / "models"


def cache_home() -> Path:
    """The folder of files that can be made or fetched again: compiled libraries, packed weights and
    files fetched for an import. It is "allyouneed" in $ALLYOUNEED_CACHE, in $XDG_CACHE_HOME or in
    ~/.cache, on macOS in ~/Library/Caches.

    Raises:
        OSError: there is no home directory, and no environment variable names a folder.
    """
    root = os.environ.get("ALLYOUNEED_CACHE") or os.environ.get("XDG_CACHE_HOME")
    if root:
        return Path(root) / "allyouneed"
    try:
        home = Path.home()
    except RuntimeError as error:
        raise OSError(
            "there is no home directory for the cache; name a folder in ALLYOUNEED_CACHE"
        ) from error
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "allyouneed"


def cache_bytes() -> int:
    """The size of all files in `cache_home()`; 0 where there is none."""
    total = 0
    for folder, _, names in os.walk(cache_home()):
        for name in names:
            with suppress(OSError):  # removed meanwhile
                total += Path(folder, name).lstat().st_size
    return total


def fetched_home() -> Path:
    """The folder of files fetched for an import: "fetched" in `cache_home()`.

    Raises:
        OSError: as `cache_home`.
    """
    return cache_home() / "fetched"


def imported_models() -> dict[str, Path]:
    """The folder of each imported model, by the model's name."""
    try:
        entries = sorted(models_home().iterdir())
    except (OSError, RuntimeError):  # nothing was imported, or there is no home directory
        return {}
    return {
        entry.name: entry
        for entry in entries
        if not entry.name.startswith(".") and (entry / CONFIG).is_file()
    }
