"""Measures engines in alternating rounds, each with its fastest setting."""

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
        """The number of target tokens of a run, including end tokens."""
        return sum(translation.tokens for translation in self.found)

    def over(self, peer: "Measured") -> list[float]:
        """The speed relative to the peer's in each round that both took part in."""
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
    """The engine, warmed up, with its fastest setting: first the best batch size with the most
    workers, then the best number of workers with that batch size."""
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
    """Seconds with this setting: the better of two runs, or a single run of a slow engine."""
    runner.run(cell.part(setting.workers), setting)  # loads the model
    return min(timed(runner, cell, setting)[0] for _ in range(1 if runner.slow else 2))


def one_round(measured: Measured, number: int) -> None:
    """Decodes the cell once."""
    took, found = timed(measured.runner, measured.cell, measured.setting)
    measured.rates[number] = len(found) / took
    measured.found = found


def timed(runner: Runner, cell: Cell, setting: Setting) -> tuple[float, list[Found]]:
    """(seconds, translations)."""
    began = time.perf_counter()
    raw = runner.run(cell, setting)
    took = time.perf_counter() - began
    return took, runner.read(cell, raw)


def check_tokens(measured: Measured) -> None:
    """Ends the program if an engine did less or more work than a forced cell asks for."""
    cell, found = measured.cell, measured.found
    if len(found) != len(cell.sources):
        sys.exit(f"{cell.name}: {measured.runner.name} translated {len(found)} sentences "
                 f"of {len(cell.sources)}")  # fmt: skip
    wrong = [translation.tokens for translation in found if translation.tokens != cell.length]
    if cell.batch and wrong:
        sys.exit(f"{cell.name}: {measured.runner.name} gave {wrong[0]} tokens, not {cell.length}")


@dataclass(frozen=True)
class Agreement:
    """The comparison of an engine's best hypotheses with CTranslate2's in float32."""

    sentences: int
    same: int
    worse: int
    better: int


def agreement(ours: Measured, theirs: Measured, margin: float = 1e-3) -> Agreement:
    """Compares ids. If they differ, compares scores computed by the same rule. Not timed."""
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
    """Prints a line of progress on standard error."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
