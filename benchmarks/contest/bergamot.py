"""Runs Bergamot, Marian's fork in Firefox, in the benchmark.

Its wheels are for Python 3.10 and older, so it runs in a process of such a Python, named by
$ALLYOUNEED_BERGAMOT:

    python3.10 -m venv bergamot && bergamot/bin/pip install --no-deps bergamot==0.4.5
    export ALLYOUNEED_BERGAMOT=$PWD/bergamot/bin/python
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from allyouneed.errors import UsageError
from contest.cells import Cell
from contest.models import Formats
from contest.runners import Found, Setting

VARIABLE = "ALLYOUNEED_BERGAMOT"


class BergamotRunner:
    """Bergamot in int8 with the model's shortlist. It gets the sentences as text and forms batches
    itself, up to a number of words."""

    name = "bergamot"
    description = "Bergamot 0.4.5, int8 with factors for activations, shortlist"
    slow = False

    def __init__(self, formats: Formats) -> None:
        python = os.environ.get(VARIABLE)
        if not python or not Path(python).is_file():
            raise UsageError(
                f"{VARIABLE} does not name a Python with bergamot (contest/bergamot.py)"
            )
        self.python = python
        self.folder = formats.marian()
        self.tokenizer: Any = formats.opened().tokenizer
        self._process: subprocess.Popen[str] | None = None
        self._workers = 0
        self._texts: tuple[list[list[int]], list[str]] = ([], [])

    def layouts(self, cores: int) -> list[tuple[int, int]]:
        """One worker of one thread for each core; it has no threads within a batch."""
        return [(cores, 1)]

    def batches(self, cell: Cell) -> list[tuple[int, str]]:
        """As in `Runner`."""
        return [(cell.batch, "examples")]

    def share(self, cell: Cell) -> Cell:
        """As in `Runner`."""
        return cell

    def run(self, cell: Cell, setting: Setting, scores: bool = False) -> Any:
        """As in `Runner`."""
        if self._workers != setting.workers:
            self._start(setting.workers)
        config = self.folder / f"decoder-{cell.name}.yml"
        if not config.exists():
            config.write_text(self._settings(cell, setting), "utf-8")
        return self._ask({"config": str(config), "texts": self._as_texts(cell.sources)})

    def read(self, cell: Cell, raw: Any) -> list[Found]:
        """As in `Runner`. Every piece of these models is a word."""
        found = []
        for text in raw:
            ids = [self.tokenizer.target.ids.get("\u2581" + word, 1) for word in text.split()]
            found.append(Found(ids, len(ids)))
        return found

    def _start(self, workers: int) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
        program = Path(__file__).with_name("bergamot_process.py")
        self._process = subprocess.Popen(
            [self.python, "-I", str(program)],  # -I: this folder's modules are not imported there
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._workers = workers
        self._ask({"workers": workers})

    def _ask(self, question: dict[str, Any]) -> Any:
        assert self._process
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"bergamot ended with {self._process.wait()}")
        return json.loads(answer)

    def _settings(self, cell: Cell, setting: Setting) -> str:
        """The export's settings with the cell's beam and batch. A translation ends when it is as
        long as its source, since these models never end one themselves. Costs are skipped where a
        greedy search does not need them."""
        changed = {
            "beam-size": cell.beam,
            "skip-cost": str(cell.beam == 1).lower(),
            "max-length-factor": 1.0,
            "max-length-break": cell.length,
            "mini-batch-words": setting.batch * cell.length,
            "cpu-threads": 0,
            "workspace": 128,
        }
        kept = [
            line
            for line in (self.folder / "decoder.yml").read_text("utf-8").split("\n")
            if line.partition(":")[0] not in changed
        ]
        return "\n".join([*kept, *(f"{key}: {value}" for key, value in changed.items()), ""])

    def _as_texts(self, sources: list[list[int]]) -> list[str]:
        """The sources as text, made only once, so that spelling them is not timed."""
        if self._texts[0] is not sources:
            self._texts = (sources, [self.tokenizer.decode(row[:-1]) for row in sources])
        return self._texts[1]

    def __del__(self) -> None:
        if getattr(self, "_process", None):
            self._process.kill()
