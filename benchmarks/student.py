"""How good and how fast a student is beside its teacher, both in int8, on Multi30k's test2016.

The student translates with its vocabulary selection, if its folder has one, the teacher with its
own only if `--teacher-selection` is given. BLEU is cased sacreBLEU; a beam of 4 for the teacher,
beams of 1 and 4 for the student. Two cells are timed, as a user calls `translator(texts)`: 1x1
(one sentence at a time, greedily) and 32x4 (32 sentences together, a beam of 4). In each round all
sentences are translated by one model, then by the other, who takes turns in going first; the ratio
is the median of the rounds.

    python benchmarks/student.py TEACHER STUDENT [--rounds 7] [--cores 1] [--output FILE]

Needs $ALLYOUNEED_DATA, or ../shared/data, for the sentences and their references.
"""

import argparse
import gzip
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from contest import machine

from allyouneed import load
from allyouneed.data.root import data_root
from allyouneed.evaluation.metrics import bleu
from allyouneed.model_folder.folder import VOCABULARY_SELECTION
from allyouneed.translation.translator import Translator

TEST = "multi30k/test_2016_flickr"
CELLS = ((1, 1), (32, 4))  # sentences translated together, beam
LENIENT, TWICE = 0.5, 2.0  # the bars: BLEU that may be lost, speed that must be gained


def main() -> None:
    """Prints the figures of both models, and writes them as JSON where that is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("teacher", help="name or folder")
    parser.add_argument("student", help="name or folder")
    parser.add_argument("--teacher-selection", action="store_true", help="the teacher's, too")
    parser.add_argument("--sentences", type=int, default=1000, help="of the test set (1000)")
    parser.add_argument("--rounds", type=int, default=7, help="of the times (7)")
    parser.add_argument("--cores", type=int, default=1, help="of each model (1)")
    parser.add_argument("--output", type=Path, help="a file for the figures, as JSON")
    arguments = parser.parse_args()
    root = data_root()
    if root is None or not (root / f"{TEST}.en.gz").is_file():
        sys.exit(f"set ALLYOUNEED_DATA to the folder that holds {TEST}.en.gz")
    sources, references = (
        read(root / f"{TEST}.{side}.gz")[: arguments.sentences] for side in ("en", "de")
    )
    cores = machine.stay_on(arguments.cores)
    teacher = opened(arguments.teacher, cores, arguments.teacher_selection)
    student = opened(arguments.student, cores, True)
    result = measured(teacher, student, sources, references, arguments.rounds)
    result["machine"] = machine.described(cores)
    for line in in_words(result):
        print(line)
    if arguments.output:
        arguments.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def opened(name: str, cores: int, selection: bool) -> Translator:
    """The model in int8, with its vocabulary selection if it has one and it is wanted."""
    wanted = selection and (Path(name) / VOCABULARY_SELECTION).is_file()
    return load(name, "cpu-int8", threads=cores, vocabulary_selection=wanted, kind=Translator)


def read(path: Path) -> list[str]:
    """The lines of a compressed file; they end at newlines alone."""
    return gzip.decompress(path.read_bytes()).decode().rstrip("\n").split("\n")


def measured(
    teacher: Translator,
    student: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    rounds: int,
) -> dict[str, Any]:
    """The figures: BLEU by model and beam, and by cell the sentences a second of each model and
    the times by which the student is faster, of each round and their median."""
    models = {"teacher": teacher, "student": student}
    result: dict[str, Any] = {"sentences": len(sources), "bleu": {}, "cells": {}}
    for name, beam in (("teacher", 4), ("student", 4), ("teacher", 1), ("student", 1)):
        found = [one.text for one in models[name](list(sources), beam=beam)]
        score = bleu(found, list(references), resamples=0)
        result["bleu"][f"{name}, beam {beam}"] = round(score.score, 2)
        result["signature"] = score.signature
    for size, beam in CELLS:
        seconds: dict[str, list[float]] = {name: [] for name in models}
        for turn in range(rounds):
            for name in sorted(models, reverse=bool(turn % 2)):
                began = time.perf_counter()
                for first in range(0, len(sources), size):
                    models[name](list(sources[first : first + size]), beam=beam)
                seconds[name].append(time.perf_counter() - began)
        ratios = [a / b for a, b in zip(seconds["teacher"], seconds["student"], strict=True)]
        result["cells"][f"{size}x{beam}"] = {
            **{name: round(len(sources) / median(own), 1) for name, own in seconds.items()},
            "faster": round(median(ratios), 2),
            "rounds": [round(ratio, 2) for ratio in ratios],
        }
    return result


def in_words(result: dict[str, Any]) -> list[str]:
    """The lines to print, with the bars."""
    lines = [f"BLEU of {name}: {score:.2f}" for name, score in result["bleu"].items()]
    lost = result["bleu"]["teacher, beam 4"] - result["bleu"]["student, beam 4"]
    lines.append(f"lost at beam 4: {lost:.2f} (at most {LENIENT}: {said(lost <= LENIENT)})")
    for name, cell in result["cells"].items():
        lines.append(
            f"{name}: teacher {cell['teacher']:.0f}, student {cell['student']:.0f} sentences a "
            f"second; x {cell['faster']:.2f}, rounds {min(cell['rounds']):.2f} to "
            f"{max(cell['rounds']):.2f} (at least {TWICE:.0f}: {said(cell['faster'] >= TWICE)})"
        )
    return [*lines, machine.in_words(result["machine"])]


def said(met: bool) -> str:
    return "met" if met else "NOT met"


if __name__ == "__main__":
    main()
