"""The front door: a model folder in, then text in, text out."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import overload

import torch
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.alignment import cross_attention_map, pharaoh
from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.decoding.sampling import sample
from allyouneed.decoding.scoring import score_targets
from allyouneed.device import named_device
from allyouneed.errors import DataError, UsageError
from allyouneed.model_folder import open_model_folder
from allyouneed.segments import Segment, Segmenter, put_together, word_numbers
from allyouneed.text.clean import clean
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation import Score, Translation

__all__ = ["load", "Score", "Translation", "Translator"]

ENGINES = ("auto", "core")
BATCH_TOKENS = 2048  # source tokens in a batch, padding included
BATCH_HYPOTHESES = 512  # decoded at once; the cache of a batch grows with it
STREAM_LINES = 512  # lines read ahead by `stream`, so that like lengths meet in a batch

Options = BeamOptions | SamplingOptions


class Translator:
    """Translates with one model. Call it with a text or a list of texts.

    `model`, `tokenizer` and `config` are what the folder holds; `engine` is the road that runs.
    """

    def __init__(
        self,
        model: Transformer,
        tokenizer: Tokenizer,
        *,
        device: torch.device | None = None,
        trained_length: int | None = None,
    ) -> None:
        """`trained_length` is the source length, in tokens, that training covered well."""
        self.device = device or torch.device("cpu")
        self.model = model.to(self.device).eval()
        self.tokenizer = tokenizer
        self.engine = "core"
        longest = model.config.max_positions // 2  # leaves a translation room to be longer
        self._segmenter = Segmenter(tokenizer, min(trained_length or longest, longest))

    @property
    def config(self) -> TransformerConfig:
        """The shape of the model."""
        return self.model.config

    @overload
    def __call__(
        self,
        text: str,
        beam: int = 4,
        n_best: int = 1,
        *,
        options: Options | None = None,
        prefix: str = "",
        alignments: bool = False,
    ) -> Translation: ...

    @overload
    def __call__(
        self,
        text: list[str] | tuple[str, ...],
        beam: int = 4,
        n_best: int = 1,
        *,
        options: Options | None = None,
        prefix: str = "",
        alignments: bool = False,
    ) -> list[Translation]: ...

    @torch.inference_mode()
    def __call__(
        self,
        text: str | list[str] | tuple[str, ...],
        beam: int = 4,
        n_best: int = 1,
        *,
        options: Options | None = None,
        prefix: str = "",
        alignments: bool = False,
    ) -> Translation | list[Translation]:
        """Translates a text, or a list of them in batches of like length, in order.

        The beam is `beam` wide, and at least `n_best`; `options` say everything about the search
        instead of these two. `prefix` is what every translation has to begin with; `alignments`
        also fills `alignment`. White space around a text and its line ends stay as they are. Each
        line is translated by itself, and one longer than the model knows in parts, with a note.
        A sample follows from the seed and the text alone.

        Raises:
            UsageError: options or a prefix that cannot be used.
        """
        options = _options(beam, n_best, options)
        if isinstance(text, str):
            return self._translate([text], options, prefix, alignments)[0]
        return self._translate(text, options, prefix, alignments)

    def stream(
        self,
        lines: Iterable[str],
        beam: int = 4,
        n_best: int = 1,
        *,
        options: Options | None = None,
        prefix: str = "",
        alignments: bool = False,
        read_ahead: int = STREAM_LINES,
    ) -> Iterator[Translation]:
        """Translates lines as they come, in order, never holding more than `read_ahead`.

        Raises:
            UsageError: options, a prefix or a `read_ahead` that cannot be used.
        """
        if read_ahead < 1:
            raise UsageError(f"read_ahead={read_ahead} must be at least 1")
        options, remaining = _options(beam, n_best, options), iter(lines)
        chunks = iter(lambda: list(islice(remaining, read_ahead)), [])
        return (
            translation
            for chunk in chunks
            for translation in self(chunk, options=options, prefix=prefix, alignments=alignments)
        )

    @torch.inference_mode()
    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[Score]:
        """Log-probabilities of given translations, in order; white space around texts is left out.

        Raises:
            UsageError: lists of different lengths.
            DataError: a pair that does not fit into the model's positions, by its number.
        """
        if len(sources) != len(targets):
            raise UsageError(
                f"{len(sources)} sources and {len(targets)} targets; each source needs its target"
            )
        source_ids, target_ids = self._ids(sources), self._ids(targets)
        lengths = [max(map(len, pair)) for pair in zip(source_ids, target_ids, strict=True)]
        for number, length in enumerate(lengths, 1):
            if length > self.config.max_positions:
                raise DataError(
                    f"pair {number} has {length} tokens, more than the model's "
                    f"{self.config.max_positions} positions; score it in parts"
                )
        found: dict[int, tuple[float, ...]] = {}
        for chosen in batches_of_like_length(lengths, BATCH_TOKENS, BATCH_HYPOTHESES):
            source_BS = self._padded([source_ids[n] for n in chosen])
            target_BT = self._padded([target_ids[n] for n in chosen])
            found |= zip(chosen, score_targets(self.model, source_BS, target_BT), strict=True)
        return [
            Score(tokens=self._pieces(ids), token_log_probabilities=found[n])
            for n, ids in enumerate(target_ids)
        ]

    @torch.inference_mode()
    def attention(self, source: str, target: str) -> tuple[list[str], list[str], Tensor]:
        """Cross-attention of a finished translation, found by teacher forcing.

        Returns the source's pieces, the target's pieces and the weights TS of the last layer,
        averaged over its heads; white space around the texts is left out.

        Raises:
            ShapeError: a text that does not fit into the model's positions.
        """
        source_ids, target_ids = self._ids([source, target])
        weights_BTS = cross_attention_map(
            self.model, self._padded([source_ids]), self._padded([target_ids])
        )
        return list(self._pieces(source_ids)), list(self._pieces(target_ids)), weights_BTS[0]

    def _translate(
        self, texts: Sequence[str], options: Options, prefix: str, alignments: bool
    ) -> list[Translation]:
        cut = [self._segmenter.cut(text) for text in texts]
        prefix_ids = self.tokenizer.encode(prefix.lstrip()).ids[:-1] if prefix.strip() else []
        to_do: list[Segment] = []
        prefixes: list[list[int]] = []
        for segments, _ in cut:
            for segment in segments:
                segment.alignment = "" if alignments else None
            not_blank = [segment for segment in segments if segment.text]
            to_do += not_blank
            prefixes += [[] if n else prefix_ids for n in range(len(not_blank))]
        ids = self.tokenizer.encode_ids([segment.text for segment in to_do])
        width = options.beam if isinstance(options, BeamOptions) else options.samples
        rows = max(1, BATCH_HYPOTHESES // width)
        for chosen in batches_of_like_length([len(row) for row in ids], BATCH_TOKENS, rows):
            source_BS = self._padded([ids[n] for n in chosen])
            batch = [to_do[n] for n in chosen]
            forced = [prefixes[n] for n in chosen] if prefix_ids else None
            self._search(source_BS, batch, options, forced)
            if alignments:
                self._align(source_BS, [ids[n] for n in chosen], batch)
        return [
            put_together(text, segments, notes, self.tokenizer, options)
            for text, (segments, notes) in zip(texts, cut, strict=True)
        ]

    def _search(
        self,
        source_BS: Tensor,
        batch: Sequence[Segment],
        options: Options,
        prefixes: list[list[int]] | None,
    ) -> None:
        if isinstance(options, BeamOptions):
            found = beam_search(self.model, source_BS, options, prefixes)
        else:
            numbers = [zlib.crc32(segment.text.encode()) for segment in batch]
            found = sample(self.model, source_BS, options, prefixes, numbers)
        for segment, hypotheses in zip(batch, found, strict=True):
            segment.hypotheses = hypotheses

    def _align(
        self, source_BS: Tensor, source_ids: list[list[int]], batch: Sequence[Segment]
    ) -> None:
        target_ids = [segment.hypotheses[0].ids for segment in batch]
        weights_BTS = cross_attention_map(self.model, source_BS, self._padded(target_ids))
        rows = zip(batch, weights_BTS, source_ids, target_ids, strict=True)
        for segment, weights_TS, source, target in rows:
            words = [word_numbers(self.tokenizer, ids) for ids in (source, target)]
            segment.alignment = pharaoh(weights_TS, *words)

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        return self.tokenizer.encode_ids([clean(text)[0].strip() for text in texts])

    def _pieces(self, ids: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.tokenizer.piece(id) for id in ids)

    def _padded(self, rows: Sequence[Sequence[int]]) -> Tensor:
        longest = max(map(len, rows))
        pad = self.config.pad
        return torch.tensor(
            [[*row, *[pad] * (longest - len(row))] for row in rows], device=self.device
        )


def load(
    name_or_folder: str | Path,
    engine: str = "auto",
    device: str | None = None,
    threads: int | None = None,
) -> Translator:
    """Opens a bundled model by name ("en-de") or a model folder, ready to translate.

    `engine` is "auto" or "core"; `device` a torch device such as "cuda", None being the CPU;
    `threads` how many cores torch may use in this process.

    Raises:
        ModelFolderError: no such model, or one that cannot be read.
        UsageError: an engine, device or number of threads that is not there.
    """
    if engine not in ENGINES:
        raise UsageError(f"engine={engine!r} is not one of {', '.join(ENGINES)}")
    place = named_device("cpu" if device is None else device)
    if threads is not None:
        if threads < 1:
            raise UsageError(f"threads={threads} must be at least 1")
        torch.set_num_threads(threads)
    folder = open_model_folder(name_or_folder)
    return Translator(
        folder.load_model(),
        folder.tokenizer,
        device=place,
        trained_length=folder.trained_length,
    )


def batches_of_like_length(
    lengths: Sequence[int], tokens: int, most_rows: int
) -> Iterator[list[int]]:
    """Numbers 0 … n-1, sorted by length and cut where rows × longest would pass `tokens`, or where
    there would be more than `most_rows`."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == most_rows or (len(batch) + 1) * lengths[number] > tokens):
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def _options(beam: int, n_best: int, options: Options | None) -> Options:
    if options is None:
        return BeamOptions(beam=n_best if 0 < beam < n_best else beam, n_best=n_best)
    if (beam, n_best) != (4, 1):
        raise UsageError(
            f"beam={beam}, n_best={n_best} and options were given; say it in options alone"
        )
    return options
