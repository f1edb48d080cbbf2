"""Finds a compiled library for this machine: installed with the package, or compiled here before,
or compiled now."""

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from allyouneed.engine.native.bindings import open_library
from allyouneed.engine.native.build import (
    ENGINE,
    NoCompiler,
    Sources,
    best_variant,
    compile_variant,
    features,
    intact,
    library_name,
)


class NoLibrary(Exception):
    """The engine is not compiled and cannot be; the text says why."""


@dataclass(frozen=True, slots=True)
class Library:
    """A library, opened. `note` says what had to be done for it, if anything."""

    functions: ctypes.CDLL
    path: Path
    note: str | None = None

    @property
    def units(self) -> str:
        """What of the processor the engine's products run on."""
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
    """The engine for this machine, compiled if need be (some seconds, once).

    Raises:
        NoLibrary: there is none and it cannot be compiled.
    """
    return found(ENGINE, open_library)


def found(sources: Sources, opened: Callable[[Path], ctypes.CDLL]) -> Library:
    """The library of these sources for this machine, compiled if need be.

    Raises:
        NoLibrary: there is none and it cannot be compiled.
    """
    try:
        variant = best_variant(_features())
        if library := _kept(variant, sources, opened):
            return library
        path = compile_variant(variant, cache_folder(), sources)
        note = f"compiled the {sources.what} for this machine: {path}"
        return Library(opened(path), path, note)
    except (NoCompiler, OSError) as error:
        raise NoLibrary(f"the native {sources.what} is not compiled and {error}") from error


def _kept(variant: str, sources: Sources, opened: Callable[[Path], ctypes.CDLL]) -> Library | None:
    """The library that was installed, or compiled here before."""
    name = library_name(variant, sources)
    for folder in (installed_folder, cache_folder):
        with suppress(OSError):  # made on another machine, or not to be read: made anew
            path = folder() / name
            if intact(path):
                return Library(opened(path), path)
    return None


def _features() -> set[str]:
    """What this processor can do. Where the system does not say it in a file, the engine's variant
    for any processor asks the processor.

    Raises:
        NoCompiler, OSError: that variant is not there and cannot be compiled.
    """
    known = features()
    if known is None:
        library = _kept("any", ENGINE, open_library)
        functions = (
            library.functions
            if library
            else open_library(compile_variant("any", cache_folder(), ENGINE))
        )
        known = set(functions.aya_features().decode().split())
    return known
