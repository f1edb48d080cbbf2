"""`python lessons` runs every lesson at full size, each in its own process, and prints its time.

It fails when a lesson fails or takes more than three minutes. The lessons also read
`ALLYOUNEED_LESSONS` and `ALLYOUNEED_LESSONS_FOLDER`.
"""

import subprocess
import sys
import time
from pathlib import Path

LONGEST = 180.0  # seconds; no lesson may take longer on two cores
HERE = Path(__file__).resolve().parent


def lessons(folder: Path = HERE) -> list[Path]:
    """The lessons in their order."""
    return sorted(folder.glob("[0-9][0-9]_*.py"))


def run(lesson: Path) -> tuple[float, str]:
    """Runs one lesson. Returns its seconds and what is wrong with it, "" if nothing is."""
    begin = time.perf_counter()
    ended = subprocess.run([sys.executable, str(lesson)], cwd=lesson.parent, capture_output=True)
    seconds = time.perf_counter() - begin
    if ended.returncode:
        return seconds, (ended.stdout + ended.stderr).decode("utf-8", "replace")
    late = f"longer than {LONGEST:.0f} s\n" if seconds > LONGEST else ""
    return seconds, late


def main() -> int:
    """Runs all lessons; returns 1 where one of them failed."""
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
