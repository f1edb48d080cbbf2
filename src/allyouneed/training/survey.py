"""Counts for the plan of a run (`--dry-run`): reads a recipe's corpora and tokenises a sample of
them. Nothing is written."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allyouneed.data.batches import BatchSampler
from allyouneed.data.corpus import Corpus, Pair
from allyouneed.data.filters import Filters
from allyouneed.data.mixing import mixed_by_direction
from allyouneed.data.noise.noise import Noise
from allyouneed.data.readers import read_pairs
from allyouneed.data.report import DataReport
from allyouneed.data.store_writer import HINTED, Progress, SourceHints
from allyouneed.errors import DataError
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.training.recipe.schema import PairsRecipe

SAMPLE = 50_000  # about the number of pairs of a corpus that are tokenised; at most twice as many
NEWS_EVERY = 8192  # pairs between two reports of progress


@dataclass(frozen=True, slots=True)
class Sample:
    """Every n-th pair of a corpus, the number of all its pairs, and a report of pairs left out."""

    corpus: Corpus
    pairs: Sequence[Pair]
    read: int
    report: DataReport


@dataclass(frozen=True, slots=True)
class Survey:
    """Counts of an epoch, estimated from a sample. For corpora smaller than the sample they are
    exact, except that duplicates are not removed.

    `pairs` and `kept` count each copy that noise makes of a pair. `batches` are (pairs, source
    length, target length) of some batches of the epoch. `epoch_batches` is the number of all its
    batches, `epoch_tokens` the number of its target tokens. `hinted` pairs have terms in their
    source; None if the recipe names none.
    """

    pairs: int
    kept: int
    epoch_batches: float
    epoch_tokens: float
    batches: Sequence[tuple[int, int, int]]
    directions: Mapping[str, float] = field(default_factory=dict)
    hinted: int | None = None


def sample(corpus: Corpus, progress: Progress) -> Sample:
    """Reads a whole corpus without its malformed lines, and keeps a sample of it.

    Raises:
        DataError: see `read_pairs`.
    """
    pairs: list[Pair] = []
    report = DataReport([corpus.name])
    stride, read = 1, 0
    for pair in read_pairs(corpus, report):
        if read % stride == 0:
            pairs.append(pair)
            if len(pairs) == 2 * SAMPLE:
                del pairs[1::2]
                stride *= 2
        read += 1
        if read % NEWS_EVERY == 0:
            progress(f"reading {corpus.name}", read, None)
    return Sample(corpus, pairs, read, report)


def texts(samples: Iterable[Sample]) -> Iterable[str]:
    """All sentences of the samples."""
    return (text for one in samples for pair in one.pairs for text in (pair.source, pair.target))


def texts_by_language(samples: Iterable[Sample]) -> Iterable[tuple[str, str]]:
    """(language, text) of the samples; of pairs that are used both ways once."""
    for one in samples:
        if one.corpus.languages and not one.corpus.swapped:
            for pair in one.pairs:
                yield one.corpus.languages[0], pair.source
                yield one.corpus.languages[1], pair.target


def survey(
    recipe: PairsRecipe,
    tables: Sequence[Sequence[Sample]],
    tokenizer: Tokenizer,
    filters: Filters,
    hints: SourceHints | None = None,
) -> Survey:
    """Counts an epoch over the sampled corpora. `tables` holds the samples of each recipe table,
    one for each of its shards. `hints` are those that training writes into sources.

    Raises:
        DataError: no pair is left, or a pair does not fit into a batch.
    """
    noise = recipe.noise.noise(recipe.seed)
    lengths = lengths_of(tables, tokenizer, filters, noise, hints)
    kept = [
        [one.read * len(found) / max(1, len(one.pairs)) for one, found in zip(*table, strict=True)]
        for table in zip(tables, lengths, strict=True)
    ]
    found = [one for table in lengths for one in table]
    sampled = sum(map(len, found))
    often = mixed_by_direction(
        [round(sum(t)) for t in kept],
        [table[0].corpus.weight for table in tables],
        [table[0].corpus.languages for table in tables],
        recipe.data.temperature,
    )
    drawn = [w * k for w, table in zip(often, kept, strict=True) for k in table]
    scale = sum(drawn) / sampled
    weights = [
        share / scale / len(one) if len(one) else 1.0
        for share, one in zip(drawn, found, strict=True)
    ]
    stand_in = _Lengths([one.corpus.name for table in tables for one in table], found)
    sampler = BatchSampler(stand_in, recipe.training.batch_tokens, recipe.seed, weights)
    batches = sampler.epoch_batches(0)
    source, target = stand_in.lengths()
    tokens = sum(int(target[batch].sum()) for batch in batches)
    return Survey(
        pairs=(noise.copies if noise else 1) * sum(one.read for table in tables for one in table),
        kept=round(sum(map(sum, kept))),
        epoch_batches=len(batches) * scale,
        epoch_tokens=tokens * scale,
        directions=_tokens_by_direction([one for table in tables for one in table], found, drawn),
        batches=[(len(b), int(source[b].max()), int(target[b].max())) for b in batches],
        hinted=None if hints is None else round(sum(_hinted(t) for table in tables for t in table)),
    )


def _hinted(one: Sample) -> float:
    """The number of pairs of the corpus whose sources get hints."""
    told = one.report.notes.get(HINTED)
    return 0 if told is None else told.count * one.read / max(1, len(one.pairs))


def _tokens_by_direction(
    samples: Sequence[Sample], found: Sequence[NDArray[np.int32]], drawn: Sequence[float]
) -> dict[str, float]:
    """Target tokens of an epoch by direction, such as "en-de"; none without languages."""
    tokens: dict[str, float] = {}
    for one, lengths, pairs in zip(samples, found, drawn, strict=True):
        if one.corpus.languages and len(lengths):
            name = "-".join(one.corpus.languages)
            tokens[name] = tokens.get(name, 0.0) + pairs * float(lengths[:, 1].mean())
    return tokens


def lengths_of(
    tables: Sequence[Sequence[Sample]],
    tokenizer: Tokenizer,
    filters: Filters,
    noise: Noise | None = None,
    hints: SourceHints | None = None,
) -> list[list[NDArray[np.int32]]]:
    """For each sample, (source tokens, target tokens, line) of the pairs that pass the filters.

    Raises:
        DataError: no pair of a table passes them.
    """
    found = [[_kept(one, tokenizer, filters, noise, hints) for one in table] for table in tables]
    if not any(len(kept) for table in found for kept in table):
        samples = [one for table in tables for one in table]
        names = ", ".join(one.corpus.name for one in samples)
        raise DataError(
            f"{names}: no pair is left; {'; '.join(one.report.summary() for one in samples)}"
        )
    return found


def _kept(
    one: Sample,
    tokenizer: Tokenizer,
    filters: Filters,
    noise: Noise | None,
    hints: SourceHints | None,
) -> NDArray[np.int32]:
    pairs = one.pairs if noise is None else noise.of(one.pairs)
    sources = tokenizer.encode_ids([pair.source for pair in pairs])
    targets = tokenizer.encode_ids([pair.target for pair in pairs])
    if hints is not None:
        sources = hints.added(
            pairs, sources, lambda pair: one.report.note(HINTED, 0, pair.line, "")
        )
    rows = []
    for pair, *ids in zip(pairs, sources, targets, strict=True):
        lengths = len(ids[0]), len(ids[1])
        languages = one.corpus.languages
        amiss = filters.judge_text(pair, languages) or filters.judge_lengths(*lengths)
        if amiss is None:
            rows.append((*lengths, pair.line))
        else:
            reason, detail = amiss
            one.report.leave_out(reason, 0, pair.line, detail)
    return np.array(rows, dtype=np.int32).reshape(-1, 3)


class _Lengths:
    """Stands for a token store where a sampler only needs lengths and lines."""

    def __init__(self, names: Sequence[str], found: Sequence[NDArray[np.int32]]) -> None:
        self._names = names
        self.sides = np.concatenate(found)
        self.corpora = len(found)
        self.corpus_bounds = np.cumsum([0, *map(len, found)])

    def __len__(self) -> int:
        return len(self.sides)

    def lengths(
        self, first: int = 0, end: int | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return self.sides[first:end, 0], self.sides[first:end, 1]

    def line_of(self, index: int) -> tuple[str, int]:
        corpus = int(np.searchsorted(self.corpus_bounds, index, side="right")) - 1
        return self._names[corpus], int(self.sides[index, 2])
