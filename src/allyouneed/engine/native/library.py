"""Finds the compiled engine for this machine: installed with the package, or compiled here before,
or compiled now."""

import ctypes
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from allyouneed.engine.native.bindings import open_library
from allyouneed.engine.native.build import (
    NoCompiler,
    best_variant,
    compile_variant,
    intact,
    library_name,
)


class NoLibrary(Exception):
    """The engine is not compiled and cannot be; the text says why."""


@dataclass(frozen=True, slots=True)
class Library:
    """The engine, opened. `note` says what had to be done for it, if anything."""

    functions: ctypes.CDLL
    path: Path
    note: str | None = None

    @property
    def units(self) -> str:
        """What of the processor its products run on."""
        return str(self.functions.aya_units().decode())


def installed_folder() -> Path:
    """Where a wheel holds the libraries that were compiled when it was made."""
    return Path(__file__).with_name("compiled")


def cache_folder() -> Path:
    """Where libraries that are compiled at run time are kept, one for each variant and version.

    Raises:
        OSError: there is no home directory, and no folder is named.
    """
    root = os.environ.get("ALLYOUNEED_CACHE") or os.environ.get("XDG_CACHE_HOME")
    if root:
        return Path(root) / "allyouneed"
    try:
        home = Path.home()
    except RuntimeError as error:
        raise OSError("there is no home directory to keep it in; set ALLYOUNEED_CACHE") from error
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "allyouneed"


@cache
def find_library() -> Library:
    """The library for this machine, compiled if need be (some seconds, once).

    Raises:
        NoLibrary: there is none and it cannot be compiled.
    """
    variant = best_variant()
    name = library_name(variant)
    for folder in (installed_folder, cache_folder):
        with suppress(OSError):  # made on another machine, or not to be read: made anew below
            path = folder() / name
            if intact(path):
                return Library(open_library(path), path)
    try:
        path = compile_variant(variant, cache_folder())
        return Library(open_library(path), path, f"compiled the engine for this machine: {path}")
    except (NoCompiler, OSError) as error:
        raise NoLibrary(f"the native engine is not compiled and {error}") from error
