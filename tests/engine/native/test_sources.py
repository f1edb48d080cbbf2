"""The native sources themselves: no warnings, and clean under the sanitizers."""

import functools
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from allyouneed.engine.native import build
from allyouneed.engine.native.build import ENGINE, KERNELS, SOURCE, NoCompiler, find_compiler

HERE = Path(__file__).parent
WARNINGS = ("-Wall", "-Wextra", "-Werror")
NAMES = ('-DVARIANT="tested"', '-DINTERFACE="tested"')
SANITIZERS = {
    "address,undefined": ("-fno-sanitize-recover=all", "-fno-omit-frame-pointer"),
    "thread": (),
}
FOLDERS = [part for folder in (SOURCE, SOURCE.parent) for part in ("-I", str(folder))]
PROGRAMS = {"engine_test": ENGINE, "memory_test": ENGINE, "team_test": None}


@pytest.fixture(scope="module")
def compiler() -> list[str]:
    try:
        return find_compiler()
    except NoCompiler as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def compiled(
    compiler: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[build.Sources, tuple[str, ...]], str]:
    """Compiles a library's sources into an object file, which the programs with the same flags
    share."""

    @functools.cache
    def compile_once(sources: build.Sources, flags: tuple[str, ...]) -> str:
        target = str(tmp_path_factory.mktemp("compiled") / "library.o")
        subprocess.run([*compiler, *flags, "-c", str(sources.main), "-o", target], check=True)
        return target

    return compile_once


@pytest.mark.parametrize("sources", [ENGINE, KERNELS], ids=lambda sources: sources.what)
@pytest.mark.parametrize("variant", build.variants())
def test_no_warnings(variant: str, sources: build.Sources, compiler: list[str]) -> None:
    flags = (*build.FLAGS, *sources.flags, *build.variants()[variant], *WARNINGS, *NAMES)
    done = subprocess.run(
        [*compiler, *flags, "-fsyntax-only", "-I", str(SOURCE), str(sources.main)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_test_for_warnings_can_fail(compiler: list[str], tmp_path: Path) -> None:
    (tmp_path / "unused.cpp").write_text("int f(int a) { int b; return 0; }\n")
    command = [*compiler, *WARNINGS, "-fsyntax-only", str(tmp_path / "unused.cpp")]
    assert subprocess.run(command, capture_output=True, check=False).returncode


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "sources", "sanitizer"),
    [
        *((name, main, one) for one in SANITIZERS for name, main in PROGRAMS.items()),
        # GCC's OpenMP library is not built for the thread sanitizer.
        ("kernels_test", KERNELS, "address,undefined"),
    ],
)
def test_sanitizers_find_nothing(
    program: str,
    sources: build.Sources | None,
    sanitizer: str,
    compiler: list[str],
    compiled: Callable[[build.Sources, tuple[str, ...]], str],
    tmp_path: Path,
) -> None:
    """The libraries in their best variant, whose products are written with intrinsics."""
    # Under the thread sanitizer a run takes longer than compiling: optimisation pays there.
    speed = "-O1" if sanitizer == "thread" else "-O0"
    flags = ["-std=c++17", speed, "-pthread", f"-fsanitize={sanitizer}"]
    flags += SANITIZERS[sanitizer]
    flags += sources.flags if sources else ()
    (tmp_path / "empty.cpp").write_text("int main() { return 0; }\n")
    empty = [*compiler, *flags, str(tmp_path / "empty.cpp"), "-o", str(tmp_path / "empty")]
    if subprocess.run(empty, capture_output=True, check=False).returncode:
        pytest.skip(f"this compiler lacks the sanitizer {sanitizer} or OpenMP")
    files = [str(HERE / f"{program}.cpp")]
    flags += FOLDERS
    if sources:
        flags += [*build.variants()[build.best_variant(build.features())], *NAMES]
        files.append(compiled(sources, tuple(flags)))
    target = str(tmp_path / program)
    subprocess.run([*compiler, *flags, *files, "-o", target], check=True)
    done = subprocess.run([target], capture_output=True, text=True, check=False, timeout=500)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() in (["all"], ["once", "throws", "taken"])
