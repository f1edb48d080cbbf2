"""The front door: a model folder in, then text in, text out."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import overload

import torch
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.alignment import cross_attention_map, pharaoh
from allyouneed.decoding.beam import BeamOptions, beam_search
from allyouneed.decoding.protocol import Hypothesis
from allyouneed.decoding.sampling import SamplingOptions, sample
from allyouneed.decoding.scoring import score_targets
from allyouneed.errors import DataError, UsageError
from allyouneed.model_folder import open_model_folder
from allyouneed.text.clean import clean
from allyouneed.text.sentences import split_long, split_sentences
from allyouneed.text.tokenizer import Tokenizer

ENGINES = ("auto", "core")
BATCH_TOKENS = 2048  # source tokens translated at once, padding included
STREAM_LINES = 512  # lines read ahead by `stream`, so that like lengths meet in a batch


@dataclass(frozen=True, slots=True)
class Translation:
    """One translated text.

    `log_probability` is natural, summed over `tokens`, end tokens included.
    `average_log_likelihood` (H) is it per token, and `probability` is exp(H).
    `alternatives` are the n best, this one first, when more than one was asked for.
    `alignment` links words of the source to words of the text as Pharaoh "i-j" pairs.
    `notes` say what was done to the text beyond translating it.
    """

    source: str
    text: str
    log_probability: float
    tokens: tuple[str, ...]
    token_log_probabilities: tuple[float, ...]
    alternatives: tuple["Translation", ...] = ()
    alignment: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def average_log_likelihood(self) -> float:
        """H, in nats per token; 0 for a text without tokens."""
        return self.log_probability / len(self.tokens) if self.tokens else 0.0

    @property
    def probability(self) -> float:
        """exp(H), the geometric mean of the tokens' probabilities."""
        return math.exp(self.average_log_likelihood)


@dataclass(frozen=True, slots=True)
class Score:
    """Log-probability of a given translation: natural, per token (end included) and summed."""

    tokens: tuple[str, ...]
    token_log_probabilities: tuple[float, ...]

    @property
    def log_probability(self) -> float:
        """Of the whole translation."""
        return math.fsum(self.token_log_probabilities)

    @property
    def average_log_likelihood(self) -> float:
        """H, in nats per token."""
        return self.log_probability / len(self.tokens)


@dataclass(slots=True)
class Segment:
    """A part of a text that the model sees at once, with the white space around it."""

    before: str
    text: str
    after: str
    ids: list[int]
    hypotheses: list[Hypothesis] = field(default_factory=list)
    alignment: str | None = None


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
        self.device = device or torch.device("cpu")
        self.model = model.to(self.device).eval()
        self.tokenizer = tokenizer
        self.engine = "core"
        self._longest = model.config.max_positions // 2  # leaves a translation room to be longer
        self._comfortable = min(trained_length or self._longest, self._longest)

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
        options: BeamOptions | SamplingOptions | None = None,
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
        options: BeamOptions | SamplingOptions | None = None,
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
        options: BeamOptions | SamplingOptions | None = None,
        prefix: str = "",
        alignments: bool = False,
    ) -> Translation | list[Translation]:
        """Translates a text, or a list of them in batches of like length, in order.

        `options` say everything about the search and replace `beam` and `n_best`; `prefix` is
        what every translation has to begin with; `alignments` also fills `alignment`. A text of
        several lines, or longer than the model's positions, is translated in parts and put
        together again, with a note.
        """
        if isinstance(text, str):
            return self._translate([text], beam, n_best, options, prefix, alignments)[0]
        return self._translate(list(text), beam, n_best, options, prefix, alignments)

    def stream(
        self,
        lines: Iterable[str],
        beam: int = 4,
        n_best: int = 1,
        *,
        options: BeamOptions | SamplingOptions | None = None,
        prefix: str = "",
        alignments: bool = False,
        read_ahead: int = STREAM_LINES,
    ) -> Iterator[Translation]:
        """Translates lines as they come, in order, never holding more than `read_ahead`."""
        remaining = iter(lines)
        while chunk := list(islice(remaining, read_ahead)):
            yield from self(
                chunk, beam, n_best, options=options, prefix=prefix, alignments=alignments
            )

    @torch.inference_mode()
    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[Score]:
        """Log-probabilities of given translations, in order.

        Raises:
            UsageError: lists of different lengths.
            DataError: a pair that does not fit into the model's positions, by its number.
        """
        if len(sources) != len(targets):
            raise UsageError(
                f"{len(sources)} sources and {len(targets)} targets; each source needs its target"
            )
        source_ids = self.tokenizer.encode_ids([clean(text)[0] for text in sources])
        target_ids = self.tokenizer.encode_ids([clean(text)[0] for text in targets])
        lengths = [max(map(len, pair)) for pair in zip(source_ids, target_ids, strict=True)]
        for number, length in enumerate(lengths, 1):
            if length > self.config.max_positions:
                raise DataError(
                    f"pair {number} has {length} tokens, more than the model's "
                    f"{self.config.max_positions} positions; score it in parts"
                )
        scores: list[Score | None] = [None] * len(sources)
        for chosen in batches_of_like_length(lengths):
            found = score_targets(
                self.model,
                self._padded([source_ids[n] for n in chosen]),
                self._padded([target_ids[n] for n in chosen]),
            )
            for n, token_log_probabilities in zip(chosen, found, strict=True):
                pieces = tuple(self.tokenizer.piece(id) for id in target_ids[n])
                scores[n] = Score(pieces, tuple(token_log_probabilities))
        return [score for score in scores if score is not None]

    @torch.inference_mode()
    def attention(self, source: str, target: str) -> tuple[list[str], list[str], Tensor]:
        """Cross-attention of a finished translation, found by teacher forcing.

        Returns the source's pieces, the target's pieces and the weights TS, averaged over heads.
        """
        source_ids, target_ids = self.tokenizer.encode_ids([clean(source)[0], clean(target)[0]])
        weights_BTS = cross_attention_map(
            self.model, self._padded([source_ids]), self._padded([target_ids])
        )
        names = [[self.tokenizer.piece(id) for id in ids] for ids in (source_ids, target_ids)]
        return names[0], names[1], weights_BTS[0]

    def _translate(
        self,
        texts: list[str],
        beam: int,
        n_best: int,
        options: BeamOptions | SamplingOptions | None,
        prefix: str,
        alignments: bool,
    ) -> list[Translation]:
        options = options or BeamOptions(beam=max(beam, n_best), n_best=n_best)
        cut = [self._segments(text) for text in texts]
        segments = [segment for parts, _ in cut for segment in parts if segment.text]
        prefix_ids = self.tokenizer.encode(prefix).ids[:-1] if prefix else []
        for chosen in batches_of_like_length([len(segment.ids) for segment in segments]):
            self._search([segments[n] for n in chosen], options, prefix_ids, chosen, alignments)
        return [
            self._assemble(text, parts, notes)
            for text, (parts, notes) in zip(texts, cut, strict=True)
        ]

    def _search(
        self,
        segments: Sequence[Segment],
        options: BeamOptions | SamplingOptions,
        prefix_ids: list[int],
        numbers: Sequence[int],
        alignments: bool,
    ) -> None:
        source_BS = self._padded([segment.ids for segment in segments])
        prefixes = [prefix_ids] * len(segments) if prefix_ids else None
        if isinstance(options, BeamOptions):
            found = beam_search(self.model, source_BS, options, prefixes)
        else:
            found = sample(self.model, source_BS, options, prefixes, numbers)
        for segment, hypotheses in zip(segments, found, strict=True):
            segment.hypotheses = hypotheses
        if alignments:
            target_BT = self._padded([list(s.hypotheses[0].ids) for s in segments])
            weights_BTS = cross_attention_map(self.model, source_BS, target_BT)
            for segment, weights_TS in zip(segments, weights_BTS, strict=True):
                segment.alignment = pharaoh(
                    weights_TS, self._words(segment.ids), self._words(segment.hypotheses[0].ids)
                )

    def _segments(self, text: str) -> tuple[list[Segment], list[str]]:
        """A text cut where the model needs it, and notes about that and about its characters."""
        text, notes = clean(text)
        parts: list[str] = []
        for number, line in enumerate(text.split("\n")):
            if number:
                parts[-1] += "\n"
            pieces = self._sentences(line)
            if len(pieces) > 1:
                notes.append(f"longer than the model knows: translated in {len(pieces)} parts")
            parts += pieces
        return [self._segment(part) for part in parts], notes

    def _sentences(self, line: str) -> list[str]:
        """The line, or its sentences when it is longer than what training covered; a sentence is
        cut only where it has more tokens than fit the model."""

        def fits(part: str) -> bool:
            return len(self.tokenizer.encode(part).ids) <= self._longest

        if (
            len(line) < self._comfortable
            or len(self.tokenizer.encode(line).ids) <= self._comfortable
        ):
            return [line]
        return [part for sentence in split_sentences(line) for part in split_long(sentence, fits)]

    def _segment(self, part: str) -> Segment:
        core = part.strip()
        begin = part.find(core)
        ids = self.tokenizer.encode(core).ids if core else []
        return Segment(part[:begin], core, part[begin + len(core) :], ids)

    def _assemble(self, source: str, parts: Sequence[Segment], notes: list[str]) -> Translation:
        ranks = max((len(part.hypotheses) for part in parts), default=0)
        found = [self._of_rank(source, parts, rank, notes) for rank in range(max(ranks, 1))]
        return replace(found[0], alternatives=tuple(found) if ranks > 1 else ())

    def _of_rank(
        self, source: str, parts: Sequence[Segment], rank: int, notes: list[str]
    ) -> Translation:
        text = ""
        ids: list[int] = []
        log_probabilities: list[float] = []
        notes = list(notes)
        for part in parts:
            text += part.before
            if part.hypotheses:
                hypothesis = part.hypotheses[min(rank, len(part.hypotheses) - 1)]
                text += self.tokenizer.decode(hypothesis.ids).strip()
                ids += hypothesis.ids
                log_probabilities += hypothesis.token_log_probabilities
                if not hypothesis.finished:
                    notes.append("stopped at the length limit before the end of the sentence")
            text += part.after
        return Translation(
            source=source,
            text=text,
            log_probability=math.fsum(log_probabilities),
            tokens=tuple(self.tokenizer.piece(id) for id in ids),
            token_log_probabilities=tuple(log_probabilities),
            alignment=self._joined_alignment(parts) if rank == 0 else None,
            notes=tuple(notes),
        )

    def _joined_alignment(self, parts: Sequence[Segment]) -> str | None:
        """The parts' alignments as one, word numbers counting on from part to part."""
        if all(part.alignment is None for part in parts):
            return None
        links, source_words, target_words = [], 0, 0
        for part in parts:
            for link in (part.alignment or "").split():
                i, j = link.split("-")
                links.append(f"{source_words + int(i)}-{target_words + int(j)}")
            if part.hypotheses:
                source_words += max(self._words(part.ids)) + 1
                target_words += max(self._words(part.hypotheses[0].ids)) + 1
        return " ".join(links)

    def _words(self, ids: Sequence[int]) -> list[int]:
        """For each token the number of its word (white space separates); -1 for the end."""
        words, word = [], -1
        for id in ids:
            if id == self.config.end:
                words.append(-1)
                continue
            if word < 0 or self.tokenizer.piece(id)[:1].isspace():
                word += 1
            words.append(word)
        return words

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

    `engine` is "auto" or "core"; `device` a torch device such as "cuda"; `threads` how many cores
    torch may use in this process.

    Raises:
        ModelFolderError: no such model, or one that cannot be read.
        UsageError: an engine, device or number of threads that is not there.
    """
    if engine not in ENGINES:
        raise UsageError(f"engine={engine!r} is not one of {', '.join(ENGINES)}")
    if threads is not None:
        if threads < 1:
            raise UsageError(f"threads={threads} must be at least 1")
        torch.set_num_threads(threads)
    folder = open_model_folder(name_or_folder)
    try:
        return Translator(
            folder.load_model(),
            folder.tokenizer,
            device=torch.device(device or "cpu"),
            trained_length=folder.trained_length,
        )
    except (RuntimeError, AssertionError) as error:
        raise UsageError(
            f"device={device!r} cannot be used: {str(error).splitlines()[0]}"
        ) from error


def batches_of_like_length(
    lengths: Sequence[int], budget: int = BATCH_TOKENS
) -> Iterator[list[int]]:
    """Numbers 0 … n-1, sorted by length and cut where rows × longest would pass the budget."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    batch: list[int] = []
    for number in order:
        if batch and (len(batch) + 1) * lengths[number] > budget:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch
