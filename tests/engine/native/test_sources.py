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


@pytest.mark.parametrize("sanitizer", SANITIZERS)
@pytest.mark.parametrize("program", ["engine_test", "team_test"])
def test_sanitizers_find_nothing(
    program: str, sanitizer: str, compiler: list[str], tmp_path: Path
) -> None:
    """The engine in its best variant, whose products are written with intrinsics."""
    flags = ["-std=c++17", "-O0", "-pthread", f"-fsanitize={sanitizer}"]
    flags += SANITIZERS[sanitizer]
    (tmp_path / "empty.cpp").write_text("int main() { return 0; }\n")
    empty = [*compiler, *flags, str(tmp_path / "empty.cpp"), "-o", str(tmp_path / "empty")]
    if subprocess.run(empty, capture_output=True, check=False).returncode:
        pytest.skip(f"this compiler lacks the sanitizer {sanitizer}")
    sources = [str(HERE / f"{program}.cpp")]
    if program == "engine_test":
        flags += [*build.variants()[build.best_variant(build.features())], *NAMES]
        sources.append(str(ENGINE.main))
    target = str(tmp_path / program)
    subprocess.run([*compiler, *flags, "-I", str(SOURCE), *sources, "-o", target], check=True)
    done = subprocess.run([target], capture_output=True, text=True, check=False, timeout=500)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() in (["all"], ["once", "throws", "taken"])
