"""The loss that training minimises, for every task: model and loss in one module, because DDP and
FSDP wrap one module."""

import torch
from torch import Tensor, nn

from allyouneed.model_folder.weights.model import AnyModel


class TrainingLoss(nn.Module):
    """The training loss of a batch in nats, summed over its target tokens or labels.

    For an empty batch the loss is 0, and so is the gradient of every trained weight. `note` is a
    remark for the user on how the loss is computed, or None.
    """

    note: str | None = None

    def __init__(self, model: AnyModel) -> None:
        super().__init__()
        self.model = model

    def nothing(self) -> Tensor:
        """The loss of an empty batch."""
        return 0 * torch.stack([w.flatten()[0] for w in self.model.parameters()]).sum()
