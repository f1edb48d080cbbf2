"""The errors a user can meet: one line with the value, the limit, the place and a remedy."""

import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)  # the whole disk, or the share of it that a user has


class AllYouNeedError(Exception):
    """Base of every error raised on purpose. `exit_code` is what the command line ends with."""

    exit_code = 1


class UsageError(AllYouNeedError):
    """The call itself was wrong: an option, an argument, a combination of them."""

    exit_code = 2


class ConfigError(AllYouNeedError, ValueError):
    """A model configuration that cannot be built."""

    exit_code = 2


class RecipeError(AllYouNeedError):
    """A recipe that does not fit the schema; names file, key path and the nearest known key."""

    exit_code = 2


class ShapeError(AllYouNeedError, ValueError):
    """A tensor whose axes do not fit."""


class DataError(AllYouNeedError):
    """A corpus that cannot be read; names file, line and, for encodings, the byte."""


class ModelFolderError(AllYouNeedError):
    """A folder that is no model, or holds one that this version cannot read."""


class TrainingError(AllYouNeedError):
    """A run that cannot go on; names the last good checkpoint."""


class MissingPackage(AllYouNeedError, ImportError):
    """A package that an extra brings is not installed; the text has the command to install it."""


@contextmanager
def needs_torch(deed: str) -> Iterator[None]:
    """Around work that imports torch: where torch is not installed, one line says what needs it
    and how to install it.

    Raises:
        MissingPackage: torch is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingPackage(
            f"{deed} needs torch, which is not installed; install it with: "
            "pip install 'allyouneed[torch]', or in a checkout: pip install '.[torch]'"
        ) from error


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The known name closest to a mistyped one, or None when nothing is close."""
    import difflib

    matches = difflib.get_close_matches(word, list(candidates), n=1, cutoff=0.5)
    return matches[0] if matches else None
