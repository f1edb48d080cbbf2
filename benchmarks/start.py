"""Measures the time of a start, relative to `python -c "import torch"`. Every start is a process of
its own. The starts take turns in one run, with warm file caches and a compiled native engine.

Prints the median and range over rounds.

    python benchmarks/start.py [--rounds N]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HELLO = ("-m", "allyouneed", "translate", "Hello.")
YARDSTICK = "import torch"
STARTS = {
    YARDSTICK: ("-c", "import torch"),
    "--help": ("-m", "allyouneed", "--help"),
    'translate "Hello."': HELLO,
    'translate "Hello." --engine core': (*HELLO, "--engine", "core"),
}


def main() -> None:
    """Measures every start in every round and prints a line for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9, help="(%(default)s)")
    rounds = parser.parse_args().rounds
    if rounds < 1:
        parser.error("--rounds must be at least 1")
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in STARTS.items():  # warms the caches of engine, files and byte code
            seconds(arguments, Path(folder))
            print(f"ready: {name}", file=sys.stderr, flush=True)
        took = [
            {name: seconds(STARTS[name], Path(folder)) for name in STARTS} for _ in range(rounds)
        ]
    for name in STARTS:
        shares = sorted(one[name] / one[YARDSTICK] for one in took)
        if name != YARDSTICK:
            print(f"{name}: {statistics.median(shares):.2f} ({shares[0]:.2f} … {shares[-1]:.2f})")
    after, before = ([one[name] for one in took] for name in list(STARTS)[2:])
    more = statistics.median(after) - statistics.median(before)
    print(f"native engine from a warm cache: {more:+.2f} s against the core engine's start")


def seconds(arguments: tuple[str, ...], cache: Path) -> float:
    """The seconds that Python runs with these arguments. A failure ends the program."""
    environment = {**os.environ, "ALLYOUNEED_CACHE": str(cache)}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    took = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{' '.join(arguments)} failed:\n{done.stderr}")
    return took


if __name__ == "__main__":
    main()
