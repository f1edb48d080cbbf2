"""Compiles native sources: the engine's, and the kernels of training.

This module imports the standard library only, because installing the package runs it.

A compiled library is named after its variant and a digest of its sources and flags. A library made
from other sources or with other flags has another name and is never used by mistake.
"""

import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_name("source")
FLAGS = (
    *("-std=c++17", "-O3", "-fPIC", "-pthread", "-fvisibility=hidden"),
    "-Wno-psabi",  # vectors are passed to inlined functions only, never over the interface
    # The compiler may reorder sums to vectorise them; NaN and infinity keep their meaning.
    *("-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros"),
    *("-fassociative-math", "-freciprocal-math"),
)
# A library without symbols has 1 MB instead of 9 with zig, and 10 % less with other compilers.
LINK_FLAGS = ("-shared", "-s", "-pthread")


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of a library: its main file, and the headers in that file's folder and in the
    engine's. `prefix` is the beginning of the library's name."""

    what: str
    main: Path
    prefix: str = ""
    flags: tuple[str, ...] = ()

    def interface(self) -> str:
        """A digest of interface.h beside `main`, which declares the library's functions."""
        header = self.main.with_name("interface.h").read_bytes()
        return hashlib.sha256(header).hexdigest()[:16]

    @property
    def folders(self) -> list[Path]:
        """The folders of its files."""
        return list(dict.fromkeys([SOURCE, self.main.parent]))


ENGINE = Sources("engine", SOURCE / "engine.cpp")
# The kernels run in torch's threads, so they use the OpenMP library that torch has loaded before.
KERNELS = Sources(
    "kernels of training",
    Path(__file__).with_name("kernels") / "kernels.cpp",
    prefix="kernels-",
    flags=("-fopenmp",),
)
STATIC = ("-static-libstdc++", "-static-libgcc")  # the library then runs on older systems too
AVX2 = ("-mavx2", "-mfma")
AVX512 = ("f", "bw", "dq", "vl", "vnni")
VARIANTS: dict[str, dict[str, tuple[str, ...]]] = {
    # For each kind of processor its variants, best first, with their compiler flags.
    "x86_64": {
        "avx512": (*AVX2, "-mprefer-vector-width=512", *(f"-mavx512{part}" for part in AVX512)),
        "avxvnni": (*AVX2, "-mavxvnni"),
        "avx2": AVX2,
        "any": (),
    },
    "arm64": {
        "i8mm": ("-march=armv8.2-a+dotprod+i8mm",),
        "dotprod": ("-march=armv8.2-a+dotprod",),
        "any": (),
    },
}
NEEDS: dict[str, set[str]] = {  # processor features, named as in /proc/cpuinfo
    "avx512": {"avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni"},
    "avxvnni": {"avx2", "fma", "avx_vnni"},
    "avx2": {"avx2", "fma"},
    "i8mm": {"asimddp", "i8mm"},
    "dotprod": {"asimddp"},
    "any": set(),
}


class NoCompiler(Exception):
    """There is no C++ compiler, or it cannot compile the sources; the message says which."""


class NoVariant(Exception):
    """$ALLYOUNEED_CPU names no variant that this processor can run; the message lists those."""


def processor() -> str:
    """The kind of processor, such as "x86_64" or "arm64", by the same name on all systems."""
    machine = platform.machine().lower()
    return {"amd64": "x86_64", "aarch64": "arm64"}.get(machine, machine)


def variants(kind: str | None = None) -> dict[str, tuple[str, ...]]:
    """The variants for a kind of processor (None: this one's), best first, with their compiler
    flags."""
    return VARIANTS.get(kind or processor(), {"any": ()})


def features(cpuinfo: Path = Path("/proc/cpuinfo")) -> set[str] | None:
    """The features of this processor from /proc/cpuinfo; None on systems without that file."""
    if not cpuinfo.is_file():
        return None
    for line in cpuinfo.read_text(errors="replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("flags", "Features"):
            return set(value.split())
    return set()


def usable_variants(known: set[str] | None) -> list[str]:
    """The variants for a processor with these features, best first."""
    return [name for name in variants() if NEEDS[name] <= (known or set())]


def best_variant(known: set[str] | None) -> str:
    """The best variant for a processor with these features; $ALLYOUNEED_CPU names a lower one, in
    capitals or not.

    Raises:
        NoVariant: $ALLYOUNEED_CPU names no variant that this processor can run.
    """
    usable = usable_variants(known)
    named = os.environ.get("ALLYOUNEED_CPU", "")
    wanted = named.strip().lower() or usable[0]
    if wanted not in usable:
        raise NoVariant(
            f"ALLYOUNEED_CPU={named!r} is no variant of the engine that this processor can run; "
            f"choose from {', '.join(usable)}, or unset it"
        )
    return wanted


def library_name(variant: str, sources: Sources = ENGINE, kind: str | None = None) -> str:
    """The file name of a variant compiled from the present sources, for the kind of processor
    (None: this one's)."""
    kind = kind or processor()
    flags = (*FLAGS, *LINK_FLAGS, *sources.flags, *variants(kind)[variant])
    digest = hashlib.sha256(" ".join((kind, *flags)).encode())
    for folder in sources.folders:
        for path in sorted(folder.iterdir()):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{sources.prefix}{variant}-{digest.hexdigest()[:16]}.so"


def flags_of(variant: str, kind: str, compiler: Sequence[str]) -> list[str]:
    """The flags of a variant in the compiler's words: zig knows no -march for Arm."""
    flags = variants(kind)[variant]
    if "ziglang" not in compiler:
        return [*flags]
    return [flag.replace("-march=armv8.2-a", "-mcpu=generic+v8_2a") for flag in flags]


def intact(path: Path) -> bool:
    """Whether the library exists and is as it was compiled. It must belong to root or to the user
    of this process, and nobody else may be able to write it."""
    digest = path.with_suffix(".sha256")
    if not path.is_file() or not digest.is_file() or not trusted(path):
        return False
    return hashlib.sha256(path.read_bytes()).hexdigest() == digest.read_text().strip()


def trusted(path: Path) -> bool:
    """Whether the file belongs to root or to the user of this process, and nobody else may write
    it. Windows has no such permissions."""
    if not hasattr(os, "getuid"):
        return True
    found = path.stat()
    return not found.st_mode & 0o002 and found.st_uid in (0, os.getuid())


def compile_variant(
    variant: str,
    folder: Path,
    sources: Sources = ENGINE,
    compiler: Sequence[str] = (),
    kind: str | None = None,
) -> Path:
    """Compiles a variant into the folder and returns the library's path. The library is written
    under another name and then renamed, so that the folder never holds a part of it.

    The variant's flags are given to the compiler and not to the linker: with other flags, zig's
    linker compiles the whole C++ library anew, which takes longer than the engine.

    `compiler` is the command and flags of a compiler to use instead of this system's; `kind` is the
    kind of processor to compile for.

    Raises:
        NoCompiler: there is no compiler, or it failed; the message says why.
        OSError: the folder cannot be written.
    """
    kind = kind or processor()
    command = [*(compiler or find_compiler())]
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / library_name(variant, sources, kind)
    handle, partial = tempfile.mkstemp(prefix=f".{variant}-", suffix=".so", dir=folder)
    os.close(handle)
    compiled = Path(partial).with_suffix(".o")
    names = (f'-DVARIANT="{variant}"', f'-DINTERFACE="{sources.interface()}"')
    flags = [*FLAGS, *sources.flags, *flags_of(variant, kind, command), *names, "-I", str(SOURCE)]
    link = [*LINK_FLAGS, *sources.flags, str(compiled)]
    try:
        _run(command, [*flags, "-c", str(sources.main), "-o", str(compiled)])
        try:
            _run(command, [*link, *STATIC, "-o", partial])
        except NoCompiler:  # a system may lack the static libraries
            _run(command, [*link, "-o", partial])
        digest = hashlib.sha256(Path(partial).read_bytes()).hexdigest()
        target.with_suffix(".sha256").write_text(digest)
        Path(partial).chmod(0o755)
        Path(partial).replace(target)
        return target
    finally:
        for path in (Path(partial), compiled):
            path.unlink(missing_ok=True)


def _run(command: Sequence[str], arguments: Sequence[str]) -> None:
    """Runs a compiler.

    Raises:
        NoCompiler: it failed; the message holds its first line about an error, else its first line.
    """
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        silent = f"it ended with status {done.returncode} and said nothing"
        lines = done.stderr.strip().splitlines() or [silent]
        said = next((line for line in lines if "error" in line), lines[0])
        raise NoCompiler(f"{' '.join(command)} failed: {said}")


def find_compiler() -> list[str]:
    """The command of a C++ compiler: $CXX, this system's, or that of the package ziglang.

    Raises:
        NoCompiler: there is no compiler.
    """
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and shutil.which(name):
            return [name]
    if importlib.util.find_spec("ziglang"):
        # Without "baseline", zig lets every variant use all instructions of this processor.
        return [sys.executable, "-m", "ziglang", "c++", "-mcpu=baseline"]
    raise NoCompiler("there is no C++ compiler (c++, g++ or clang++, or: pip install ziglang)")
