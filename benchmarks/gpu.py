"""Decoding and training on a GPU: the engine `cuda` and the core against Hugging Face and torch.

Decoding: forced cells such as "8x4" (batches of 8 sentences, beam 4) of the base shape with random
weights, a vocabulary of 32,000, 25 source tokens and exactly 25 target tokens. `cuda` and
transformers compute in bfloat16, the core in float32. All engines are warm and take turns.

Training: steps of 25,000 tokens a side, the paper's batch, of the base shape in bf16. Ours makes
its batches from its store, as in a run; the peers get finished tensors on the GPU.

    python benchmarks/gpu.py [--cells 1x1,8x4] [--peers NAME,...] [--rounds N] [--steps N]

Needs a GPU that torch finds, and transformers. On one H200, three rounds and 20 steps without
torch.compile took 71 seconds. `--device cpu` with `--quick` tests the benchmark.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from contest import cells, machine
from contest.measure import measure, say
from contest.models import all_models
from contest.ours import OurRunner
from contest.runners import HuggingFaceRunner
from steps.trainers import COMPILED, MARIAN, OURS, TORCH, Trainer, make_trainer
from steps.work import QUICK, Shape, Work

from allyouneed.device import named_device
from allyouneed.errors import UsageError

RESULTS = Path(__file__).parent / "results" / "gpu.jsonl"
SHAPES = ((1, 1), (1, 4), (8, 4), (32, 1), (32, 4), (128, 4))  # batch, beam
TOKENS, QUICK_TOKENS = 25, 6
SHAPE = Shape("base", 25_000, 32_000)
WARM = 5  # steps of training that are not timed
AT_ONCE = 5  # steps of an engine before the next one's turn


def main() -> None:
    """Measures decoding and training, prints both tables and writes the results."""
    arguments = parsed()
    on = arguments.device
    try:
        named_device(on)  # which switches cuDNN's attention off, for the peers too
    except UsageError as error:
        sys.exit(str(error))
    there = machine.described(os.cpu_count() or 1)
    there["gpu"] = torch.cuda.get_device_name() if on == "cuda" else None
    say(f"{there['gpu'] or 'no GPU'}; torch {torch.__version__}")
    found = decoding(arguments) + training(arguments)
    for row in found:
        print("\t".join(str(value) for value in row.values()))
    with arguments.results.open("a") as results:
        for row in found:
            results.write(json.dumps({"machine": there, **row}) + "\n")
    say(f"written: {arguments.results}")


def parsed() -> argparse.Namespace:
    """The command line's options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = [f"{batch}x{beam}" for batch, beam in SHAPES]
    parser.add_argument("--cells", default=",".join(every), help="(%(default)s)")
    parser.add_argument("--peers", default=f"{TORCH},{COMPILED},{MARIAN}", help="(%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="of decoding (%(default)s)")
    parser.add_argument("--steps", type=int, default=50, help="of training (%(default)s)")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="(%(default)s)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="tiny shapes, to test the benchmark")
    arguments = parser.parse_args()
    if unknown := set(arguments.cells.split(",")) - set(every):
        parser.error(f"--cells: {min(unknown)!r} is not one of {', '.join(every)}")
    return arguments


def decoding(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Sentences a second of every engine in every cell."""
    on, quick, rows = arguments.device, arguments.quick, []
    wanted = set(arguments.cells.split(","))
    shapes = [shape for shape in SHAPES if "{}x{}".format(*shape) in wanted]
    with all_models(quick) as models:
        formats = models["base"]
        ours = ("cuda", "core") if on == "cuda" else ("core",)
        runners = [OurRunner(formats, name, 1, on) for name in ours]
        runners += [HuggingFaceRunner(formats, on)]
        vocabulary, length = models.shape("base").vocabulary, QUICK_TOKENS if quick else TOKENS
        for cell in cells.forced_cells(shapes, vocabulary, length, 2 if quick else 4):
            outcome = measure(cell, runners, 1, 1 if quick else arguments.rounds)
            peer = outcome["huggingface"]
            rows += [
                {
                    "what": f"decoding {cell.name}",
                    "engine": f"{name} ({measured.runner.description})",
                    "sentences_per_second": round(statistics.median(measured.rates.values()), 1),
                    "over_huggingface": round(statistics.median(measured.over(peer)), 2),
                }
                for name, measured in outcome.items()
            ]
    return rows


def training(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Target tokens a second of every engine."""
    shape = QUICK["quick"] if arguments.quick else SHAPE
    with tempfile.TemporaryDirectory(prefix="allyouneed-gpu-") as place:
        work = Work(shape, Path(place))
        names = (OURS, *filter(None, arguments.peers.split(",")))
        trainers = [make_trainer(name, work, "bf16", 0.1, arguments.device) for name in names]
        for trainer in trainers:
            timed(trainer, work, range(WARM))
        rates: dict[str, list[float]] = {name: [] for name in names}
        for first in range(WARM, WARM + arguments.steps, AT_ONCE):
            numbers = range(first, first + AT_ONCE)
            tokens = sum(work.batch(n, arguments.device).target_tokens for n in numbers)
            for trainer, name in zip(trainers, names, strict=True):
                rates[name].append(tokens / timed(trainer, work, numbers))
    return [
        {
            "what": f"training {shape.preset}",
            "engine": name,
            "target_tokens_per_second": round(statistics.median(own)),
            "over_ours": round(
                statistics.median(a / b for a, b in zip(own, rates[OURS], strict=True)), 2
            ),
        }
        for name, own in rates.items()
    ]


def timed(trainer: Trainer, work: Work, numbers: range) -> float:
    """The seconds that these steps take, until the GPU has finished them."""
    wait = torch.cuda.synchronize if torch.cuda.is_available() else int
    wait()
    began = time.perf_counter()
    for number in numbers:
        trainer.step(number)
    wait()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
