"""Clear errors for safetensors files that cannot be read. Nothing is unpickled; needs no torch."""

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from allyouneed.errors import ModelFolderError

PICKLES = ("pytorch_model.bin", "model.pt", "model.pth", "model.ckpt", "checkpoint.pt")
PICKLE_STARTS = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
LFS_START = b"version https://git-lfs"


def check_plain_file(path: Path) -> None:
    """Raises ModelFolderError for a pipe or a device, from which reading might never end.

    A missing or forbidden file raises nothing here. The code that reads it raises the error.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ModelFolderError(f"{path} is not a regular file; copy the model's own file there")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns errors of reading the safetensors file `path` in the `with` block into clear messages.

    Raises:
        ModelFolderError: the file is missing, cut short, or not safetensors (such as a pickle).
    """
    beginning = b""
    check_plain_file(path)
    try:
        # Opened here first, because safetensors reports every file it cannot open as missing.
        with path.open("rb") as file:
            beginning = file.read(64)
        yield
    except FileNotFoundError as error:
        pickles = [name for name in PICKLES if (path.parent / name).exists()]
        why = f"; {pickles[0]} is a pickle and is not loaded" if pickles else ""
        raise ModelFolderError(
            f"{path} is missing{why}: weights must be a safetensors file"
        ) from error
    except OSError as error:
        raise ModelFolderError(
            f"{path} cannot be read ({error.strerror or error}); check its permissions"
        ) from error
    except SafetensorError as error:
        raise ModelFolderError(f"{path} {_what_it_is(beginning, error)}") from error


def _what_it_is(beginning: bytes, error: SafetensorError) -> str:
    """The kind of a file that safetensors cannot read, judged by its first bytes, and a remedy."""
    if beginning.startswith(PICKLE_STARTS):
        return (
            "is a pickle under another name and is not loaded: it could run any code; "
            "convert it to safetensors where it came from"
        )
    if beginning.startswith(LFS_START):
        return "is a pointer of Git LFS, not the weights; fetch them with git lfs pull"
    return f"is damaged or cut short ({error}); copy it again from where the model came from"
