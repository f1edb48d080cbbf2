"""What is asked about quality: each question gives rows for one test set and beam.

A row names the engine and its figures; where there is a bar, also that and whether it is met.
"""

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from statistics import median
from typing import Any

from allyouneed.data.root import resolve
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.engine.selection_learning import coverage, tokenised
from allyouneed.evaluation.metrics import measure as score
from allyouneed.loading import load
from allyouneed.model_folder.folder import open_model_folder
from allyouneed.translation.translator import Translator
from contest.cells import Cell, TestSet
from contest.measure import Measured, agreement
from contest.models import Formats
from contest.ours import decode_together, search_options
from contest.runners import Setting, make_runner

ROADS = ("core", "cpu-float32", "cpu-int8")
SIZES = (7, 32, 128)  # sentences decoded together, beside 1
MARGIN = 1e-4  # scores nearer than this are the same
ROUNDS = 5  # of speed with and without selection, which take turns
TRAINED_ON = Path("tatoeba/train.en-de.tsv.gz")
Rows = Iterator[dict[str, Any]]


class Questions:
    """Asked of the bundled model on so many cores; `place` is a folder for the time being."""

    def __init__(self, place: Path, cores: int) -> None:
        self.formats = Formats(open_model_folder("en-de").path, place / "exported")
        self.place, self.cores = place, cores
        self.signatures: dict[str, str] = {}
        self.road = cache(lambda name: load("en-de", name, threads=cores))
        self.runner = cache(lambda name: make_runner(name, self.formats, cores))

    def metrics(self, test_set: TestSet, beam: int) -> Rows:
        """BLEU and chrF of every road, and how far it is from the core's."""
        core = None
        for name in ROADS:
            scores = self._scores(self.road(name), test_set, beam)
            core = core or scores
            row = {"engine": name, "figures": scores}
            if name != "core":
                away = scores["BLEU"] - core["BLEU"]
                row["figures"] |= {"BLEU - core's": away}
                row |= {"bar": "BLEU within 0.2", "met": abs(away) <= 0.2}
            yield row

    def ctranslate2(self, test_set: TestSet, beam: int) -> Rows:
        """How our float32 hypotheses compare with CTranslate2's, by score where they differ."""
        [cell] = test_set.cells([beam])
        setting = Setting(1, self.cores, 64)
        theirs = Measured(self.runner("ctranslate2-float32"), cell, setting, {})
        for name in ROADS[:2]:
            ours = Measured(self.runner(name), cell, setting, {})
            found = agreement(ours, theirs, MARGIN)
            same, worse, better = (
                getattr(found, kind) / found.sentences for kind in ("same", "worse", "better")
            )
            met = same >= 0.99 if beam == 1 else worse <= 0.005
            yield {
                "engine": name,
                "figures": {"same": same, "worse": worse, "better": better},
                "bar": "same ≥ 99 %" if beam == 1 else "worse ≤ 0.5 %",
                "met": met,
            }

    def neighbours(self, test_set: TestSet, beam: int) -> Rows:
        """Every sentence alone, then in batches of any size and order: what differs."""
        [cell] = test_set.cells([beam])
        for name in ROADS[1:]:
            engine = self.runner(name).engine
            alone = in_batches(engine, cell, 1, shuffled=False)
            changed, farthest = set(), 0.0
            for size in SIZES:
                for shuffled in (False, True):
                    again = in_batches(engine, cell, size, shuffled)
                    changed |= {n for n, best in again.items() if best.ids != alone[n].ids}
                    away = max(abs(best.score - alone[n].score) for n, best in again.items())
                    farthest = max(farthest, away)
            same = 1 - len(changed) / len(alone)
            yield {
                "engine": name,
                "figures": {"same": same, "largest difference of scores": farthest},
                "bar": "same ≥ 99.9 %, scores within 1e-4",
                "met": same >= 0.999 and farthest <= MARGIN,
            }

    def selection(self, test_set: TestSet, beam: int) -> Rows:
        """int8 with and without a selection that is learned once."""
        plain, selecting = self.road("cpu-int8"), self._selecting
        before, after = (self._scores(road, test_set, beam) for road in (plain, selecting))
        pairs = zip(test_set.whole_lines(), test_set.references, strict=True)
        assert selecting.engine.selection
        found = coverage(selecting.engine.selection, tokenised(pairs, plain.tokenizer))
        ratios = []
        for _ in range(ROUNDS):
            slow, fast = (seconds(road, test_set, beam) for road in (plain, selecting))
            ratios.append(slow / fast)
        figures = after | {"BLEU - without": after["BLEU"] - before["BLEU"]}
        figures |= {"pieces": found.selected, "covered": found.covered}
        yield {"engine": "cpu-int8", "figures": figures | {"times as fast": median(ratios)}}

    @cached_property
    def _selecting(self) -> Translator:
        """A copy of the model, with what the command learns."""
        copy = self.place / "selecting"
        shutil.copytree(self.formats.folder, copy)
        command = [sys.executable, "-c", "from allyouneed.cli.app import main; main()"]
        options = ["--model", copy, "--tsv", resolve(TRAINED_ON, None)]
        subprocess.run([*command, "select-vocabulary", *options], check=True, stdout=sys.stderr)
        return load(copy, "cpu-int8", threads=self.cores, vocabulary_selection=True)

    def _scores(self, road: Translator, test_set: TestSet, beam: int) -> dict[str, float]:
        texts = [found.text for found in road(test_set.whole_lines(), beam)]
        found = [score(metric, texts, test_set.references, 0) for metric in ("BLEU", "chrF")]
        self.signatures |= {one.metric: one.signature for one in found}
        return {one.metric: one.score for one in found}


def in_batches(engine: Any, cell: Cell, size: int, shuffled: bool) -> dict[int, Hypothesis]:
    """Each sentence's best hypothesis, so many decoded together as they come, long beside short."""
    decode_together(engine, Setting(1, 1, size), cell)
    order = list(range(len(cell.sources)))
    if shuffled:
        random.Random(size).shuffle(order)
    found = {}
    for begin in range(0, len(order), size):
        batch = order[begin : begin + size]
        results = engine.search([cell.sources[n] for n in batch], search_options(cell))
        found |= {n: best for n, [best] in zip(batch, results, strict=True)}
    return found


def seconds(road: Translator, test_set: TestSet, beam: int) -> float:
    """What translating all of it takes."""
    began = time.perf_counter()
    road(test_set.whole_lines(), beam)
    return time.perf_counter() - began
