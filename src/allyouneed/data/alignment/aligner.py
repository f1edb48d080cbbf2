"""Which words of two sentences are each other's translation, learnt from many pairs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from allyouneed.data.alignment.blocks import LONGEST, Words
from allyouneed.data.alignment.direction import DirectionChances
from allyouneed.data.alignment.symmetrise import Link, grow_diag_final_and
from allyouneed.errors import DataError

MOST_CELLS = 30_000_000  # source words times target words that are learnt from; takes about 1 GiB
AT_ONCE = 20_000  # pairs

Pairs = Iterable[tuple[Words, Words]]
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class Aligner:
    """Links the words of sentence pairs, by a model for each direction."""

    forward: DirectionChances
    backward: DirectionChances

    @classmethod
    def learn(cls, pairs: Pairs, progress: Progress = lambda stage, done, total: None) -> "Aligner":
        """From pairs of sentences in words, whose case does not matter. Of many pairs the first
        ones are learnt from, until memory would not suffice (`MOST_CELLS`): mix them before.

        Raises DataError where no pair has words on both sides.
        """
        sources: list[Words] = []
        targets: list[Words] = []
        cells = 0
        for source, target in pairs:
            if 0 < len(source) <= LONGEST and 0 < len(target) <= LONGEST:
                cells += len(source) * len(target)
                if cells > MOST_CELLS and sources:
                    break
                sources.append(_folded(source))
                targets.append(_folded(target))
        if not sources:
            raise DataError(
                f"no pair has words on both sides, {LONGEST} at most; nothing can be aligned"
            )
        return cls(
            DirectionChances.learn(
                sources, targets, lambda done, all: progress("learning to align", done, 2 * all)
            ),
            DirectionChances.learn(
                targets,
                sources,
                lambda done, all: progress("learning to align", all + done, 2 * all),
            ),
        )

    def turned(self) -> "Aligner":
        """The aligner of the same languages the other way round."""
        return Aligner(self.backward, self.forward)

    def align(self, pairs: Pairs) -> Iterator[list[Link]]:
        """The links of each pair, in order (grow-diag-final-and); none where a side is longer than
        `LONGEST` words."""
        rest = iter(pairs)
        while chunk := list(islice(rest, AT_ONCE)):
            sources = [_folded(source) for source, _ in chunk]
            targets = [_folded(target) for _, target in chunk]
            for one, other in zip(
                self.forward.align(sources, targets),
                self.backward.align(targets, sources),
                strict=True,
            ):
                yield grow_diag_final_and(one, other)


def _folded(words: Words) -> Sequence[str]:
    return [word.casefold() for word in words]
