"""Runs our engines in the benchmark."""

from typing import Any

from allyouneed.decoding.length_penalty import Average
from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.choice import choose
from allyouneed.engine.engine import Engine
from allyouneed.model_folder.folder import VOCABULARY_SELECTION
from allyouneed.model_folder.vocabulary_selection import open_vocabulary_selection
from contest.cells import Cell
from contest.models import Formats
from contest.runners import Found, Setting, full_layouts


class OurRunner:
    """One of our engines, named as for `load(engine=...)`, on this number of cores or on a GPU."""

    def __init__(self, formats: Formats, name: str, cores: int, device: str = "cpu") -> None:
        self.name = name
        self.slow = name == "core"
        folder = formats.opened()
        self.engine: Engine = choose(name, folder, device, cores).engine
        self.description = self.engine.description
        if (folder.path / VOCABULARY_SELECTION).exists():
            self.engine.selection = open_vocabulary_selection(folder)
            self.description += ", vocabulary selection"

    def layouts(self, cores: int) -> list[tuple[int, int]]:
        """See `Runner`. Engines on torch decode one batch after the other on all cores."""
        return full_layouts(cores) if hasattr(self.engine, "workers") else [(1, cores)]

    def batches(self, cell: Cell) -> list[tuple[int, str]]:
        """As in `Runner`."""
        return [(size, "examples") for size in ([cell.batch] if cell.batch else [32, 64, 128])]

    def share(self, cell: Cell) -> Cell:
        """As in `Runner`."""
        return cell.part(cell.batch) if cell.batch and self.slow else cell

    def run(self, cell: Cell, setting: Setting, scores: bool = False) -> Any:
        """As in `Runner`."""
        decode_together(self.engine, setting, cell)
        return self.engine.search(cell.sources, search_options(cell))

    def read(self, cell: Cell, raw: Any) -> list[Found]:
        """As in `Runner`."""
        return [
            Found(list(best.ids[:-1] if best.finished else best.ids), len(best.ids), best.score)
            for [best] in raw
        ]


def search_options(cell: Cell) -> BeamOptions:
    """Our options for CTranslate2's search. In a forced cell a hypothesis may end with its last
    token, which counts like any other, so that steps and tokens are as many."""
    return BeamOptions(
        beam=cell.beam,
        min_length=cell.length - 1 if cell.batch else 1,
        max_length=cell.length,
        length_penalty=Average(),
        loop_guard=False,
    )


def decode_together(engine: Any, setting: Setting, cell: Cell) -> None:
    """Sets the engine's batch size and its number of workers."""
    if hasattr(engine, "workers"):
        engine.workers = setting.workers
    engine.batch_hypotheses = setting.batch * cell.beam
    engine.batch_tokens = setting.batch * max(map(len, cell.sources))
