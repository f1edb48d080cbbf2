"""Scores of given translations, by teacher forcing.

B batch · S source length · T target length · V vocabulary
"""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from allyouneed.decoding.protocol import TeacherForced
from allyouneed.errors import ShapeError, UsageError


@torch.inference_mode()
def score_targets(
    model: TeacherForced, source_BS: Tensor, target_BT: Tensor
) -> list[tuple[float, ...]]:
    """log P (natural logarithm) of each token of each target. A target's log P is their sum.

    A row of `target_BT` has ids without `start`, padded with `pad`. It should end in `end`, which
    is scored like any other token.

    Raises:
        ShapeError: source and target are not BS and BT with the same B.
        UsageError: the model is in training mode.
    """
    logits_BTV = model(source_BS, teacher_input(model, source_BS, target_BT))
    log_p_BT = -cross_entropy(logits_BTV.float().mT, target_BT, reduction="none")
    lengths = (target_BT != model.config.pad).sum(dim=1).tolist()
    return [tuple(log_p[:length]) for log_p, length in zip(log_p_BT.tolist(), lengths, strict=True)]


def teacher_input(model: TeacherForced, source_BS: Tensor, target_BT: Tensor) -> Tensor:
    """The decoder's input BT: the target shifted right, beginning with `start` (section 3.1).

    Raises:
        ShapeError: source and target are not BS and BT with the same B.
        UsageError: the model is in training mode.
    """
    if source_BS.dim() != 2 or target_BT.dim() != 2 or len(source_BS) != len(target_BT):
        raise ShapeError(
            "source and target must be BS and BT with the same B, "
            f"not {tuple(source_BS.shape)} and {tuple(target_BT.shape)}"
        )
    if getattr(model, "training", False):
        raise UsageError("the model is in training mode: dropout is on; call model.eval()")
    start_B1 = target_BT.new_full((len(target_BT), 1), model.config.start)
    return torch.cat([start_B1, target_BT[:, :-1]], dim=1)
