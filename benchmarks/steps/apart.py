"""A trainer in a process of its own, as its users run it: engines that share one would share what
the others leave there, a heap that has grown and products that are compiled."""

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import torch
from contest.memory import CLEAR, empty_kilobytes, peak_of

from steps.trainers import Trainer, make_trainer
from steps.work import DROPOUT, Shape, Work

WARM = 4  # steps before a clock runs, in which the peak of memory is taken

_here: list[tuple[Trainer, Work]] = []  # of the process that trains


class Apart:
    """One engine in one precision, warm. `peak_mib` is what training takes at most, libraries,
    weights, moments and activations; None where the system does not tell."""

    def __init__(self, name: str, precision: str, work: Work, threads: int) -> None:
        self._pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
        what = (name, precision, work.shape, work.folder, threads, empty_kilobytes())
        try:
            self.peak_mib = self._pool.submit(_begin, *what).result()
        except BaseException:
            self._pool.shutdown()
            raise

    def __enter__(self) -> "Apart":
        return self

    def __exit__(self, *ended: object) -> None:
        self._pool.shutdown()

    def seconds(self, numbers: range) -> float:
        """That steps over these batches take."""
        return self._pool.submit(_seconds, numbers).result()


def _begin(
    name: str, precision: str, shape: Shape, folder: Path, threads: int, empty: int
) -> float | None:
    torch.set_num_threads(threads)
    work = Work(shape, folder)
    trainer = make_trainer(name, work, precision, DROPOUT)
    _here.append((trainer, work))

    def warm() -> None:
        for number in range(WARM):
            trainer.step(number)

    if CLEAR.exists():
        return peak_of(warm, empty)
    warm()
    return None


def _seconds(numbers: range) -> float:
    [(trainer, work)] = _here
    for number in numbers:
        work.batch(number)  # made before the clock runs
    began = time.perf_counter()
    for number in numbers:
        trainer.step(number)
    return time.perf_counter() - began
