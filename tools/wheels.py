"""Makes the wheels for all systems in dist/, by cross-compiling on this one.

    python tools/wheels.py                         # all of them
    python tools/wheels.py manylinux2014_x86_64    # one

It needs the packages build and hatchling, and ziglang in the version that hatch_build.py names. All
wheels take twelve minutes of one core; libraries that are compiled are kept in build/wheels.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TAGS = (
    "manylinux2014_x86_64",
    "manylinux2014_aarch64",
    "macosx_11_0_arm64",
    "macosx_10_15_x86_64",
    "win_amd64",
)


def make(tag: str, into: Path) -> Path:
    """The wheel for the systems of this tag.

    Raises:
        subprocess.CalledProcessError: it cannot be made; with what the build said.
    """
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(into)]
    subprocess.run(
        [*command, str(ROOT)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "ALLYOUNEED_WHEEL": tag},
    )
    [wheel] = into.glob(f"allyouneed-*-py3-none-{tag}.whl")
    return wheel


def main() -> None:
    """Reads the command line and makes the wheels."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tags", nargs="*", metavar="TAG", help=", ".join(TAGS))
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="the folder for them")
    given = parser.parse_args()
    if unknown := sorted({*given.tags} - {*TAGS}):
        parser.error(f"{', '.join(unknown)}: choose from {', '.join(TAGS)}")
    for tag in given.tags or TAGS:
        try:
            wheel = make(tag, given.into)
        except subprocess.CalledProcessError as error:
            said = (error.stderr.strip() or error.stdout.strip() or "?").splitlines()
            sys.exit(f"{tag}: the wheel cannot be made: {said[-1]}")
        sys.stdout.write(f"{wheel}  {wheel.stat().st_size / 2**20:.1f} MiB\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
