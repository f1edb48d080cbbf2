"""Rounds in which engines take turns, after each has found its best setting."""

import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from contest.cells import Cell
from contest.runners import Found, Runner, Setting

SAMPLE, SLOW_SAMPLE = 1000, 512  # sentences of a natural cell on which settings are tried
EVERY = 3  # slow engines run in every third round of forced cells, once in natural ones


@dataclass
class Measured:
    """One engine in one cell. `rates` are sentences per second by round."""

    runner: Runner
    cell: Cell
    setting: Setting
    tried: dict[str, float]
    rates: dict[int, float] = field(default_factory=dict)
    found: list[Found] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """Target tokens of a run, ends counted."""
        return sum(translation.tokens for translation in self.found)

    def over(self, peer: "Measured") -> list[float]:
        """How many times as fast as the peer, by the rounds that both ran in."""
        return [rate / peer.rates[r] for r, rate in self.rates.items() if r in peer.rates]


def measure(cell: Cell, runners: Sequence[Runner], cores: int, rounds: int) -> dict[str, Measured]:
    """Every engine in this cell, by name."""
    contestants = [tried_out(runner, cell, cores) for runner in runners]
    for number in range(rounds):
        shift = number % len(contestants)
        for measured in contestants[shift:] + contestants[:shift]:
            if not measured.runner.slow or number == 0 or (cell.batch and number % EVERY == 0):
                one_round(measured, number)
        told = (
            f"{one.runner.name} {one.rates[number]:.1f}"
            for one in contestants
            if number in one.rates
        )
        say(f"{cell.name}: round {number + 1} of {rounds}; sentences/s: {', '.join(told)}")
    for measured in contestants:
        check_tokens(measured)
    return {measured.runner.name: measured for measured in contestants}


def tried_out(runner: Runner, cell: Cell, cores: int) -> Measured:
    """The engine at the fastest of its settings, warm: first the best size of a batch with as many
    workers as can be, then the best workers with that."""
    share = runner.share(cell)
    sample = share if cell.batch else share.part(SLOW_SAMPLE if runner.slow else SAMPLE)
    first, *others = runner.layouts(cores)
    tried = {
        setting: trial(runner, sample, setting)
        for setting in (Setting(*first, *batch) for batch in runner.batches(cell))
    }
    best = min(tried, key=tried.__getitem__)
    for layout in others:
        setting = Setting(*layout, best.batch, best.unit)
        tried[setting] = trial(runner, sample, setting)
    best = min(tried, key=tried.__getitem__)
    say(f"{cell.name}: {runner.name} at its best with {best}")
    seconds = {str(setting): round(took, 4) for setting, took in tried.items()}
    return Measured(runner, share, best, seconds)


def trial(runner: Runner, cell: Cell, setting: Setting) -> float:
    """Seconds with this setting: the better of two runs, of one where the engine is slow."""
    runner.run(cell.part(setting.workers), setting)  # loads what there is to load
    return min(timed(runner, cell, setting)[0] for _ in range(1 if runner.slow else 2))


def one_round(measured: Measured, number: int) -> None:
    """Decodes the cell once."""
    took, found = timed(measured.runner, measured.cell, measured.setting)
    measured.rates[number] = len(found) / took
    measured.found = found


def timed(runner: Runner, cell: Cell, setting: Setting) -> tuple[float, list[Found]]:
    """Seconds, and what was found."""
    began = time.perf_counter()
    raw = runner.run(cell, setting)
    took = time.perf_counter() - began
    return took, runner.read(cell, raw)


def check_tokens(measured: Measured) -> None:
    """Ends the program where an engine did less, or more, than a forced cell asks for."""
    cell, found = measured.cell, measured.found
    if len(found) != len(cell.sources):
        sys.exit(f"{cell.name}: {measured.runner.name} translated {len(found)} sentences "
                 f"of {len(cell.sources)}")  # fmt: skip
    wrong = [translation.tokens for translation in found if translation.tokens != cell.length]
    if cell.batch and wrong:
        sys.exit(f"{cell.name}: {measured.runner.name} gave {wrong[0]} tokens, not {cell.length}")


@dataclass(frozen=True)
class Agreement:
    """How an engine's best hypotheses compare with CTranslate2's float32 ones."""

    sentences: int
    same: int
    worse: int
    better: int


def agreement(ours: Measured, theirs: Measured, margin: float = 1e-3) -> Agreement:
    """Compares ids, and scores by the same rule where the ids differ; not timed."""
    pairs = list(
        zip(*(one.runner.read(one.cell, one.runner.run(one.cell, one.setting, scores=True))
              for one in (ours, theirs)), strict=True)
    )  # fmt: skip
    differences = [a.score - b.score for a, b in pairs if a.ids != b.ids]
    assert not any(map(math.isnan, differences))
    return Agreement(
        len(pairs),
        len(pairs) - len(differences),
        sum(difference < -margin for difference in differences),
        sum(difference > margin for difference in differences),
    )


def say(text: str) -> None:
    """Progress, on standard error."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
