"""Finds a compiled library for this machine: installed with the package, compiled here earlier, or
compiled now."""

import ctypes
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock

from allyouneed.engine.native.bindings import open_library
from allyouneed.engine.native.build import (
    ENGINE,
    NoCompiler,
    NoVariant,
    Sources,
    best_variant,
    compile_variant,
    features,
    find_compiler,
    intact,
    library_name,
)
from allyouneed.engine.native.library_cache import mark_used, remove_unused
from allyouneed.errors import UsageError
from allyouneed.model_folder.places import cache_home

_ONE_COMPILER = Lock()


class NoLibrary(Exception):
    """The engine is not compiled and cannot be compiled; the message says why."""


@dataclass(frozen=True, slots=True)
class Library:
    """An opened library. `note` says that it was compiled just now, and where it is; otherwise it
    is None."""

    functions: ctypes.CDLL
    path: Path
    note: str | None = None

    @property
    def units(self) -> str:
        """The processor's units that compute the engine's products, such as "AVX-512 VNNI"."""
        return str(self.functions.aya_units().decode())


def installed_folder() -> Path:
    """The folder of the libraries that were compiled when the wheel was built."""
    return Path(__file__).with_name("compiled")


@cache
def find_library() -> Library:
    """The engine's library for this machine. The first call on a machine may compile it, which
    takes some seconds; calls of other threads wait and then find the compiled library.

    Raises:
        NoLibrary: there is no library and it cannot be compiled.
        UsageError: as `found`.
    """
    with _ONE_COMPILER:
        return found(ENGINE, open_library)


def found(sources: Sources, opened: Callable[[Path], ctypes.CDLL]) -> Library:
    """The library of these sources for this machine, compiled if there is none.

    Raises:
        NoLibrary: there is no library and it cannot be compiled.
        UsageError: $ALLYOUNEED_CPU names no variant that this processor can run.
    """
    try:
        variant = best_variant(_features())
        if library := _kept(variant, sources, opened):
            return library
        path = _compiled(variant, sources)
        note = f"compiled the {sources.what} for this machine: {path}"
        return Library(opened(path), path, note)
    except NoVariant as error:
        raise UsageError(str(error)) from error
    except (NoCompiler, OSError) as error:
        raise NoLibrary(f"the native {sources.what} is not compiled and {error}") from error


def _kept(variant: str, sources: Sources, opened: Callable[[Path], ctypes.CDLL]) -> Library | None:
    """The library that was installed or compiled here earlier; None if there is none."""
    name = library_name(variant, sources)
    for folder in (installed_folder, cache_home):
        with suppress(OSError):  # unreadable, or made on another machine: it is compiled again
            path = folder() / name
            if intact(path):
                if folder is cache_home:
                    mark_used(path)
                return Library(opened(path), path)
    return None


def _compiled(variant: str, sources: Sources) -> Path:
    """The library of these sources, compiled now into the cache. A line in the log, which Python
    writes to standard error, says so first: compiling takes long.

    Raises:
        NoCompiler, OSError: it cannot be compiled or written.
    """
    import logging  # not at the top: most starts compile nothing

    command = find_compiler()
    by_zig = "ziglang" in command
    logging.getLogger("allyouneed.engine").warning(
        "allyouneed compiles its %s for this machine with %s; this happens once and takes %s",
        sources.what,
        "ziglang" if by_zig else command[0],
        "some minutes" if by_zig else "about half a minute",
    )
    path = compile_variant(variant, cache_home(), sources, command)
    with suppress(OSError):
        remove_unused(path.parent)
    return path


def _features() -> set[str]:
    """The features of this processor. Systems without /proc/cpuinfo need the engine's variant
    "any", which asks the processor itself.

    Raises:
        NoCompiler, OSError: the variant "any" is needed, is missing and cannot be compiled.
    """
    known = features()
    if known is None:
        library = _kept("any", ENGINE, open_library)
        functions = library.functions if library else open_library(_compiled("any", ENGINE))
        known = set(functions.aya_features().decode().split())
    return known
