"""Writes a folder for another program, whole or not at all, to an unused path."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from allyouneed.errors import ModelFolderError, UsageError
from allyouneed.files import whole_folder


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """As `files.whole_folder`, with error messages for the import and the export of models.

    Raises:
        UsageError: `path` is a file, or a folder that is not empty.
        ModelFolderError: it cannot be written.
    """
    try:
        with whole_folder(path) as beside:
            yield beside
    except FileExistsError as error:
        raise UsageError(f"{error} and is left as it is; name an empty folder") from error
    except (OSError, SafetensorError) as error:
        raise ModelFolderError(
            f"{Path(path).resolve()} could not be written: {error}; make room, or choose another "
            "place"
        ) from error
