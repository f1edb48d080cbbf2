"""Measures the quality of the fast engines: the bundled model over whole test sets.

Questions about Multi30k test2016 and newstest2013 with beams of 1 and 4:

- metrics: BLEU and chrF of each engine. int8 must be within 0.2 BLEU of float32.
- ctranslate2: the same weights in CTranslate2, in float32; both rank hypotheses by the mean
  log-probability per token. At beam 1 the best hypothesis must be the same for 99 % of the
  sentences; at beam 4 at most 0.5 % may be worse than CTranslate2's.
- neighbours: sentences decoded alone, and in batches of several sizes and orders. 99.9 % must get
  the same hypothesis, and no score may change by more than 1e-4.
- selection: the loss of BLEU and the speed of int8 with a vocabulary selection learned from
  Tatoeba's pairs. There is no bar.

    python benchmarks/quality.py [--questions metrics,selection] [--sentences N] [--cores N]

Needs $ALLYOUNEED_DATA, or ../shared/data. Takes about half an hour on one core.
"""

import argparse
import json
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from contest import cells, machine
from contest.measure import say
from contest.questions import Questions
from rich.console import Console
from rich.table import Table

from allyouneed.model_folder.folder import open_model_folder

ASKED = ("metrics", "ctranslate2", "neighbours", "selection")
COLUMNS = ("question", "set", "beam", "engine", "found", "bar", "met")
SHARES = ("same", "worse", "better", "covered")  # of sentences, of pieces
WIDTH = 170  # of the table; a narrower screen wraps its lines
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Asks every question, prints the table and writes the results."""
    arguments = parsed()
    cores = machine.stay_on(arguments.cores)
    folder = open_model_folder("en-de")
    sets = [part(one, arguments.sentences) for one in cells.test_sets([*cells.SETS], folder)]
    if missing := cells.SETS.keys() - {one.name for one in sets}:
        sys.exit(
            f"the data of {' and '.join(sorted(missing))} are missing; "
            "set ALLYOUNEED_DATA to the folder that holds them"
        )
    document: dict[str, Any] = {
        "machine": machine.described(cores),
        "sentences": {one.name: len(one.references) for one in sets},
        "results": [],
    }
    path = arguments.results / f"quality-{machine.slug(document['machine'])}.json"
    with tempfile.TemporaryDirectory(prefix="allyouneed-quality-") as place:
        questions = Questions(Path(place), cores)
        for question in arguments.questions:
            for test_set in sets:
                for beam in cells.BEAMS:
                    asked = {"question": question, "set": test_set.name, "beam": beam}
                    for row in getattr(questions, question)(test_set, beam):
                        document["results"].append(asked | row)
                        say(", ".join(filter(None, cells_of(asked | row))))
                        write(path, document | {"signatures": questions.signatures})
    print_table(document["results"], questions.signatures)
    say(f"written: {path}")


def parsed() -> argparse.Namespace:
    """The command line's options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", default=",".join(ASKED), help="(%(default)s)")
    parser.add_argument("--sentences", type=int, help="sentences of each set; by default all")
    parser.add_argument("--cores", type=int, default=2, help="cores of each engine (%(default)s)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder (%(default)s)")
    arguments = parser.parse_args()
    arguments.questions = arguments.questions.split(",")
    if unknown := set(arguments.questions) - set(ASKED):
        parser.error(f"--questions: {min(unknown)!r} is not one of {', '.join(ASKED)}")
    if min(arguments.cores, 1 if arguments.sentences is None else arguments.sentences) < 1:
        parser.error("--cores and --sentences must be at least 1")
    if "ctranslate2" in arguments.questions and not find_spec("ctranslate2"):
        sys.exit("ctranslate2 is not installed; install it with: pip install 'allyouneed[interop]'")
    return arguments


def part(test_set: cells.TestSet, sentences: int | None) -> cells.TestSet:
    """This number of lines, spread evenly over the set."""
    step = max(1, len(test_set.references) // (sentences or len(test_set.references)))
    lines, references = test_set.whole_lines()[::step], test_set.references[::step]
    folder = open_model_folder("en-de")
    return cells.TestSet.of(test_set.name, lines[:sentences], references[:sentences], folder)


def cells_of(row: dict[str, Any]) -> list[str]:
    """A row of the table, in the order of `COLUMNS`."""
    found = ", ".join(_figure(*figure) for figure in row["figures"].items())
    met = {True: "yes", False: "NO", None: ""}[row.get("met")]
    asked = [str(row[name]) for name in COLUMNS[:4]]
    return [*asked, found, row.get("bar", ""), met]


def print_table(results: list[dict[str, Any]], signatures: dict[str, str]) -> None:
    """Prints the table and the metrics' signatures to standard output."""
    table = Table(*COLUMNS)
    for row in results:
        table.add_row(*cells_of(row))
    console = Console(width=WIDTH, highlight=False)
    console.print(table)
    for metric, signature in signatures.items():
        console.print(f"{metric}: {signature}", markup=False)


def write(path: Path, document: dict[str, Any]) -> None:
    """Writes the results so far, so that a run that is ended early leaves results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _figure(name: str, value: float) -> str:
    if name in SHARES:
        return f"{name} {value:.2%}"
    return f"{name} {value:.2f}" if abs(value) >= 0.005 else f"{name} {value:.0g}"


if __name__ == "__main__":
    main()
