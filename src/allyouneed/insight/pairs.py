"""Pairs of sentences as ids, which a model is run over in batches with the targets given.

B batch · T target length · S source length
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from allyouneed.core.transformer import Transformer
from allyouneed.data.padding import padded
from allyouneed.decoding.scoring import teacher_input
from allyouneed.engine.batches import batches_of_like_length
from allyouneed.errors import DataError, UsageError
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.translation.translator import Translator
from allyouneed.translation.words import word_numbers

Progress = Callable[[str, int, int], None]
"""progress(stage, done, total), called after each batch."""


def no_progress(stage: str, done: int, total: int) -> None:
    """Ignores the progress, for callers that do not show it."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Sources and targets as ids, each with its end, and the targets' texts."""

    tokenizer: AnyTokenizer
    sources: Sequence[Sequence[int]]
    targets: Sequence[Sequence[int]]
    references: Sequence[str]

    @classmethod
    def of(
        cls,
        translator: Translator,
        sources: Sequence[str],
        targets: Sequence[str],
        first_number: int = 1,
    ) -> "Pairs":
        """Tokenises both sides as the model reads them, without white space around the texts.
        Errors number the pairs from `first_number`.

        Raises:
            UsageError: there is not one target for each source, or there are no pairs.
            DataError: a pair does not fit into the model's positions.
        """
        if len(sources) != len(targets) or not sources:
            raise UsageError(
                f"{len(sources):,} sources and {len(targets):,} targets; "
                "give at least one pair, and a target for each source"
            )
        tokenizer, longest = translator.tokenizer, translator.config.max_positions
        plain = translator.segmenter.normaliser.plain
        source_ids = tokenizer.encode_ids([plain(text.strip()).text for text in sources])
        target_ids = tokenizer.target.encode_ids([plain(text.strip()).text for text in targets])
        for number, pair in enumerate(zip(source_ids, target_ids, strict=True), first_number):
            if (length := max(map(len, pair))) > longest:
                raise DataError(
                    f"pair {number} has {length} tokens, more than the model's {longest} "
                    "positions; leave it out, or split it"
                )
        return cls(tokenizer, source_ids, target_ids, targets)

    @property
    def target_tokens(self) -> int:
        """The number of target tokens in all pairs, end tokens included."""
        return sum(map(len, self.targets))

    def words(self, number: int) -> tuple[list[int], list[int]]:
        """For both sides of one pair, the number of the word that each token belongs to, or -1."""
        source, target = self.sources[number], self.targets[number]
        return word_numbers(self.tokenizer, source), word_numbers(self.tokenizer.target, target)

    def batches(self, progress: Progress = no_progress, stage: str = "") -> Iterator[list[int]]:
        """The numbers of the pairs of each batch, which have similar lengths. Reports progress."""
        lengths = [max(map(len, pair)) for pair in zip(self.sources, self.targets, strict=True)]
        done = 0
        for chosen in batches_of_like_length(lengths):
            progress(stage, done, len(lengths))
            yield chosen
            done += len(chosen)
        progress(stage, done, len(lengths))

    @torch.inference_mode()
    def force(self, model: Transformer, chosen: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Runs the model over a batch by teacher forcing. Returns the source BS and the decoder's
        input BT.

        Raises:
            UsageError: the model is in training mode.
        """
        device = next(model.parameters()).device
        source_BS = padded([self.sources[n] for n in chosen], model.config.pad, device)
        target_BT = padded([self.targets[n] for n in chosen], model.config.pad, device)
        input_BT = teacher_input(model, source_BS, target_BT)
        model.decode(input_BT, model.encode(source_BS))
        return source_BS, input_BT
