"""Mozilla's models for Firefox by the name of their pair, from the register in this package."""

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
    """A model of the register; `kind` is Mozilla's word for its size, `comet` its score on
    FLORES-200."""

    pair: str
    kind: str
    comet: float
    files: tuple[RegisteredFile, ...]

    @property
    def size(self) -> int:
        """Bytes to fetch."""
        return sum(file.size for file in self.files)


@cache
def registered() -> tuple[str, Sequence[RegisteredModel]]:
    """The address that paths are below ($ALLYOUNEED_FIREFOX, or the register's), and the models."""
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
    """The model called "en-de", or "en-de:tiny"; of several kinds the one with the best score.

    Raises:
        UsageError: there is none; it names those that there are.
    """
    pair, _, kind = name.partition(":")
    models = registered()[1]
    found = [model for model in models if model.pair == pair and kind in ("", model.kind)]
    if found:
        return max(found, key=lambda model: model.comet)
    pairs = sorted({model.pair for model in models})
    kinds = [model.kind for model in models if model.pair == pair]
    if kinds:
        raise UsageError(f"firefox:{pair} comes as {', '.join(kinds)}, not as {kind!r}")
    guess = nearest(pair, pairs)
    hint = f"did you mean firefox:{guess}? " if guess else ""
    raise UsageError(f"Firefox has no model {pair!r}; {hint}there are: {', '.join(pairs)}")


def fetch(model: RegisteredModel, folder: Path, progress: Progress) -> Path:
    """Brings the model's files into a folder of their own below `folder`, and gives that. What is
    there already stays; what broke off goes on from there; each file's size and SHA-256 are
    checked.

    Raises:
        DataError: a file that cannot be had, is another than the register's, or cannot be kept.
    """
    address = (os.environ.get(VARIABLE) or registered()[0]).rstrip("/")
    place = folder / f"{model.pair}.{model.kind}"
    for file in model.files:
        path = place / Path(file.path).name
        download(
            f"{address}/{file.path}", path, f"sha256:{file.sha256}", bounded(progress, file.size)
        )
        if path.stat().st_size != file.size:
            raise DataError(f"{path} has {path.stat().st_size:,} bytes, and {file.size:,} are due")
    return place


def bounded(progress: Progress, size: int) -> Callable[[str, int, int | None], None]:
    """Tells the progress on; ends a transfer of more than `size` bytes.

    Raises:
        DataError: there is more.
    """

    def show(name: str, done: int, total: int | None) -> None:
        if max(done, total or 0) > size:
            raise DataError(
                f"{name}: the server sends more than the {size:,} bytes that are due; nothing of "
                "it is used"
            )
        progress(name, done, size)

    return show
