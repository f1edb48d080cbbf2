"""What training minimises, whatever the task: model and loss as one module, so that DDP and FSDP
can wrap both."""

import torch
from torch import Tensor, nn

from allyouneed.model_folder.weights.model import AnyModel


class Minimised(nn.Module):
    """What training minimises, given a batch: nats, summed over its target tokens or labels; of no
    batch 0, with a gradient of 0 for every weight that is learnt. `note` is what to tell about the
    road taken."""

    note: str | None = None

    def __init__(self, model: AnyModel) -> None:
        super().__init__()
        self.model = model

    def nothing(self) -> Tensor:
        """The loss of no batch."""
        return 0 * torch.stack([w.flatten()[0] for w in self.model.parameters()]).sum()
