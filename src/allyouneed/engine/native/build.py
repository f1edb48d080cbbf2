"""Compiles native sources: the engine's, and the kernels of training. Standard library only:
installing the package runs it as well.

A compiled library is named after its variant and a digest of everything that it was made from, so
that one made from other sources or with other flags is never taken for it.
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
    *("-std=c++17", "-O3", "-shared", "-fPIC", "-pthread", "-fvisibility=hidden"),
    "-Wno-psabi",  # vectors pass between inlined functions only, never over the interface
    # Sums may be taken in vectors; NaN and infinity keep their meaning.
    *("-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros"),
    *("-fassociative-math", "-freciprocal-math"),
)


@dataclass(frozen=True, slots=True)
class Sources:
    """What a library is compiled from: its main file, and the headers beside that one and beside
    the engine's. `prefix` begins the library's name."""

    what: str
    main: Path
    prefix: str = ""
    flags: tuple[str, ...] = ()

    def interface(self) -> str:
        """A digest of the header that says what the library offers: interface.h beside `main`."""
        header = self.main.with_name("interface.h").read_bytes()
        return hashlib.sha256(header).hexdigest()[:16]

    @property
    def folders(self) -> list[Path]:
        """Where its files are."""
        return list(dict.fromkeys([SOURCE, self.main.parent]))


ENGINE = Sources("engine", SOURCE / "engine.cpp")
# They share torch's threads, and so its library of them, which is loaded before.
KERNELS = Sources(
    "kernels of training",
    Path(__file__).with_name("kernels") / "kernels.cpp",
    prefix="kernels-",
    flags=("-fopenmp",),
)
STATIC = ("-static-libstdc++", "-static-libgcc")  # so that it runs beside older systems' libraries
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
NEEDS: dict[str, set[str]] = {  # of the processor, by the names of /proc/cpuinfo
    "avx512": {"avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni"},
    "avxvnni": {"avx2", "fma", "avx_vnni"},
    "avx2": {"avx2", "fma"},
    "i8mm": {"asimddp", "i8mm"},
    "dotprod": {"asimddp"},
    "any": set(),
}


class NoCompiler(Exception):
    """There is no C++ compiler, or it cannot compile the sources; the text says which."""


def processor() -> str:
    """The kind of processor, by one name on all systems."""
    machine = platform.machine().lower()
    return {"amd64": "x86_64", "aarch64": "arm64"}.get(machine, machine)


def variants(kind: str | None = None) -> dict[str, tuple[str, ...]]:
    """The variants for a kind of processor (None: this one's), best first, with their compiler
    flags."""
    return VARIANTS.get(kind or processor(), {"any": ()})


def features(cpuinfo: Path = Path("/proc/cpuinfo")) -> set[str] | None:
    """What this processor can do, as Linux tells it; None on other systems."""
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
    """The best variant for a processor with these features; $ALLYOUNEED_CPU names a lower one.

    Raises:
        NoCompiler: $ALLYOUNEED_CPU names no variant that this processor can run.
    """
    usable = usable_variants(known)
    wanted = os.environ.get("ALLYOUNEED_CPU")
    if not wanted:
        return usable[0]
    if wanted not in usable:
        raise NoCompiler(
            f"ALLYOUNEED_CPU={wanted} is none of what this processor can run: {', '.join(usable)}"
        )
    return wanted


def library_name(variant: str, sources: Sources = ENGINE, kind: str | None = None) -> str:
    """The file name of a variant compiled from the sources as they are, for this kind of processor
    or another."""
    kind = kind or processor()
    flags = (*FLAGS, *sources.flags, *variants(kind)[variant])
    digest = hashlib.sha256(" ".join((kind, *flags)).encode())
    for folder in sources.folders:
        for path in sorted(folder.iterdir()):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{sources.prefix}{variant}-{digest.hexdigest()[:16]}.so"


def intact(path: Path) -> bool:
    """Whether the library is there as it was compiled, and nobody but its owner, root or the user
    of this process, can have changed it."""
    digest = path.with_suffix(".sha256")
    if not path.is_file() or not digest.is_file():
        return False
    if sys.platform != "win32":  # which has no such permissions
        found = path.stat()
        if found.st_mode & 0o002 or found.st_uid not in (0, os.getuid()):
            return False
    return hashlib.sha256(path.read_bytes()).hexdigest() == digest.read_text().strip()


def compile_variant(
    variant: str,
    folder: Path,
    sources: Sources = ENGINE,
    compiler: Sequence[str] = (),
    kind: str | None = None,
) -> Path:
    """Compiles a variant into the folder, beside and renamed, and returns the library's path.

    `compiler` is the command and the flags of another one than this system's, and `kind` the kind
    of processor that it compiles for.

    Raises:
        NoCompiler: there is none, or it failed; with what it said.
        OSError: the folder cannot be written.
    """
    kind = kind or processor()
    command = [*(compiler or find_compiler())]
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / library_name(variant, sources, kind)
    handle, partial = tempfile.mkstemp(prefix=f".{variant}-", suffix=".so", dir=folder)
    os.close(handle)
    names = (f'-DVARIANT="{variant}"', f'-DINTERFACE="{sources.interface()}"')
    flags = (*FLAGS, *sources.flags, *variants(kind)[variant], *names)
    try:
        for static in (STATIC, ()):  # a system may lack the static libraries
            done = subprocess.run(
                [*command, *flags, "-I", str(SOURCE), *static, str(sources.main), "-o", partial],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode == 0:
                digest = hashlib.sha256(Path(partial).read_bytes()).hexdigest()
                target.with_suffix(".sha256").write_text(digest)
                Path(partial).chmod(0o755)
                Path(partial).replace(target)
                return target
        said = (done.stderr.strip().splitlines() or ["?"])[0]
        raise NoCompiler(f"{' '.join(command)} failed: {said}")
    finally:
        Path(partial).unlink(missing_ok=True)


def find_compiler() -> list[str]:
    """The command of the C++ compiler of $CXX, of this system, or of the package ziglang.

    Raises:
        NoCompiler: there is none.
    """
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and shutil.which(name):
            return [name]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "c++"]
    raise NoCompiler("there is no C++ compiler (c++, g++ or clang++, or: pip install ziglang)")
