"""The errors that users see. Each message is one line with the value, the limit, the place and a
remedy."""

import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)  # the disk is full, or the user's quota is used up


class AllYouNeedError(Exception):
    """Base of every error raised on purpose. The command line exits with its `exit_code`."""

    exit_code = 1


class UsageError(AllYouNeedError):
    """A wrong call: an option, an argument, or a combination of them."""

    exit_code = 2


class ConfigError(AllYouNeedError, ValueError):
    """A configuration with which no model can be built."""

    exit_code = 2


class RecipeError(AllYouNeedError):
    """A recipe with an error. The message has the file, the key and the nearest known key."""

    exit_code = 2


class ShapeError(AllYouNeedError, ValueError):
    """A tensor with the wrong axes or sizes."""


class DataError(AllYouNeedError):
    """Data that cannot be read. The message has the file, the line and, for encodings, the byte."""


class ModelFolderError(AllYouNeedError):
    """A folder that is not a model folder, or that this version cannot read."""


class TrainingError(AllYouNeedError):
    """A training run that cannot continue. The message names the last good checkpoint."""


class MissingPackage(AllYouNeedError, ImportError):
    """An optional package that is not installed. The message has the command that installs it."""


@contextmanager
def needs_torch(purpose: str) -> Iterator[None]:
    """Turns a failed import of a package of the extra `torch`, in the `with` block, into an error
    that names `purpose`.

    Raises:
        MissingPackage: the package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "tokenizers"):
            raise
        raise MissingPackage(
            f"{purpose} needs {error.name}, which is not installed; install it with: "
            "pip install 'allyouneed[torch]', or in a checkout: pip install '.[torch]'"
        ) from error


def counted(count: int, noun: str) -> str:
    """A count and its noun for a message: "1 thread", "2 threads"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate most similar to a mistyped word; None if no candidate is similar."""
    import difflib

    matches = difflib.get_close_matches(word, list(candidates), n=1, cutoff=0.5)
    return matches[0] if matches else None
