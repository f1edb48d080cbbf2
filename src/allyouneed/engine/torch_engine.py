"""Engines that run the searches of `decoding` on a model, step by step, with torch.

B sentences · S source length
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.data.padding import padded
from allyouneed.decoding.alignment import AttentionRecorder
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.beam import Watch, beam_search
from allyouneed.decoding.blocked_sentences import BlockedSentences
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.options import BeamOptions, SamplingOptions, check_takes_terms
from allyouneed.decoding.prefixes import check_prefixes, check_room
from allyouneed.decoding.protocol import Decodable
from allyouneed.decoding.sampling import sample
from allyouneed.decoding.streaming import stream_ids
from allyouneed.decoding.term_search import term_search
from allyouneed.decoding.terms import WantedTerms, with_terms
from allyouneed.device import memory_is_short
from allyouneed.engine.batches import BATCH_HYPOTHESES, BATCH_TOKENS, by_length, rows_that_fit
from allyouneed.engine.engine import Engine, Note, ignore
from allyouneed.engine.selected_vocabulary import for_batch
from allyouneed.errors import AllYouNeedError
from allyouneed.model_folder.vocabulary_selection import VocabularySelection


class TorchEngine:
    """An engine for any `Decodable` model on one device. It decodes sentences of similar length
    together; the batch size is halved when memory runs short.

    If several threads use the engine, only one at a time holds `turn`: for one batch, or for one
    token of a stream. Without a `turn` they run at once.
    """

    def __init__(
        self,
        name: str,
        description: str,
        decodable: Decodable,
        device: torch.device | str = "cpu",
        turn: AbstractContextManager[Any] | None = None,
    ) -> None:
        self.name = name
        self.description = description
        self.decodable = decodable
        self.device = torch.device(device)
        self.turn = nullcontext() if turn is None else turn
        self.selection: VocabularySelection | None = None
        self.batch_tokens = BATCH_TOKENS
        self.batch_hypotheses = BATCH_HYPOTHESES

    @property
    def config(self) -> TransformerConfig:
        """The shape of the model."""
        return self.decodable.config

    def search(
        self,
        sources: Sequence[Sequence[int]],
        options: BeamOptions | SamplingOptions,
        prefixes: Sequence[Sequence[int]] | None = None,
        numbers: Sequence[int] | None = None,
        heads: AlignmentHeads | None = None,
        note: Note = ignore,
        terms: WantedTerms | None = None,
        watch: Watch | None = None,
    ) -> list[list[Hypothesis]]:
        """As `Engine.search`, without attention, which only the core model computes. `watch`
        receives the steps of beam search."""
        if prefixes is not None:  # checked here, where an error can name the caller's sentence
            check_prefixes(prefixes, len(sources), self.config)
            check_room(prefixes, [options.limit(len(one) - 1, self.config) for one in sources])
        if terms is not None:
            check_takes_terms(options)
        width = options.beam if isinstance(options, BeamOptions) else options.samples
        most_rows = max(1, self.batch_hypotheses // width)
        numbers = range(len(sources)) if numbers is None else numbers
        found: dict[int, list[Hypothesis]] = {}
        waiting = by_length([len(source) for source in sources])
        while waiting:
            lengths = [len(sources[n]) for n in waiting]
            rows = rows_that_fit(lengths, self.batch_tokens, most_rows)
            batch = waiting[:rows]
            try:
                with self.turn:
                    results = self._search_batch(
                        [sources[n] for n in batch],
                        options,
                        None if prefixes is None else [prefixes[n] for n in batch],
                        [numbers[n] for n in batch],
                        watch,
                        None if terms is None else terms.of(batch),
                    )
            except (MemoryError, RuntimeError) as error:
                if not memory_is_short(error):
                    raise
                said = self._halve(rows, lengths[rows - 1], width, error)
                for n in batch:
                    note(n, said)
            else:
                found.update(zip(batch, results, strict=True))
                waiting = waiting[rows:]
        return [found[n] for n in range(len(sources))]

    def stream(
        self,
        source: Sequence[int],
        options: BeamOptions | SamplingOptions,
        prefix: Sequence[int] = (),
        number: int = 0,
    ) -> Iterator[int]:
        """As `Engine.stream`."""
        with self.turn:
            model = for_batch(self.decodable, self.selection, [source], [prefix])
            source_BS = torch.tensor([list(source)], device=self.device)
        return self._in_turn(stream_ids(model, source_BS, options, prefix, number))

    def attention(
        self, source: Sequence[int], target: Sequence[int], heads: AlignmentHeads
    ) -> None:
        """None: only the core model computes attention. See `Engine.attention`."""

    def _in_turn(self, ids: Iterator[int]) -> Iterator[int]:
        """The ids, each of them made while the turn is held."""
        while True:
            with self.turn:
                id = next(ids, None)
            if id is None:
                return
            yield id

    def _search_batch(
        self,
        sources: Sequence[Sequence[int]],
        options: BeamOptions | SamplingOptions,
        prefixes: Sequence[Sequence[int]] | None,
        numbers: Sequence[int],
        watch: Watch | None,
        terms: WantedTerms | None,
    ) -> list[list[Hypothesis]]:
        source_BS = padded(sources, self.config.pad, self.device)
        if terms is not None and isinstance(options, BeamOptions):
            needed = with_terms(prefixes, terms)
            model, looks = self.decodable, None
            if isinstance(model, Transformer):
                model = watched = AttentionRecorder(model, terms.heads)
                looks = watched.looks
            model = for_batch(model, self.selection, sources, needed)
            return term_search(model, source_BS, options, terms, prefixes, looks)
        model = for_batch(self.decodable, self.selection, sources, prefixes)
        if isinstance(options, BeamOptions):
            return beam_search(model, source_BS, options, prefixes, watch)
        return sample(model, source_BS, options, prefixes, numbers)

    def _halve(self, rows: int, longest: int, width: int, error: Exception) -> str:
        """Limits this and all later batches to half the size of this one. Returns a note about it.

        Raises:
            AllYouNeedError: the batch has only one sentence.
        """
        if rows == 1:
            raise AllYouNeedError(
                f"memory is too short for one sentence of {longest} tokens and {width} hypotheses "
                f"({str(error).splitlines()[0] if str(error) else type(error).__name__}); "
                "take a smaller beam or fewer samples, a max_length, or shorter sentences"
            ) from error
        self.batch_tokens = rows * longest // 2
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        return (
            f"memory ran short for a batch of {rows} sentences; batches are half as large from "
            f"now on ({self.batch_tokens} source tokens)"
        )


def core_engine(model: Transformer) -> TorchEngine:
    """An engine that runs the model itself, the paper's code in float32, on the model's device."""
    device = next(model.parameters()).device
    where = "the GPU" if device.type == "cuda" else device.type.upper()
    return TorchEngine("core", f"float32, torch, the paper's code on {where}", model, device)


def without_repeats(engine: Engine, said: Sequence[Sequence[int]]) -> TorchEngine:
    """The same model in an engine whose hypotheses never repeat one of `said`, lists of ids without
    the end token."""
    decodable = BlockedSentences(engine.decodable, said)
    device, turn = getattr(engine, "device", "cpu"), getattr(engine, "turn", None)
    searched = TorchEngine(engine.name, engine.description, decodable, device, turn)
    searched.selection = engine.selection
    return searched


def unless_probed(engine: Engine, model: Transformer) -> Engine:
    """The engine, or a core engine if a probe or a hook is set anywhere in the core model."""
    if engine.name == "core" or not _probed(model):
        return engine
    core = core_engine(model)
    core.selection = engine.selection
    return core


def _probed(model: Transformer) -> bool:
    return any(
        getattr(module, "probes", None) or module._forward_hooks or module._forward_pre_hooks
        for module in model.modules()
    )
