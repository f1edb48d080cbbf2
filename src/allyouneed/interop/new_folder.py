"""Folders that are whole or not there."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from allyouneed.errors import ModelFolderError, UsageError
from allyouneed.model_folder.folder import to_disk


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder beside `path` to write into; in the end it is renamed to `path`.

    An empty folder that is there stays the one that it is, as somebody may be in it, and gets the
    files. When the body raises, nothing is left of what it wrote.

    Raises:
        UsageError: `path` is a file, or a folder that is not empty.
        ModelFolderError: it cannot be written.
    """
    path = Path(path).resolve()
    beside = path.parent / f".{path.name}.{os.getpid()}.partial"
    try:
        there = path.exists()
        if there and not (path.is_dir() and not any(path.iterdir())):
            raise UsageError(f"{path} is there already and is left as it is; name an empty folder")
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        yield beside
        readable = beside.stat().st_mode & 0o666
        for file in beside.iterdir():
            file.chmod(readable)  # safetensors lets the owner alone read
            to_disk(file)
        if there:
            for file in list(beside.iterdir()):
                file.rename(path / file.name)
            to_disk(path)
        else:
            beside.rename(path)
            to_disk(path.parent)
    except (OSError, SafetensorError) as error:
        raise ModelFolderError(
            f"{path} could not be written: {error}; make room, or choose another place"
        ) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
