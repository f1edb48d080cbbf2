"""Training speed: our step against a loop with torch.nn.Transformer (plain and compiled), Hugging
Face's Marian, and fairseq, joeynmt and eole if they are installed.

All engines have the same shape, first weights, batches of Multi30k (4,096 tokens; base 2,048),
precision, and Adam with the schedule of section 5.3.

1. Losses. The engines train without dropout for 200 steps. Their losses must stay within 1 % of
   each other at every step, and must fall by a tenth, so that weights have moved. Otherwise the
   benchmark ends with exit code 1.
2. Speed. With dropout where the paper has it, the engines take turns of four steps. Each runs warm
   and in a process of its own, as its users run it. `--rounds 0` leaves speed out.
3. The long run. The engines train for 300 steps more, in turns of 50: batches of all lengths, and
   everybody's caches filled. `--long-steps 0` leaves it out.

"Of the peak" is the time that a step's matrix products need, padding left out, at the speed that
large products reached in the same run.

torch.nn.Transformer has no attention dropout and no last norms, as in the paper, and uses its fast
causal mask. Marian has the label smoother of transformers' trainer; the toolkits have losses of
their own. All peers get finished tensors and the fused kernel of Adam, which makes them as fast as
possible. eole's losses are compared with ours, because it is pre-norm and torch's model is not.
To install the toolkits: pip install --no-deps fairseq==0.12.2 joeynmt==2.3.0 eole==0.6.4, and then
the packages that importing them asks for.

    python benchmarks/train.py [--shapes tiny,small] [--precision bf16] [--peers NAME,...]
                               [--rounds N] [--long-steps N] [--equal-steps N] [--threads N]

Reads $ALLYOUNEED_DATA or ../shared/data; without Multi30k there, words are random. Base needs
2.5 GiB of memory for each engine in each precision. On shared machines only the ratios are
meaningful, not absolute times.
"""

import argparse
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from contest import machine
from contest.measure import say
from steps import measure, report
from steps.toolkits import TOOLKITS, installed
from steps.trainers import OURS, PEERS, PRECISIONS, TORCH
from steps.work import QUICK, SHAPES, Shape, Work

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Measures every shape, prints the table and writes the results."""
    arguments = parsed()
    cores = machine.stay_on(arguments.threads)
    torch.set_num_threads(cores)
    there = machine.described(cores)
    say(f"{there['processor']}, {cores} cores")
    document: dict[str, Any] = {
        "machine": there,
        "product_peaks": machine.product_peaks(cores),
        "notes": [*machine.warnings(there), *absent()],
        "results": [],
    }
    with tempfile.TemporaryDirectory(prefix="allyouneed-train-") as place:
        for name, shape in arguments.shapes.items():
            document["results"] += contest(arguments, shape, Path(place) / name, document)
            path = report.write_results(document, arguments.results)
    report.print_table(document["results"])
    say(f"written: {path}")
    fall = -1.0 if arguments.quick else measure.FALL  # a few steps on little data may rise
    if complaints := report.complaints(document["results"], fall):
        sys.exit("\n".join(complaints))


def parsed() -> argparse.Namespace:
    """The command line's options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shapes", default=",".join(SHAPES), help="(%(default)s)")
    parser.add_argument("--precision", default=",".join(PRECISIONS), help="(%(default)s)")
    parser.add_argument(
        "--peers", default=",".join((*PEERS, *installed())), help="default: %(default)s"
    )
    parser.add_argument("--rounds", type=int, default=5, help="0: only losses (%(default)s)")
    parser.add_argument(
        "--long-steps", type=int, default=300, help="steps of the long run; 0: none (%(default)s)"
    )
    parser.add_argument(
        "--equal-steps", type=int, default=200, help="steps to compare losses over (%(default)s)"
    )
    parser.add_argument("--threads", type=int, default=2, help="threads per engine (%(default)s)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="a tiny shape, to test the benchmark")
    arguments = parser.parse_args()
    arguments.precision = arguments.precision.split(",")
    arguments.peers = arguments.peers.split(",")
    wanted = arguments.shapes.split(",")
    for option, given, known in (
        ("shapes", wanted, SHAPES.keys()),
        ("precision", arguments.precision, PRECISIONS),
        ("peers", arguments.peers, (*PEERS, *TOOLKITS)),
    ):
        if unknown := set(given) - set(known):
            parser.error(f"--{option}: {min(unknown)!r} is not one of {', '.join(known)}")
    if any(count is not None and count < 1 for count in (arguments.threads, arguments.equal_steps)):
        parser.error("--equal-steps and --threads must be at least 1")
    if arguments.rounds < 0 or arguments.long_steps < 0:
        parser.error("--rounds and --long-steps must be at least 0")
    if TORCH not in arguments.peers:
        parser.error(f"--peers must include {TORCH}, because losses are compared with its losses")
    if not find_spec("transformers"):
        sys.exit(
            "transformers is not installed; install it with: pip install 'allyouneed[interop]'"
        )
    arguments.shapes = QUICK if arguments.quick else {name: SHAPES[name] for name in wanted}
    return arguments


def contest(
    arguments: argparse.Namespace, shape: Shape, folder: Path, document: dict[str, Any]
) -> list[Any]:
    """All engines with one shape."""
    work = Work(shape, folder)
    if work.made_up:
        document["notes"].append(f"{shape.preset}: words are random, with Multi30k's lengths")
    engines = measure.contestants((OURS, *arguments.peers), arguments.precision)
    measure.compare_losses(work, engines, arguments.equal_steps)
    if arguments.rounds:
        threads = torch.get_num_threads()
        measure.take_turns(work, engines, arguments.rounds, threads, arguments.long_steps)
    return report.results_of(work, engines, document["product_peaks"])


def absent() -> list[str]:
    """Notes about toolkits that are not installed."""
    missing = [name for name in TOOLKITS if name not in installed()]
    return [f"not installed, so left out: {', '.join(missing)}"] if missing else []


if __name__ == "__main__":
    main()
