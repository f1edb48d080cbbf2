"""The folders of imported models and of fetched files."""

import os
import sys
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


def fetched_home() -> Path:
    """The folder of files fetched for an import: "allyouneed/fetched" in the user's cache, which is
    $ALLYOUNEED_CACHE, $XDG_CACHE_HOME or ~/.cache."""
    named = os.environ.get("ALLYOUNEED_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return (Path(named) if named else Path.home() / ".cache") / "allyouneed" / "fetched"


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
