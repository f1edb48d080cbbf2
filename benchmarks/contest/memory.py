"""Measures the peak memory of each engine in a process of its own."""

import multiprocessing
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from contest.cells import Cell
from contest.models import Formats
from contest.runners import Setting, make_runner

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
EMPTY = "import numpy; print(open('/proc/self/status').read())"
PEAK = "5"  # written to clear_refs, this resets the recorded peak to the present memory


def peaks(
    name: str, formats: Formats, cores: int, work: Sequence[tuple[Cell, Setting]]
) -> dict[str, float | None]:
    """The peak memory of decoding in MiB, by cell: libraries, weights and caches, without the
    memory of an empty Python with numpy.

    Forced cells decode two batches for each worker, natural cells their whole sample. The memory is
    None if the system does not tell it.
    """
    if not CLEAR.exists():
        return {cell.name: None for cell, _ in work}
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        what = (name, formats, cores, work, empty_kilobytes())
        return pool.submit(_peaks_here, *what).result()


def empty_kilobytes() -> int:
    """The memory of an empty Python with numpy, in kilobytes; 0 if the system does not tell it."""
    if not STATUS.exists():
        return 0
    told = subprocess.run([sys.executable, "-c", EMPTY], capture_output=True, text=True, check=True)
    return kilobytes("VmRSS", told.stdout)


def peak_of(work: Callable[[], object], empty: int) -> float:
    """The peak memory in MiB during work(), minus the kilobytes `empty`."""
    CLEAR.write_text(PEAK)
    work()
    return round((kilobytes("VmHWM", STATUS.read_text()) - empty) / 1024, 1)


def _peaks_here(
    name: str, formats: Formats, cores: int, work: Sequence[tuple[Cell, Setting]], empty: int
) -> dict[str, float | None]:
    runner = make_runner(name, formats, cores)
    found: dict[str, float | None] = {}
    for cell, setting in sorted(work, key=lambda pair: pair[0].batch * pair[0].beam):
        part = cell.part(2 * cell.batch * setting.workers) if cell.batch else cell.part(500)
        runner.run(part.part(setting.workers), setting)  # loads the model
        found[cell.name] = peak_of(partial(runner.run, part, setting), empty)
    return found


def kilobytes(field: str, status: str) -> int:
    """A field of the text of /proc/self/status."""
    found = re.search(rf"^{field}:\s+(\d+)", status, re.MULTILINE)
    assert found
    return int(found[1])
