"""Runs our engines and their peers through the same interface."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from contest.cells import Cell
from contest.models import Formats

BASELINE = "ctranslate2-int8"
PEERS = (BASELINE, "ctranslate2-float32", "huggingface", "bergamot")
OURS = ("cpu-int8", "cpu-float32", "core")
DEFAULT = ("cpu-int8", "cpu-float32", *PEERS)


@dataclass(frozen=True)
class Setting:
    """The setting of an engine: the number of workers, which decode batches of their own, the
    threads of each worker, and the size of a batch in `unit`s."""

    workers: int
    threads: int
    batch: int
    unit: str = "examples"

    def __str__(self) -> str:
        size = f"{self.batch} {'sentences' if self.unit == 'examples' else 'tokens'}"
        return f"{self.workers}×{self.threads}, {size}"


@dataclass(frozen=True)
class Found:
    """A translation: its ids without start and end, its number of tokens including the end, and its
    score, log-probability divided by the number of tokens (NaN if scores were not asked for)."""

    ids: list[int]
    tokens: int
    score: float = math.nan


class Runner(Protocol):
    """One engine with one model. `description` describes the engine. `slow` engines are measured in
    fewer rounds."""

    name: str
    description: str
    slow: bool

    def layouts(self, cores: int) -> list[tuple[int, int]]:
        """The numbers (workers, threads of each) to try."""

    def batches(self, cell: Cell) -> list[tuple[int, str]]:
        """The batch sizes to try, in "examples" or "tokens"."""

    def share(self, cell: Cell) -> Cell:
        """The part of the cell to decode in a round: all of it, or less if that is sufficient."""

    def run(self, cell: Cell, setting: Setting, scores: bool = False) -> Any:
        """Decodes the cell. This call is timed."""

    def read(self, cell: Cell, raw: Any) -> list[Found]:
        """The result of `run` as translations."""


def full_layouts(cores: int) -> list[tuple[int, int]]:
    """The numbers (workers, threads) that use all cores."""
    counts = sorted({1, cores // 2 or 1, cores}, reverse=True)
    return [(workers, cores // workers) for workers in counts]


def make_runner(name: str, formats: Formats, cores: int) -> Runner:
    """The engine of this name with this model.

    Raises:
        UsageError: it is one of our engines or Bergamot, and this machine cannot run it.
    """
    if name == "bergamot":
        from contest.bergamot import BergamotRunner

        return BergamotRunner(formats)
    if name == "huggingface":
        return HuggingFaceRunner(formats)
    if name.startswith("ctranslate2-"):
        return CTranslate2Runner(formats, name.removeprefix("ctranslate2-"))
    from contest.ours import OurRunner

    return OurRunner(formats, name, cores)


class CTranslate2Runner:
    """CTranslate2, which itself sorts the sentences of a call and divides them into batches."""

    def __init__(self, formats: Formats, compute_type: str) -> None:
        self.name = f"ctranslate2-{compute_type}"
        self.description = f"CTranslate2, {compute_type}"
        self.slow = compute_type == "float32"
        self.compute_type = compute_type
        self.path = str(formats.ctranslate2(compute_type))
        ids: dict[str, int] = json.loads(formats.opened().tokenizer.to_json())["model"]["vocab"]
        self.pieces = sorted(ids, key=ids.__getitem__)
        self.ids = ids
        self._translators: dict[tuple[int, int], Any] = {}
        self._spelt: tuple[list[list[int]], list[list[str]]] = ([], [])

    def layouts(self, cores: int) -> list[tuple[int, int]]:
        """As in `Runner`."""
        return full_layouts(cores)

    def batches(self, cell: Cell) -> list[tuple[int, str]]:
        """As in `Runner`."""
        if cell.batch:
            return [(cell.batch, "examples")]
        by_examples = [(size, "examples") for size in (16, 32, 64, 128)]
        return by_examples + [(size, "tokens") for size in (512, 1024, 2048, 4096)]

    def share(self, cell: Cell) -> Cell:
        """As in `Runner`."""
        return cell

    def run(self, cell: Cell, setting: Setting, scores: bool = False) -> Any:
        """As in `Runner`."""
        return self._translator(setting).translate_batch(
            self._spell(cell.sources),
            max_batch_size=setting.batch,
            batch_type=setting.unit,
            beam_size=cell.beam,
            length_penalty=1,
            min_decoding_length=cell.length if cell.batch else 1,
            max_decoding_length=cell.length,
            return_scores=scores,
        )

    def read(self, cell: Cell, raw: Any) -> list[Found]:
        """As in `Runner`. CTranslate2's results have no end token."""
        found = []
        for result in raw:
            ids = [self.ids[piece] for piece in result.hypotheses[0]]
            score = result.scores[0] if result.scores else math.nan
            found.append(Found(ids, min(len(ids) + 1, cell.length), score))
        return found

    def _translator(self, setting: Setting) -> Any:
        layout = (setting.workers, setting.threads)
        if layout not in self._translators:
            import ctranslate2

            self._translators[layout] = ctranslate2.Translator(
                self.path,
                compute_type=self.compute_type,
                inter_threads=setting.workers,
                intra_threads=setting.threads,
            )
        return self._translators[layout]

    def _spell(self, sources: list[list[int]]) -> list[list[str]]:
        """The sources as pieces, made only once, so that converting ids to strings is not timed."""
        if self._spelt[0] is not sources:
            self._spelt = (sources, [[self.pieces[i] for i in row] for row in sources])
        return self._spelt[1]


class HuggingFaceRunner:
    """`generate` of transformers with padded batches of similar length: in float32, on a GPU in
    bfloat16."""

    name = "huggingface"
    slow = True

    def __init__(self, formats: Formats, device: str = "cpu") -> None:
        import torch
        from transformers import MarianMTModel
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        self.torch = torch
        self.model: Any = MarianMTModel.from_pretrained(formats.huggingface())
        self.model.train(False)
        self.description = "transformers, float32"
        if device != "cpu":
            self.model.to(device, torch.bfloat16)
            self.description = "transformers, bfloat16"

    def layouts(self, cores: int) -> list[tuple[int, int]]:
        """One batch after the other on all cores."""
        return [(1, cores)]

    def batches(self, cell: Cell) -> list[tuple[int, str]]:
        """As in `Runner`."""
        return [(size, "examples") for size in ([cell.batch] if cell.batch else [32, 128])]

    def share(self, cell: Cell) -> Cell:
        """One batch, because every batch takes the same time."""
        return cell.part(cell.batch) if cell.batch else cell

    def run(self, cell: Cell, setting: Setting, scores: bool = False) -> Any:
        """As in `Runner`."""
        self.torch.set_num_threads(setting.threads)
        order = sorted(range(len(cell.sources)), key=lambda n: len(cell.sources[n]))
        raw: dict[int, Any] = {}
        for begin in range(0, len(order), setting.batch):
            chosen = order[begin : begin + setting.batch]
            raw |= zip(chosen, self._generate(cell, [cell.sources[n] for n in chosen]), strict=True)
        return [raw[n] for n in range(len(order))]

    def read(self, cell: Cell, raw: Any) -> list[Found]:
        """As in `Runner`."""
        end = self.model.config.eos_token_id
        found = []
        for row in raw:
            ids = row.tolist()[1:]  # without the start token
            ended = end in ids
            ids = ids[: ids.index(end)] if ended else ids
            found.append(Found(ids, len(ids) + ended))
        return found

    def _generate(self, cell: Cell, sources: Sequence[list[int]]) -> Any:
        from transformers import GenerationConfig

        config, longest = self.model.config, max(map(len, sources))
        pad = config.pad_token_id
        padded = self.torch.tensor(
            [[*row, *[pad] * (longest - len(row))] for row in sources], device=self.model.device
        )
        with self.torch.inference_mode():
            return self.model.generate(
                input_ids=padded,
                attention_mask=(padded != pad).long(),
                generation_config=GenerationConfig(  # type: ignore[no-untyped-call]
                    num_beams=cell.beam,
                    length_penalty=1.0,
                    min_new_tokens=cell.length if cell.batch else 1,
                    max_new_tokens=cell.length,
                    decoder_start_token_id=config.decoder_start_token_id,
                    pad_token_id=pad,
                    eos_token_id=config.eos_token_id,
                ),
            )
