"""Finds and downloads Mozilla's models for Firefox by language pair, with this package's
register."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from allyouneed.data.download import Progress, download
from allyouneed.errors import DataError, UsageError, nearest

VARIABLE = "ALLYOUNEED_FIREFOX"


@dataclass(frozen=True, slots=True)
class RegisteredFile:
    """A file's path below the register's address, its SHA-256 and its size."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class RegisteredModel:
    """A model of the register. `kind` is Mozilla's name for its size, `comet` its COMET score on
    FLORES-200."""

    pair: str
    kind: str
    comet: float
    files: tuple[RegisteredFile, ...]

    @property
    def size(self) -> int:
        """The number of bytes to download."""
        return sum(file.size for file in self.files)


@cache
def registered() -> tuple[str, Sequence[RegisteredModel]]:
    """The base address of the files ($ALLYOUNEED_FIREFOX, or the register's), and the models."""
    file = resources.files("allyouneed") / "interop" / "registers" / "firefox.json"
    content = json.loads(file.read_text("utf-8"))
    models = [
        RegisteredModel(
            one["pair"],
            one["kind"],
            one["comet"] or 0.0,
            tuple(RegisteredFile(*entry) for entry in one["files"]),
        )
        for one in content["models"]
    ]
    return content["address"], models


def find(name: str) -> RegisteredModel:
    """The model called "en-de" or "en-de:tiny". If there are several kinds, "en-de" is the one with
    the best score.

    Raises:
        UsageError: there is no such model; the message lists the models.
    """
    pair, _, kind = name.partition(":")
    models = registered()[1]
    found = [model for model in models if model.pair == pair and kind in ("", model.kind)]
    if found:
        return max(found, key=lambda model: model.comet)
    pairs = sorted({model.pair for model in models})
    kinds = [model.kind for model in models if model.pair == pair]
    if kinds:
        raise UsageError(f"firefox:{pair} has the kinds {', '.join(kinds)}, not {kind!r}")
    guess = nearest(pair, pairs)
    hint = f"did you mean firefox:{guess}? " if guess else ""
    raise UsageError(f"Firefox has no model {pair!r}; {hint}there are: {', '.join(pairs)}")


def fetch(model: RegisteredModel, folder: Path, progress: Progress) -> Path:
    """Downloads the model's files to a folder of their own below `folder`, and returns that folder.
    Files that exist are kept, and broken downloads are resumed. The size and SHA-256 of each file
    are checked.

    Raises:
        DataError: a file cannot be downloaded or written, or is not the register's file.
    """
    address = (os.environ.get(VARIABLE) or registered()[0]).rstrip("/")
    place = folder / f"{model.pair}.{model.kind}"
    for file in model.files:
        path = place / Path(file.path).name
        download(
            f"{address}/{file.path}", path, f"sha256:{file.sha256}", bounded(progress, file.size)
        )
        if path.stat().st_size != file.size:
            raise DataError(f"{path} has {path.stat().st_size:,} bytes instead of {file.size:,}")
    return place


def bounded(progress: Progress, size: int) -> Callable[[str, int, int | None], None]:
    """A progress function that passes its calls on, and ends a transfer of more than `size` bytes.

    Raises:
        DataError: by the function, if the server sends more.
    """

    def show(name: str, done: int, total: int | None) -> None:
        if max(done, total or 0) > size:
            raise DataError(
                f"{name}: the server sends more than the {size:,} bytes that are due; nothing of "
                "it is used"
            )
        progress(name, done, size)

    return show
