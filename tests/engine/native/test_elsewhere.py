"""The engine compiled for other systems and processors, as in their wheels: it runs here under qemu
and wine, where they are installed (Debian: qemu-user-static, wine64)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from allyouneed.engine.native import build
from allyouneed.engine.native.build import ENGINE, SOURCE

HERE = Path(__file__).parent
NAMES = ('-DVARIANT="tested"', '-DINTERFACE="tested"')
QEMU = ("qemu-aarch64-static", "qemu-aarch64")
WINE = ("wine64", "wine", "/usr/lib/wine/wine64")
SYSTEMS = [  # zig's target, kind of processor, variant, programs that run it
    *(("aarch64-linux-musl", "arm64", variant, QEMU) for variant in build.variants("arm64")),
    ("x86_64-windows-gnu", "x86_64", "any", WINE),
]


@pytest.mark.slow
@pytest.mark.parametrize(("target", "kind", "variant", "runners"), SYSTEMS)
def test_the_whole_engine(
    target: str, kind: str, variant: str, runners: tuple[str, ...], tmp_path: Path
) -> None:
    pytest.importorskip("ziglang")
    runner = next(filter(shutil.which, runners), None)
    if runner is None:
        pytest.skip(f"{' or '.join(runners)} is not installed")
    zig = [sys.executable, "-m", "ziglang", "c++", "-target", target]
    program = tmp_path / "engine_test.exe"
    flags = ["-std=c++17", "-O1", "-pthread", *build.flags_of(variant, kind, zig), *NAMES]
    sources = [str(HERE / "engine_test.cpp"), str(ENGINE.main)]
    # Linked without the variant's flags, with which zig would compile its C++ library anew.
    subprocess.run([*zig, *flags, "-I", str(SOURCE), "-c", *sources], check=True, cwd=tmp_path)
    objects = map(str, tmp_path.glob("*.o*"))
    subprocess.run([*zig, "-pthread", *objects, "-o", str(program)], check=True)
    done = subprocess.run(
        [runner, str(program)],
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
        env={**os.environ, "WINEPREFIX": str(tmp_path / "wine"), "WINEDEBUG": "-all"},
    )
    assert (done.returncode, done.stdout.split()) == (0, ["all"]), done.stderr
