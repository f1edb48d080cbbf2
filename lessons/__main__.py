"""`python lessons`: runs every lesson whole, each in a process of its own, and says its time.

Fails when a lesson does, or takes longer than it may. `ALLYOUNEED_LESSONS` and
`ALLYOUNEED_LESSONS_FOLDER` are passed on to them.
"""

import subprocess
import sys
import time
from pathlib import Path

LONGEST = 180.0  # seconds that a lesson may take on two cores
HERE = Path(__file__).resolve().parent


def lessons(folder: Path = HERE) -> list[Path]:
    """The lessons in their order."""
    return sorted(folder.glob("[0-9][0-9]_*.py"))


def run(lesson: Path) -> tuple[float, str]:
    """Runs one lesson: its seconds, and what is wrong with it ("" if nothing)."""
    begin = time.perf_counter()
    ended = subprocess.run([sys.executable, str(lesson)], cwd=lesson.parent, capture_output=True)
    seconds = time.perf_counter() - begin
    if ended.returncode:
        return seconds, (ended.stdout + ended.stderr).decode("utf-8", "replace")
    late = f"longer than {LONGEST:.0f} s\n" if seconds > LONGEST else ""
    return seconds, late


def main() -> int:
    """Runs all; 1 when one is not as it should be."""
    failed = 0
    for lesson in lessons():
        seconds, wrong = run(lesson)
        failed += bool(wrong)
        print(f"{lesson.stem:32} {seconds:6.1f} s  {'FAILED' if wrong else 'ok'}", flush=True)
        if wrong:
            print(wrong, file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
