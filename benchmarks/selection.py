"""How many times as fast decoding is with vocabulary selection as without, on the same weights.

Two engines in int8 take turns: the whole output layer, and a selection of the kind that Firefox's
models have, 100 ids for every sentence and 50 for each source piece (contest/firefox.py). The third
column is the bound: a selection of about 80 ids, whose output layer costs next to nothing, so that
no selection can be faster. The rest of the time goes into the encoder and the decoder's layers.

Sources are 25 tokens, drawn with probability 1 / rank as in natural text; translations have exactly
25 tokens. Weights are random, except the bundled model's.

    python benchmarks/selection.py [--models 6+6-32k,bundled] [--cells 1x1,32x4] [--rounds N]

Takes about ten minutes on one core. On shared machines only the ratios are meaningful.
"""

import argparse
import statistics
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from contest import machine
from contest.cells import Cell, count_of_batches
from contest.firefox import CANDIDATES, FREQUENT, WORDS, drawn
from contest.models import BASE_SHAPE, random_model
from contest.ours import decode_together, search_options
from contest.runners import Setting
from numpy.typing import NDArray

from allyouneed.core.config import TransformerConfig
from allyouneed.engine.native.engine import NativeEngine
from allyouneed.model_folder.folder import ModelFolder, open_model_folder
from allyouneed.model_folder.vocabulary_selection import VocabularySelection

SHAPES: dict[str, TransformerConfig | None] = {
    "bundled": None,
    "6+6-6k": replace(BASE_SHAPE, vocabulary=6_000),
    "6+6-32k": BASE_SHAPE,
    "6+2-32k": replace(BASE_SHAPE, decoder_layers=2),
    "6+6-65k": replace(BASE_SHAPE, vocabulary=65_000),
    "6+2-65k": replace(BASE_SHAPE, vocabulary=65_000, decoder_layers=2),
}
CELLS = ("1x1", "1x4", "8x1", "32x1", "32x4")  # batch, beam
SPECIALS, END, TOKENS = 4, 2, 25  # special ids of these models; tokens of a source


def main() -> None:
    """Measures every cell and prints a line for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", default=",".join(SHAPES), help="(%(default)s)")
    parser.add_argument("--cells", default=",".join(CELLS), help="(%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="(%(default)s)")
    parser.add_argument("--cores", type=int, default=1, help="(%(default)s)")
    arguments = parser.parse_args()
    cores = machine.stay_on(arguments.cores)
    print(machine.in_words(machine.described(cores)))
    print("model cell: ids of a sentence, of a batch; times as fast with a selection; the bound")
    for name in arguments.models.split(","):
        with TemporaryDirectory(prefix="allyouneed-selection-") as place:
            folder = opened(name, Path(place) / "model")
            engine = NativeEngine.open(folder, "int8", cores)
            for cell in arguments.cells.split(","):
                batch, beam = map(int, cell.split("x"))
                print(f"{name} {measured(engine, batch, beam, arguments.rounds)}", flush=True)


def opened(name: str, place: Path) -> ModelFolder:
    """The model of this name."""
    shape = SHAPES[name]
    if shape is None:
        return open_model_folder("en-de")
    random_model(shape, place)
    return open_model_folder(place)


def measured(engine: NativeEngine, batch: int, beam: int, rounds: int) -> str:
    """The ratios of one cell, in words."""
    vocabulary = engine.config.vocabulary
    cell = forced(vocabulary, batch, beam)
    decode_together(engine, Setting(1, 1, batch), cell)
    wide = selection(vocabulary, CANDIDATES, FREQUENT)
    narrow = selection(vocabulary, 0, FREQUENT // 2)
    engines = {"whole": None, "selected": wide, "bound": narrow}
    took: dict[str, list[float]] = {name: [] for name in engines}
    for _ in range(rounds + 1):
        for name, chosen in engines.items():
            engine.selection = chosen
            began = time.perf_counter()
            engine.search(cell.sources, search_options(cell))
            took[name].append(time.perf_counter() - began)
    ratios = {
        name: [a / b for a, b in zip(took["whole"], took[name], strict=True)][1:]
        for name in ("selected", "bound")
    }
    together = len(wide.ids(cell.sources[:batch]))
    median, least, most = machine.median_and_range(ratios["selected"])
    return (
        f"{cell.name}: {len(wide.ids(cell.sources[:1]))}, {together}; {median:.2f} ({least:.2f} … "
        f"{most:.2f}); {statistics.median(ratios['bound']):.2f}"
    )


def forced(vocabulary: int, batch: int, beam: int) -> Cell:
    """Sources of frequent and rare pieces."""
    draw = np.random.default_rng(batch)
    count = batch * count_of_batches(batch * beam)
    sources = [[*ids_of_words(draw, TOKENS - 1, vocabulary).tolist(), END] for _ in range(count)]
    return Cell(f"{batch}x{beam}", "selection", beam, sources, TOKENS, batch)


def selection(vocabulary: int, candidates: int, frequent: int) -> VocabularySelection:
    """Every source piece itself and so many candidates for it, drawn by frequency."""
    draw = np.random.default_rng(0)
    ids = ids_of_words(draw, vocabulary * candidates, vocabulary).reshape(vocabulary, candidates)
    lists = [np.unique([source, *ids[source]]) for source in range(vocabulary)]
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    always = np.arange(SPECIALS + frequent, dtype=np.int32)
    return VocabularySelection(offsets, np.concatenate(lists).astype(np.int32), always)


def ids_of_words(draw: np.random.Generator, count: int, vocabulary: int) -> NDArray[np.int64]:
    """Ids from `SPECIALS` on, drawn with probability 1 / rank."""
    shift = SPECIALS - WORDS
    return shift + drawn(draw, count, vocabulary - shift)


if __name__ == "__main__":
    main()
