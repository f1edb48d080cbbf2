"""The cells of the table: sentences, beam and lengths to decode."""

import gzip
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from allyouneed.data.root import data_root
from allyouneed.model_folder.folder import ModelFolder
from allyouneed.translation.segments import Segment, Segmenter

SHAPES = ((1, 1), (1, 4), (8, 1), (8, 4), (32, 1), (32, 4), (128, 4))  # batch, beam
SETS = {"test2016": "multi30k/test_2016_flickr", "newstest2013": "news/newstest2013"}
BEAMS = (1, 4)
ROOM = 50  # tokens: a translation may be this much longer than the longest source (section 6.1)


@dataclass(frozen=True)
class Cell:
    """One cell: sources (ids that end in `end`) and the beam to search with.

    Forced cells: every translation has exactly `length` tokens, and `batch` sentences are decoded
    together. Natural cells (`batch` 0): a translation ends where the model ends it, after `length`
    tokens at the latest, and every engine chooses its own batches.
    """

    name: str
    model: str  # "base", "opus", "tiny", "memory" or "bundled"
    beam: int
    sources: list[list[int]]
    length: int
    batch: int = 0

    @property
    def batches(self) -> int:
        """The number of batches of a forced cell."""
        return len(self.sources) // self.batch

    def part(self, sentences: int) -> "Cell":
        """The cell with about this many of its sentences: the first ones of a forced cell, and
        evenly spaced ones of a natural cell."""
        if self.batch:
            chosen = self.sources[:sentences]
        else:
            chosen = self.sources[:: max(1, len(self.sources) // sentences)]
        return Cell(self.name, self.model, self.beam, chosen, self.length, self.batch)


def forced_cells(
    shapes: Sequence[tuple[int, int]],
    vocabulary: int,
    tokens: int,
    batches: int | None = None,
    model: str = "base",
) -> Iterator[Cell]:
    """A cell for each (batch, beam), with random sources and targets of `tokens` tokens."""
    for batch, beam in shapes:
        count = batch * (batches or count_of_batches(batch * beam))
        draw = random.Random(batch)
        sources = [[draw.randrange(4, vocabulary) for _ in range(tokens - 1)] for _ in range(count)]
        name = f"{batch}x{beam}" if model == "base" else f"{model}-{batch}x{beam}"
        yield Cell(name, model, beam, [[*ids, 2] for ids in sources], tokens, batch)


def count_of_batches(rows: int) -> int:
    """The number of batches in a forced cell whose batches have `rows` hypotheses. At least four,
    so that each of two workers gets two; more if batches are small."""
    return 16 if rows <= 4 else 8 if rows <= 32 else 4


@dataclass(frozen=True)
class TestSet:
    """Lines with their references. The lines are cut into the parts that the model translates."""

    name: str
    lines: list[tuple[Segment, ...]]
    references: list[str]
    sources: list[list[int]]

    @classmethod
    def of(
        cls, name: str, lines: Sequence[str], references: list[str], folder: ModelFolder
    ) -> "TestSet":
        """Cuts lines as the translator does."""
        longest = folder.trained_length or folder.config.max_positions // 2
        segmenter = Segmenter(folder.tokenizer, longest)
        cut = [segmenter.cut(line).segments for line in lines]
        texts = [segment.text for segments in cut for segment in segments if segment.text]
        return cls(name, cut, references, folder.tokenizer.encode_ids(texts))

    def cells(self, beams: Sequence[int]) -> Iterator[Cell]:
        """A cell for each beam."""
        most = max(map(len, self.sources)) + ROOM
        for beam in beams:
            yield Cell(f"{self.name}-{beam}", "bundled", beam, self.sources, most)

    def whole_lines(self) -> list[str]:
        """The lines to translate, uncut."""
        parts = [segment.text for segments in self.lines for segment in segments if segment.text]
        return self.texts(parts)

    def texts(self, translations: Sequence[str]) -> list[str]:
        """The translations of whole lines, joined from the translations of their parts."""
        remaining = iter(translations)
        return [
            "".join(
                segment.before + (next(remaining).strip() if segment.text else "") + segment.after
                for segment in segments
            )
            for segments in self.lines
        ]


def test_sets(names: Sequence[str], folder: ModelFolder) -> Iterator[TestSet]:
    """The test sets of these names whose data exist."""
    root = data_root()
    for name in names:
        paths = [root / f"{SETS[name]}.{side}.gz" for side in ("en", "de")] if root else []
        if paths and all(path.is_file() for path in paths):
            lines, references = map(read_lines, paths)
            yield TestSet.of(name, lines, references, folder)


def read_lines(path: Path) -> list[str]:
    """The lines of a compressed file; they end at newlines alone."""
    return gzip.decompress(path.read_bytes()).decode().rstrip("\n").split("\n")
