"""Validation: loss over all held-out pairs, BLEU and samples over the first of them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from allyouneed.core.transformer import Transformer
from allyouneed.data.batches import BatchSampler
from allyouneed.data.collate import collate
from allyouneed.evaluation.metrics import bleu
from allyouneed.training.loss import label_smoothed_loss
from allyouneed.training.preparation import Material
from allyouneed.training.sections import ValidationSection
from allyouneed.training.workers import ALONE, Workers
from allyouneed.translator import Translator


@dataclass(frozen=True, slots=True)
class Validation:
    """`loss` is in nats per target token, unsmoothed, the end token counted; `bleu` is cased
    sacreBLEU with its `signature` (None where nothing was translated); samples are source,
    reference, hypothesis."""

    loss: float
    bleu: float | None
    signature: str | None
    samples: Sequence[tuple[str, str, str]]

    def record(self) -> dict[str, Any]:
        """What the log holds of it."""
        return {**asdict(self), "samples": [list(sample) for sample in self.samples]}


@torch.inference_mode()
def validate(
    model: Transformer,
    material: Material,
    section: ValidationSection,
    device: torch.device,
    workers: Workers = ALONE,
) -> Validation:
    """Measures the model, in eval mode and float32, and leaves it in the mode it was in.

    Each worker measures on its share of the pairs; all have the same result.
    """
    was_training = model.training
    model.eval()
    try:
        loss = held_out_loss(model, material, device, workers)
        texts = translate_pairs(model, material, section, workers)
    finally:
        model.train(was_training)
    if not texts:
        return Validation(loss, None, None, ())
    references = [reference for _, reference in material.valid_pairs]
    score = bleu(texts, references, resamples=0)
    samples = [
        (source, reference, text)
        for (source, reference), text in zip(material.valid_pairs, texts, strict=True)
    ][: section.samples]
    return Validation(loss, score.score, score.signature, samples)


def held_out_loss(
    model: Transformer, material: Material, device: torch.device, workers: Workers = ALONE
) -> float:
    """Nats per target token over the whole validation store."""
    config = model.config
    longest = max(4096, config.max_positions)
    total, tokens = 0.0, 0
    batches = BatchSampler(material.valid, longest, seed=0).epoch_batches(0)
    for indices in workers.mine(batches):
        batch = collate(material.valid, indices, config.pad, config.start)
        memory = model.encode(batch.source_BS.to(device))
        states_PD = model.decode(batch.target_in_BT.to(device), memory).flatten(0, 1)
        labels_P = batch.labels_BT.to(device).flatten()
        # the logits of all positions at once would be most of the memory that training takes
        for states_CD, labels_C in zip(
            torch.split(states_PD, 512), torch.split(labels_P, 512), strict=True
        ):
            logits_CV = model.output(states_CD)
            total += float(label_smoothed_loss(logits_CV, labels_C, 0.0, config.pad))
        tokens += batch.target_tokens
    total, all_tokens = workers.sum([total, tokens])
    return total / all_tokens


def translate_pairs(
    model: Transformer,
    material: Material,
    section: ValidationSection,
    workers: Workers = ALONE,
) -> list[str]:
    """Translations of `material.valid_pairs`, by the road that a user's texts take."""
    translator = Translator.of_model(
        model, material.tokenizer, trained_length=material.trained_length
    )
    sources = [source for source, _ in workers.mine(material.valid_pairs)]
    return workers.together([found.text for found in translator(sources, beam=section.beam)])
