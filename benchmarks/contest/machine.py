"""Describes the machine, and measures how fast it reads and multiplies at best."""

import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from allyouneed import __version__

PACKAGES = (
    "ctranslate2",
    "torch",
    "transformers",
    "fairseq",
    "joeynmt",
    "eole",
    "numpy",
    "tokenizers",
    "sacrebleu",
)
FLAGS = (
    "avx2", "fma", "avx_vnni", "avx512f", "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16",
    "amx_tile", "amx_int8", "amx_bf16", "asimd", "asimddp", "i8mm", "bf16",
)  # fmt: skip
READ = 64 * 2**20  # bytes of the buffer that is read repeatedly: at least a base decoder's weights
BUSY = 0.1  # the share of the machine that other programs may use without a warning
SIDE = 2048  # rows and columns of the matrices that are multiplied


@dataclass(frozen=True)
class Limits:
    """The highest rates that these cores reached: bytes read and int8 operations per second."""

    bytes_per_second: float
    operations_per_second: float

    def in_words(self) -> str:
        """The limits as a sentence."""
        return (
            f"These cores, just then, read {self.bytes_per_second / 1e9:.0f} GB/s at best and did "
            f"{self.operations_per_second / 1e9:.0f} G int8 operations a second."
        )

    def to_dict(self) -> dict[str, float]:
        """The limits as JSON values."""
        return asdict(self)


def stay_on(cores: int) -> int:
    """Restricts this process and its children to this number of cores. Returns the number of cores
    that they then have."""
    if not hasattr(os, "sched_setaffinity"):
        return min(cores, os.cpu_count() or 1)
    mine = sorted(os.sched_getaffinity(0))[:cores]
    os.sched_setaffinity(0, mine)
    return len(mine)


def measured_limits(cores: int) -> Limits:
    """The rates of reading a buffer of 64 MiB repeatedly, and of torch's large int8 products."""
    import torch

    torch.set_num_threads(cores)
    parts = [np.ones(READ // cores, np.int8) for _ in range(cores)]
    a, b = (torch.ones(SIDE, SIDE, dtype=torch.int8) for _ in range(2))
    with ThreadPoolExecutor(cores) as pool:
        reading = shortest(lambda: list(pool.map(np.max, parts)))
    multiplying = shortest(lambda: torch._int_mm(a, b))
    return Limits(READ / reading, 2 * SIDE**3 / multiplying)


def product_peaks(cores: int) -> dict[str, float]:
    """Operations a second of large matrix products in torch, by precision."""
    import torch

    torch.set_num_threads(cores)
    peaks = {}
    for name, dtype in {"float32": torch.float32, "bf16": torch.bfloat16}.items():
        a, b = (torch.ones(SIDE, SIDE, dtype=dtype) for _ in range(2))
        peaks[name] = 2 * SIDE**3 / shortest(partial(torch.mm, a, b))
    return peaks


def in_words(machine: dict[str, Any]) -> str:
    """The result of `described` as a sentence."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return (
        f"{machine['processor']} (model {machine['model']}; {' '.join(machine['flags'])}), "
        f"{machine['cores_used']} of {machine['cores_of_machine']} cores, "
        f"{machine['memory_gib']} GiB; {machine['system']}; Python {machine['python']}, "
        f"{versions}; commit {machine['commit']}; {machine['date']}."
    )


def shortest(work: Callable[[], object], times: int = 15) -> float:
    """The seconds of the fastest of several runs."""
    took = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return min(took)


def described(cores: int) -> dict[str, Any]:
    """Processor, memory, versions and date, for the file of results."""
    information = _key_values(Path("/proc/cpuinfo"))
    present = information.get("flags", information.get("Features", "")).split()
    memory = _key_values(Path("/proc/meminfo")).get("MemTotal", "0 kB").split()[0]
    return {
        "processor": information.get("model name") or platform.processor() or platform.machine(),
        "model": information.get("model", ""),
        "flags": [flag for flag in FLAGS if flag in present],
        "cores_of_machine": os.cpu_count(),
        "cores_used": cores,
        "memory_gib": round(int(memory) / 2**20, 1),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "versions": {"allyouneed": __version__}
        | {name: number for name in PACKAGES if (number := _version(name))},
        "commit": _commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "busy": busy(),
    }


def busy() -> float | None:
    """The share (0 … 1) of all cores' time that other programs use now; None if unknown."""
    try:
        before = _ticks()
        time.sleep(1.0)
        after = _ticks()
    except OSError:
        return None
    idle, total = (y - x for x, y in zip(before, after, strict=True))
    return round(1 - idle / max(total, 1), 2)


def warnings(machine: dict[str, Any]) -> list[str]:
    """Warnings for the reader of the figures."""
    if (machine["busy"] or 0) <= BUSY:
        return []
    found = f"others took {machine['busy']:.0%} of the machine when this began"
    return [f"{found}: look at the spread before you trust a ratio"]


def slug(machine: dict[str, Any]) -> str:
    """The processor's name as part of a file name."""
    name = f"{machine['processor']} {machine['model']}".lower()
    kept = "".join(sign if sign.isalnum() else " " for sign in name).split()
    return "-".join(word for word in kept if word not in ("r", "tm", "cpu", "processor"))


def median_and_range(values: list[float]) -> tuple[float, float, float]:
    """Median, least, greatest."""
    return statistics.median(values), min(values), max(values)


def _ticks() -> tuple[int, int]:
    ticks = [int(n) for n in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return ticks[3] + ticks[4], sum(ticks)


def _key_values(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    pairs = (line.partition(":") for line in reversed(path.read_text().split("\n")))
    return {key.strip(): value.strip() for key, _, value in pairs}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _commit() -> str:
    here = Path(__file__).parent
    told = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=here, capture_output=True, text=True
    )
    return told.stdout.strip()
