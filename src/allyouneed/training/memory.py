"""The memory of this machine, as far as its system tells it; without torch."""

import sys
from pathlib import Path
from typing import Any

CONTAINER = Path("/sys/fs/cgroup/memory.max")  # a container's limit in bytes, or "max"


def process_memory() -> tuple[int, int | None]:
    """(bytes that this process uses, bytes that it could use in all or None if unknown)."""
    status, machine = _kilobytes("/proc/self/status"), _kilobytes("/proc/meminfo")
    own = 1024 * status.get("VmRSS", 0)
    free = machine.get("MemAvailable")
    return own, None if free is None else min(1024 * free + own, _allowed())


def _allowed() -> int:
    """The memory limit of this container in bytes; the largest possible number without a limit."""
    try:
        return int(CONTAINER.read_text())
    except (OSError, ValueError):
        return sys.maxsize


def _kilobytes(path: str) -> dict[str, int]:
    """The sizes in a file of Linux' /proc, in kilobytes by name; empty on other systems."""
    try:
        lines: Any = Path(path).read_text().splitlines()
    except OSError:
        return {}
    parts = (line.split() for line in lines)
    return {part[0].rstrip(":"): int(part[1]) for part in parts if part[-1:] == ["kB"]}
