"""One translator serves many threads: each call gets what it would get alone."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from allyouneed.loading import load
from allyouneed.translation.translator import Translator

CALLS, THREADS = 2_000, 8
WORDS = ("the", "a", "dog", "man", "house", "is", "sleeps", "reads", "not", "old", "where", "it")
ENGINES = {"cpu-int8": CALLS, "core": CALLS // 20}


def calls(count: int) -> list[Callable[[Translator], Any]]:
    """Calls of every kind: one text, lists, long texts, bad ones, samples, streams, prefixes."""
    draw = random.Random(0)

    def words(most: int) -> str:
        return " ".join(draw.choices(WORDS, k=draw.randint(1, most))).capitalize() + "."

    def one(kind: int) -> Callable[[Translator], Any]:
        text, more = words(8), [words(5) for _ in range(3)]
        if kind == 0:
            return lambda t: t(text, beam=1, alignments=True)
        if kind == 1:
            return lambda t: t(more, beam=2, n_best=2)
        if kind == 2:
            long = f"{text} \udcff {' '.join(more)} {' '.join(more)}"
            return lambda t: t(long, beam=1, max_length=6)
        if kind == 3:
            return lambda t: t(text, temperature=0.7, seed=len(text))

        def streamed(translator: Translator) -> tuple[list[str], tuple[str, ...]]:
            stream = translator.stream(text, prefix="Der")
            return list(stream), stream.notes

        return streamed

    return [one(n % 20 if n % 20 < 5 else n % 2) for n in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "count"), ENGINES.items(), ids=ENGINES)
def test_eight_threads_give_what_one_gives(engine: str, count: int) -> None:
    translator = load("en-de", engine)
    wanted = calls(count)
    alone = [call(translator) for call in wanted]
    assert any(getattr(one, "notes", ()) for one in alone)
    with ThreadPoolExecutor(THREADS) as pool:
        together = list(pool.map(lambda call: call(translator), wanted))
    for one, other in zip(alone, together, strict=True):
        assert one == other
    assert translator.notes == ()
