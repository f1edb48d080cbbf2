"""Compiles native sources: the engine's, and the kernels of training. Standard library only:
installing the package runs it as well.

A compiled library is named after its variant and a digest of everything that it was made from, so
that one made from other sources or with other flags is never taken for it.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_name("source")
FLAGS = (
    *("-std=c++17", "-O3", "-shared", "-fPIC", "-pthread", "-fvisibility=hidden", "-w"),
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
AVX512 = ("f", "bw", "dq", "vl", "vnni")
VARIANTS: dict[str, dict[str, tuple[str, ...]]] = {
    # For each kind of processor its variants, best first, with what they need of the compiler.
    "x86_64": {
        "avx512": (
            *("-mavx2", "-mfma", "-mprefer-vector-width=512"),
            *(f"-mavx512{part}" for part in AVX512),
        ),
        "avx2": ("-mavx2", "-mfma"),
        "any": (),
    },
    "arm64": {"dotprod": ("-march=armv8.2-a+dotprod",), "any": ()},
}
NEEDS: dict[str, set[str]] = {  # of the processor
    "avx512": {"avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni"},
    "avx2": {"avx2", "fma"},
    "dotprod": {"asimddp"},
    "any": set(),
}


class NoCompiler(Exception):
    """There is no C++ compiler, or it cannot compile the sources; the text says which."""


def processor() -> str:
    """The kind of processor, by one name on all systems."""
    machine = platform.machine().lower()
    return {"amd64": "x86_64", "aarch64": "arm64"}.get(machine, machine)


def variants() -> dict[str, tuple[str, ...]]:
    """The variants for this kind of processor, best first, with their compiler flags."""
    return VARIANTS.get(processor(), {"any": ()})


def best_variant(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The best variant that this very processor can run."""
    known: set[str] = set()
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() in ("flags", "Features"):
                known = set(value.split())
                break
    elif sys.platform == "darwin" and processor() == "arm64":
        known = {"asimddp"}  # every one of them has it
    return next(name for name in variants() if NEEDS[name] <= known)


def library_name(variant: str, sources: Sources = ENGINE) -> str:
    """The file name of a variant compiled from the sources as they are."""
    flags = (*FLAGS, *sources.flags, *variants()[variant])
    digest = hashlib.sha256(" ".join((processor(), *flags)).encode())
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
    found = path.stat()
    if found.st_mode & 0o002 or found.st_uid not in (0, os.getuid()):
        return False
    return hashlib.sha256(path.read_bytes()).hexdigest() == digest.read_text().strip()


def compile_variant(variant: str, folder: Path, sources: Sources = ENGINE) -> Path:
    """Compiles a variant into the folder, beside and renamed, and returns the library's path.

    Raises:
        NoCompiler: there is none, or it failed; with what it said.
        OSError: the folder cannot be written.
    """
    compiler = find_compiler()
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / library_name(variant, sources)
    handle, partial = tempfile.mkstemp(prefix=f".{variant}-", suffix=".so", dir=folder)
    os.close(handle)
    names = (f'-DVARIANT="{variant}"', f'-DINTERFACE="{sources.interface()}"')
    flags = (*FLAGS, *sources.flags, *variants()[variant], *names)
    command = [compiler, *flags, "-I", str(SOURCE)]
    try:
        for static in (STATIC, ()):  # a system may lack the static libraries
            done = subprocess.run(
                [*command, *static, str(sources.main), "-o", partial],
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
        raise NoCompiler(f"{compiler} failed: {(done.stderr.strip().splitlines() or ['?'])[0]}")
    finally:
        Path(partial).unlink(missing_ok=True)


def find_compiler() -> str:
    """The C++ compiler of $CXX or of this system.

    Raises:
        NoCompiler: there is none.
    """
    if sys.platform == "win32":
        raise NoCompiler("compiling is not supported on Windows")
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and shutil.which(name):
            return name
    raise NoCompiler("there is no C++ compiler (c++, g++ or clang++)")
