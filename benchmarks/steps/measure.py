"""Compares the losses of engines, then measures their speed in alternating rounds, each engine in a
process of its own."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from contest.measure import say

from steps.apart import WARM, Apart
from steps.trainers import OURS, TORCH, OurTrainer, Trainer, make_trainer, residual_of
from steps.work import Work

STEPS = 4  # steps of a round
LONG_TURN = 50  # steps of a turn in the long run
BAR = 0.01  # the largest relative difference of losses
FALL = 0.1  # losses must fall by this share of the first loss; otherwise the weights hardly moved


@dataclass
class Measured:
    """One engine in one precision and shape.

    `losses` are the losses of each step without dropout, `expected` the reference's losses. `rates`
    are target tokens per second in each round, `operations` are the operations of matrix products
    per second, and `long_rate` is target tokens per second in the long run.
    """

    name: str
    precision: str
    losses: list[float] = field(default_factory=list)
    expected: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    operations: list[float] = field(default_factory=list)
    long_rate: float | None = None
    peak_mib: float | None = None

    @property
    def ours(self) -> bool:
        """Whether this is our engine."""
        return self.name == OURS

    def __str__(self) -> str:
        return f"{self.name} {self.precision}"


def contestants(names: Sequence[str], precisions: Sequence[str]) -> list[Measured]:
    """Each engine in each precision."""
    return [Measured(name, precision) for precision in precisions for name in names]


def compare_losses(work: Work, engines: Sequence[Measured], steps: int) -> None:
    """Trains all engines without dropout on the same batches, one after the other. Each is compared
    with torch.nn.Transformer or, if it is pre-norm, with our step."""

    def trained(trainer: Trainer) -> list[float]:
        return [trainer.step(number) for number in range(steps)]

    for engine in engines:
        engine.losses = trained(make_trainer(engine.name, work, engine.precision, dropout=0.0))
        say(f"{work.shape.preset}: {engine}: loss {engine.losses[0]:.4f} … {engine.losses[-1]:.4f}")
    expected = {"post-norm": next(one.losses for one in engines if one.name == TORCH)}
    if any(residual_of(engine.name) == "pre-norm" for engine in engines):
        expected["pre-norm"] = trained(
            OurTrainer(work, engines[0].precision, dropout=0.0, residual="pre-norm")
        )
    for engine in engines:
        engine.expected = expected[residual_of(engine.name)]


def fall_of(engine: Measured) -> float:
    """The fall of the losses as a share of the first loss."""
    return 1 - engine.losses[-1] / engine.losses[0]


def largest_difference(engine: Measured) -> float:
    """The largest relative difference between the engine's losses and the expected ones."""
    pairs = zip(engine.losses, engine.expected, strict=True)
    return max(abs(loss / other - 1) for loss, other in pairs)


def take_turns(
    work: Work,
    engines: Sequence[Measured],
    rounds: int,
    threads: int,
    long_steps: int = 0,
    steps: int = STEPS,
) -> None:
    """Times the same batches for all engines, with dropout. The order of the engines rotates from
    round to round. Then a long run is timed."""
    with ExitStack() as stack:
        pairs: list[tuple[Measured, Apart]] = []
        for engine in engines:
            trainer = stack.enter_context(Apart(engine.name, engine.precision, work, threads))
            pairs.append((engine, trainer))
            engine.peak_mib = trainer.peak_mib
            told = "" if engine.peak_mib is None else f", {engine.peak_mib:.0f} MiB"
            say(f"{work.shape.preset}: {engine}: warm{told}")
        for number in range(rounds):
            shift = number % len(pairs)
            first = WARM + number * steps
            for engine, trainer in pairs[shift:] + pairs[:shift]:
                one_round(work, engine, trainer, range(first, first + steps))
            told = ", ".join(f"{engine} {engine.rates[-1]:.0f}" for engine in engines)
            say(f"{work.shape.preset}: round {number + 1} of {rounds}; tokens/s: {told}")
        if long_steps:
            long_run(work, pairs, WARM + rounds * steps, long_steps)


def long_run(work: Work, pairs: Sequence[tuple[Measured, Apart]], first: int, steps: int) -> None:
    """Times `steps` batches from the number `first` on. The engines take turns, so that other load
    on the machine affects all of them equally."""
    took = dict.fromkeys(range(len(pairs)), 0.0)
    for begin in range(first, first + steps, LONG_TURN):
        numbers = range(begin, min(begin + LONG_TURN, first + steps))
        for n, (_, trainer) in enumerate(pairs):
            took[n] += trainer.seconds(numbers)
    tokens = sum(work.batch(number).target_tokens for number in range(first, first + steps))
    for n, (engine, _) in enumerate(pairs):
        engine.long_rate = tokens / took[n]
    told = ", ".join(f"{engine} {engine.long_rate:.0f}" for engine, _ in pairs)
    say(f"{work.shape.preset}: {steps} steps; tokens/s: {told}")


def one_round(work: Work, engine: Measured, trainer: Apart, numbers: range) -> None:
    """Times one engine on these batches."""
    took = trainer.seconds(numbers)
    engine.rates.append(sum(work.batch(number).target_tokens for number in numbers) / took)
    engine.operations.append(sum(map(work.operations, numbers)) / took)
