"""Where imported models are kept, and which there are."""

import os
import sys
from pathlib import Path

VARIABLE = "ALLYOUNEED_MODELS"
CONFIG = "config.json"


def models_home() -> Path:
    """The folder of imported models: $ALLYOUNEED_MODELS, or else "allyouneed/models" where the
    system keeps its users' data ($XDG_DATA_HOME or ~/.local/share, ~/Library/Application Support,
    %LOCALAPPDATA%)."""
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
    """The folder of files that were fetched to be imported: "allyouneed/fetched" where the system
    keeps what can be fetched again ($ALLYOUNEED_CACHE, $XDG_CACHE_HOME or ~/.cache)."""
    named = os.environ.get("ALLYOUNEED_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return (Path(named) if named else Path.home() / ".cache") / "allyouneed" / "fetched"


def imported_models() -> dict[str, Path]:
    """The folders of imported models by their names."""
    try:
        entries = sorted(models_home().iterdir())
    except (OSError, RuntimeError):  # there are none, or there is no home directory
        return {}
    return {
        entry.name: entry
        for entry in entries
        if not entry.name.startswith(".") and (entry / CONFIG).is_file()
    }
