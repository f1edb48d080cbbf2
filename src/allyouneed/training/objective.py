"""What training minimises, as a module of its own: what shares a model among workers wraps it.

B batch · S source length · T target length · P positions · D d_model
"""

import torch
from torch import Tensor, nn

from allyouneed.core.transformer import Transformer
from allyouneed.data.collate import Batch
from allyouneed.training.loss import fused_loss
from allyouneed.training.sections import TrainingSection
from allyouneed.training.word_dropout import word_dropout


class Objective(nn.Module):
    """The smoothed loss of a batch (section 5.4), in nats, summed over its target tokens.

    With R-Drop, the batch goes through twice, side by side.
    """

    def __init__(self, model: Transformer, training: TrainingSection, device: torch.device) -> None:
        super().__init__()
        self.model = model
        self._smoothing = training.label_smoothing
        self._r_drop = training.r_drop
        self._word_dropout = training.word_dropout
        self._narrow = training.precision == "bf16"
        self._device = device

    def forward(self, batch: Batch | None) -> Tensor:
        """The loss of the batch; of none it is 0, with a gradient of 0 for every weight."""
        if batch is None:
            return 0 * torch.stack([w.flatten()[0] for w in self.model.parameters()]).sum()
        passes = 2 if self._r_drop else 1
        source_BS, target_in_BT = (
            word_dropout(ids.to(self._device).repeat(passes, 1), self._word_dropout)
            for ids in (batch.source_BS, batch.target_in_BT)
        )
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._narrow):
            states_BTD = self.model.decode(target_in_BT, self.model.encode(source_BS))
            return fused_loss(
                states_BTD.flatten(0, 1),
                self.model.output,
                batch.labels_BT.to(self._device).flatten(),
                self._smoothing,
                self.model.config.pad,
                self._r_drop,
            )
