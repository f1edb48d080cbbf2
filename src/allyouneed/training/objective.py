"""The loss that training to translate minimises: the smoothed loss of a batch.

B batch · S source length · T target length · P positions · D d_model
"""

import torch
from torch import Tensor

from allyouneed.core.transformer import Transformer
from allyouneed.data.collate import Batch
from allyouneed.engine.native.library import NoLibrary
from allyouneed.training.cpu.kernels import find_kernels
from allyouneed.training.cpu.packed import PackedTransformer, why_not_packed
from allyouneed.training.guided_alignment import GuidedHead
from allyouneed.training.loss import fused_loss
from allyouneed.training.recipe.sections import GuidedAlignmentSection, TrainingSection
from allyouneed.training.training_loss import TrainingLoss
from allyouneed.training.word_dropout import word_dropout


class Objective(TrainingLoss):
    """The smoothed loss of a batch (section 5.4), in nats, summed over its target tokens.

    With `guided`, the cross-entropy of one head's attention against the batch's word alignments is
    added, multiplied by its weight.
    With R-Drop the batch passes through the model twice, as one batch of double size. On a CPU,
    native kernels compute everything between the matrix products, and also bf16 products if the
    processor has instructions for them. `note` says that the kernels were compiled, or why they
    cannot be used.
    """

    def __init__(
        self,
        model: Transformer,
        training: TrainingSection,
        device: torch.device,
        guided: GuidedAlignmentSection | None = None,
    ) -> None:
        super().__init__(model)
        self.model: Transformer = model
        self._smoothing = training.label_smoothing
        self._r_drop = training.r_drop
        self._word_dropout = training.word_dropout
        self._narrow = training.precision == "bf16"
        self._device = device
        self._packed: PackedTransformer | None = None
        self._guided = GuidedHead(model, guided) if guided else None
        if device.type == "cpu" and not training.sharded:
            self._use_kernels()
        if self._guided and self._packed:
            self._packed.guided = self._guided
        elif self._guided:
            self._guided.watch()

    def _use_kernels(self) -> None:
        unsupported = why_not_packed(self.model)
        if unsupported:
            self.note = (
                f"training is slower without the native kernels, which do not support {unsupported}"
            )
            return
        try:
            library = find_kernels()
        except NoLibrary as error:
            self.note = f"{error}; training is slower without them"
            return
        self.note = library.note
        self._packed = PackedTransformer(self.model, library.functions)

    def forward(self, batch: Batch | None) -> Tensor:
        """The loss of the batch. For None it is 0, with a gradient of 0 for every weight."""
        if batch is None:
            return self.nothing()
        passes = 2 if self._r_drop else 1
        source_BS, target_in_BT = (
            word_dropout(ids.to(self._device).repeat(passes, 1), self._word_dropout)
            for ids in (batch.source_BS, batch.target_in_BT)
        )
        labels_BT = batch.labels_BT.to(self._device).repeat(passes, 1)
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._narrow):
            states_PD, labels_P = self._states(source_BS, target_in_BT, labels_BT)
            loss = fused_loss(
                states_PD,
                self.model.output,
                labels_P[: len(labels_P) // passes],
                self._smoothing,
                self.model.config.pad,
                self._r_drop,
                self._packed.kernels if self._packed else None,
            )
        if self._guided is None or batch.guide_BTS is None:
            return loss
        guide_BTS = batch.guide_BTS.to(self._device).repeat(passes, 1, 1)
        aligned = self._guided.loss(guide_BTS, source_BS != self.model.config.pad)
        return loss + self._guided.weight / passes * aligned

    def _states(
        self, source_BS: Tensor, target_in_BT: Tensor, labels_BT: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The decoder's states PD and the labels P that belong to them."""
        if self._packed is not None:
            kept_BT = labels_BT != self.model.config.pad
            return self._packed.states(source_BS, target_in_BT, kept_BT), labels_BT[kept_BT]
        states_BTD = self.model.decode(target_in_BT, self.model.encode(source_BS))
        return states_BTD.flatten(0, 1), labels_BT.flatten()
