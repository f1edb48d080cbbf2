"""Runs a trainer in a process of its own. Engines in the same process would affect each other by a
fragmented heap and by compiled products."""

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import torch
from contest.memory import CLEAR, empty_kilobytes, peak_of

from steps.trainers import Trainer, make_trainer
from steps.work import DROPOUT, Shape, Work

WARM = 4  # steps that are not timed; the peak memory is measured in them

_here: list[tuple[Trainer, Work]] = []  # the state of the training process


class Apart:
    """One engine in one precision, warmed up. `peak_mib` is the peak memory of training: libraries,
    weights, moments and activations; None if the system does not tell it."""

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
        """The seconds that steps over these batches take."""
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
