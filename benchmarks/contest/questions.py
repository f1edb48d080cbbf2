"""The questions about quality. Each question gives rows for one test set and beam.

A row holds the engine and its figures and, if there is a bar, the bar and whether it is met.
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

ENGINES = ("core", "cpu-float32", "cpu-int8")
SIZES = (7, 32, 128)  # numbers of sentences decoded together, compared with 1
MARGIN = 1e-4  # scores count as equal if they differ by less
ROUNDS = 5  # alternating rounds of speed with and without selection
TRAINED_ON = Path("tatoeba/train.en-de.tsv.gz")
Rows = Iterator[dict[str, Any]]


class Questions:
    """Answers the questions for the bundled model on this number of cores. `place` is a temporary
    folder."""

    def __init__(self, place: Path, cores: int) -> None:
        self.formats = Formats(open_model_folder("en-de").path, place / "exported")
        self.place, self.cores = place, cores
        self.signatures: dict[str, str] = {}
        self.translator = cache(lambda name: load("en-de", name, threads=cores))
        self.runner = cache(lambda name: make_runner(name, self.formats, cores))

    def metrics(self, test_set: TestSet, beam: int) -> Rows:
        """BLEU and chrF of every engine, and the difference of BLEU from the core engine."""
        core = None
        for name in ENGINES:
            scores = self._scores(self.translator(name), test_set, beam)
            core = core or scores
            row = {"engine": name, "figures": scores}
            if name != "core":
                away = scores["BLEU"] - core["BLEU"]
                row["figures"] |= {"BLEU - core's": away}
                row |= {"bar": "BLEU within 0.2", "met": abs(away) <= 0.2}
            yield row

    def ctranslate2(self, test_set: TestSet, beam: int) -> Rows:
        """Compares our float32 hypotheses with CTranslate2's, by score if they differ."""
        [cell] = test_set.cells([beam])
        setting = Setting(1, self.cores, 64)
        theirs = Measured(self.runner("ctranslate2-float32"), cell, setting, {})
        for name in ENGINES[:2]:
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
        """Compares each sentence decoded alone with batches of several sizes and orders."""
        [cell] = test_set.cells([beam])
        for name in ENGINES[1:]:
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
        """Compares int8 with and without a vocabulary selection, which is learned once."""
        plain, selecting = self.translator("cpu-int8"), self._selecting
        before, after = (self._scores(one, test_set, beam) for one in (plain, selecting))
        pairs = zip(test_set.whole_lines(), test_set.references, strict=True)
        assert selecting.engine.selection
        found = coverage(selecting.engine.selection, tokenised(pairs, plain.tokenizer))
        ratios = []
        for _ in range(ROUNDS):
            slow, fast = (seconds(one, test_set, beam) for one in (plain, selecting))
            ratios.append(slow / fast)
        figures = after | {"BLEU - without": after["BLEU"] - before["BLEU"]}
        figures |= {"pieces": found.selected, "covered": found.covered}
        yield {"engine": "cpu-int8", "figures": figures | {"times as fast": median(ratios)}}

    @cached_property
    def _selecting(self) -> Translator:
        """A copy of the model with a vocabulary selection, learned by the command."""
        copy = self.place / "selecting"
        shutil.copytree(self.formats.folder, copy)
        command = [sys.executable, "-c", "from allyouneed.cli.app import main; main()"]
        options = ["--model", copy, "--tsv", resolve(TRAINED_ON, None)]
        subprocess.run([*command, "select-vocabulary", *options], check=True, stdout=sys.stderr)
        return load(copy, "cpu-int8", threads=self.cores, vocabulary_selection=True)

    def _scores(self, translator: Translator, test_set: TestSet, beam: int) -> dict[str, float]:
        texts = [found.text for found in translator(test_set.whole_lines(), beam)]
        found = [score(metric, texts, test_set.references, 0) for metric in ("BLEU", "chrF")]
        self.signatures |= {one.metric: one.signature for one in found}
        return {one.metric: one.score for one in found}


def in_batches(engine: Any, cell: Cell, size: int, shuffled: bool) -> dict[int, Hypothesis]:
    """Each sentence's best hypothesis, decoded in batches of `size` without sorting by length."""
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


def seconds(translator: Translator, test_set: TestSet, beam: int) -> float:
    """The seconds that translating the whole test set takes."""
    began = time.perf_counter()
    translator(test_set.whole_lines(), beam)
    return time.perf_counter() - began
