"""The native sources themselves: no warnings, and clean under the sanitizers."""

import subprocess
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
PROGRAMS = {"engine_test": ENGINE, "memory_test": ENGINE, "team_test": None}


@pytest.fixture(scope="module")
def compiler() -> list[str]:
    try:
        return find_compiler()
    except NoCompiler as error:
        pytest.skip(str(error))


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


@pytest.mark.parametrize(
    ("program", "sources", "sanitizer"),
    [
        *((name, main, one) for name, main in PROGRAMS.items() for one in SANITIZERS),
        # GCC's OpenMP library is not built for the thread sanitizer.
        ("kernels_test", KERNELS, "address,undefined"),
    ],
)
def test_sanitizers_find_nothing(
    program: str,
    sources: build.Sources | None,
    sanitizer: str,
    compiler: list[str],
    tmp_path: Path,
) -> None:
    """The libraries in their best variant, whose products are written with intrinsics."""
    flags = ["-std=c++17", "-O0", "-pthread", f"-fsanitize={sanitizer}"]
    flags += SANITIZERS[sanitizer]
    flags += sources.flags if sources else ()
    (tmp_path / "empty.cpp").write_text("int main() { return 0; }\n")
    empty = [*compiler, *flags, str(tmp_path / "empty.cpp"), "-o", str(tmp_path / "empty")]
    if subprocess.run(empty, capture_output=True, check=False).returncode:
        pytest.skip(f"this compiler lacks the sanitizer {sanitizer} or OpenMP")
    files = [str(HERE / f"{program}.cpp")]
    if sources:
        flags += [*build.variants()[build.best_variant(build.features())], *NAMES]
        files.append(str(sources.main))
    folders = [part for folder in (SOURCE, SOURCE.parent) for part in ("-I", str(folder))]
    target = str(tmp_path / program)
    subprocess.run([*compiler, *flags, *folders, *files, "-o", target], check=True)
    done = subprocess.run([target], capture_output=True, text=True, check=False, timeout=500)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() in (["all"], ["once", "throws", "taken"])
