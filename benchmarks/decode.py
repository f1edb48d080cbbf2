"""Decoding speed: our engines against CTranslate2 and Hugging Face, on the same weights.

All engines get the same sentences, beam, length limits and cores; their token counts are checked.
The engines are warm and take turns. Each runs with its fastest setting, which is found in the same
run: for CTranslate2 two workers of one thread or one worker of two, and any batch size if the cell
does not fix it. All engines divide scores by length. Ours run without loop guard, which the peers
lack, and without vocabulary selection except against Bergamot.

Forced cells, such as "8x4" (batches of 8 sentences, beam 4), use the base shape with random
weights, a vocabulary of 32,000, 25 source tokens and exactly 25 target tokens. Natural cells, such
as "newstest2013-4" (beam 4), use the bundled model over a whole test set, and translations end
where the model ends them. Natural cells need $ALLYOUNEED_DATA or ../shared/data; without it they
are left out with a note.

More forced cells: "opus-8x4" has OPUS-MT's shape, a vocabulary of 65,000. "tiny-8x1" and
"memory-8x1" have the shapes of Firefox's tiny and base-memory models (SSRU decoders, a vocabulary
of 32,000). There the peer is Bergamot, Firefox's engine, and both use the same vocabulary
selection; contest/bergamot.py says how to install it.

    python benchmarks/decode.py [--cells 1x1,8x4,test2016-4] [--rounds N] [--engines NAMES]

Takes about 40 minutes on two cores; with one or two cells and --rounds 3 a few minutes. On shared
machines only the ratios are meaningful, not absolute times.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from contest import cells, firefox, machine, memory, report
from contest.floor import floors
from contest.measure import Measured, agreement, measure, say
from contest.models import Formats, Models, all_models
from contest.runners import BASELINE, DEFAULT, OURS, PEERS, Runner, Setting, make_runner

from allyouneed.errors import UsageError
from allyouneed.evaluation.metrics import measure as score

TOKENS, QUICK_TOKENS = 25, 6
QUICK_SHAPES = ((1, 1), (2, 4))
MORE_SHAPES = ((1, 1), (8, 1), (32, 1), (32, 4))  # of the models opus, tiny and memory
FORCED = ("base", *firefox.SHAPES, "opus")
RESULTS = Path(__file__).parent / "results"
EVERYDAY = {
    "Good morning!": "Guten Morgen!",
    "Where is the train station?": "Wo ist der Bahnhof?",
    "My sister lives in Berlin.": "Meine Schwester lebt in Berlin.",
    "The children are playing in the garden.": "Die Kinder spielen im Garten.",
}
FLOAT32 = ("cpu-float32", "core")


def main() -> None:
    """Measures every cell, prints the table and writes the results."""
    arguments = parsed()
    cores = machine.stay_on(arguments.cores)
    there = machine.described(cores)
    say(f"{there['processor']}, {cores} cores")
    limits = machine.measured_limits(cores)
    contest = Contest(arguments, there, limits)
    contest.run()
    report.print_table(contest.results)
    for note in contest.notes:
        say(f"note: {note}")
    say(f"written: {contest.write()}")


def parsed() -> argparse.Namespace:
    """The command line's options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    everything = [f"{batch}x{beam}" for batch, beam in cells.SHAPES]
    everything += [f"{name}-{b}x{beam}" for name in FORCED[1:] for b, beam in MORE_SHAPES]
    everything += [f"{name}-{beam}" for name in cells.SETS for beam in cells.BEAMS]
    parser.add_argument("--cells", default=",".join(everything), help="(%(default)s)")
    parser.add_argument("--engines", default=",".join(DEFAULT), help="also: core (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="(%(default)s)")
    parser.add_argument("--cores", type=int, default=2, help="cores of each engine (%(default)s)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="tiny shapes, to test the benchmark")
    arguments = parser.parse_args()
    arguments.engines = arguments.engines.split(",")
    arguments.cells = arguments.cells.split(",")
    for name, known in (("engines", (*OURS, *PEERS)), ("cells", everything)):
        unknown = set(getattr(arguments, name)) - set(known)
        if unknown:
            parser.error(f"--{name}: {min(unknown)!r} is not one of {', '.join(known)}")
    if min(arguments.rounds, arguments.cores) < 1:
        parser.error("--rounds and --cores must be at least 1")
    if BASELINE not in arguments.engines:
        arguments.engines.append(BASELINE)
    for package in ("ctranslate2", "transformers"):
        if not find_spec(package):
            sys.exit(
                f"{package} is not installed; install it with: pip install 'allyouneed[interop]'"
            )
    return arguments


class Contest:
    """All cells, one after the other, and their results."""

    def __init__(
        self, arguments: argparse.Namespace, there: dict[str, Any], limits: machine.Limits
    ) -> None:
        self.arguments, self.machine, self.limits = arguments, there, limits
        self.cores: int = there["cores_used"]
        self.results: list[dict[str, Any]] = []
        self.notes = machine.warnings(there)

    def run(self) -> None:
        """Runs the forced cells, then the natural ones."""
        with all_models(self.arguments.quick) as models:
            for name in FORCED:
                forced = [cell for cell in self.forced_cells(name, models) if self.wanted(cell)]
                if forced and set(models.peers(name)) & set(self.arguments.engines):
                    self.run_model([(cell, None) for cell in forced], models[name])
            natural = [
                (cell, test_set)
                for test_set in self.test_sets(models["bundled"])
                for cell in test_set.cells(cells.BEAMS)
                if self.wanted(cell)
            ]
            self.run_model(natural, models["bundled"])

    def forced_cells(self, name: str, models: Models) -> Iterator[cells.Cell]:
        """All forced cells of the model of this name."""
        quick = self.arguments.quick
        shapes = QUICK_SHAPES if quick else cells.SHAPES if name == "base" else MORE_SHAPES
        tokens, batches = (QUICK_TOKENS, 4) if quick else (TOKENS, None)
        vocabulary = models.shape(name).vocabulary
        if name in firefox.SHAPES:
            return firefox.firefox_cells(name, shapes, vocabulary - 1, tokens, batches)
        return cells.forced_cells(shapes, vocabulary, tokens, batches, name)

    def wanted(self, cell: cells.Cell) -> bool:
        """Whether the user asked for this cell."""
        if self.arguments.quick:
            return cell.model != "opus"  # which in a tiny shape is "base" again
        return cell.name in self.arguments.cells

    def test_sets(self, formats: Formats) -> list[cells.TestSet]:
        """The test sets that were asked for and exist, with a note about the others."""
        folder = formats.opened()
        if self.arguments.quick:
            return [cells.TestSet.of("everyday", [*EVERYDAY], [*EVERYDAY.values()], folder)]
        names = [
            name
            for name in cells.SETS
            if any(cell.startswith(f"{name}-") for cell in self.arguments.cells)
        ]
        found = list(cells.test_sets(names, folder))
        missing = set(names) - {test_set.name for test_set in found}
        if missing:
            self.notes.append(
                f"left out, because their data are missing: {', '.join(sorted(missing))}; "
                "set ALLYOUNEED_DATA to the folder that holds them"
            )
        return found

    def run_model(
        self, work: Sequence[tuple[cells.Cell, cells.TestSet | None]], formats: Formats
    ) -> None:
        """Runs all cells of one model. Memory is measured last, in new processes."""
        if not work:
            return
        runners = self.runners(formats)
        rounds = 1 if self.arguments.quick else self.arguments.rounds
        config = formats.opened().config
        decoded: dict[str, list[tuple[cells.Cell, Setting]]] = {}
        for cell, test_set in work:
            outcome = measure(cell, runners, self.cores, rounds)
            scored = quality(outcome, test_set, formats)
            for name, measured in outcome.items():
                decoded.setdefault(name, []).append((cell, measured.setting))
                least = floors(config, measured.cell, measured.tokens, self.limits)
                result = report.results_of(measured, outcome, least)
                self.results.append(result | scored.get(name, {}))
            self.write()
        for name, cells_and_settings in decoded.items():
            if name == "bergamot":  # its process is another one
                continue
            say(f"{name}: peak memory")
            peaks = memory.peaks(name, formats, self.cores, cells_and_settings)
            for result in self.results:
                if result["engine"] == name and result["cell"] in peaks:
                    result["peak_mib"] = peaks[result["cell"]]
        self.write()

    def write(self) -> Path:
        """Writes the results so far, so that a run that is ended early leaves results."""
        folder = self.arguments.results
        return report.write_results(self.results, self.machine, self.limits, self.notes, folder)

    def runners(self, formats: Formats) -> list[Runner]:
        """The engines that were asked for and can run here, with a note about the others."""
        found = []
        for name in self.arguments.engines:
            if name in PEERS and name not in formats.peers:
                continue
            try:
                found.append(make_runner(name, formats, self.cores))
            except UsageError as error:
                self.notes.append(f"{name} left out: {error}")
        return found


def quality(
    outcome: dict[str, Measured], test_set: cells.TestSet | None, formats: Formats
) -> dict[str, dict[str, Any]]:
    """BLEU and chrF of every engine in a natural cell; for our engines in float32 also a comparison
    of their hypotheses with CTranslate2's."""
    if test_set is None:
        return {}
    tokenizer = formats.opened().tokenizer
    found = {}
    for name, measured in outcome.items():
        texts = test_set.texts([tokenizer.decode(one.ids) for one in measured.found])
        scores = [score(metric, texts, test_set.references, 0) for metric in ("BLEU", "chrF")]
        theirs = outcome.get("ctranslate2-float32") if name in FLOAT32 else None
        found[name] = report.quality_of(scores, agreement(measured, theirs) if theirs else None)
    return found


if __name__ == "__main__":
    main()
