"""The optimizer of section 5.3."""

import torch
from torch.optim import Adam, AdamW, Optimizer

from allyouneed.training.recipe.sections import OptimizerSection

KINDS: dict[str, type[Adam]] = {"adam": Adam, "adamw": AdamW}


def make_optimizer(section: OptimizerSection, model: torch.nn.Module) -> Optimizer:
    """Adam (Kingma & Ba 2015), or AdamW with decoupled weight decay (Loshchilov & Hutter 2019).

    Decay acts on matrices only, not on biases and norms. The loop sets the learning rate.
    """
    matrices = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    others = [parameter for parameter in model.parameters() if parameter.dim() <= 1]
    return KINDS[section.name](
        [
            {"params": matrices, "weight_decay": section.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ],
        lr=0.0,
        betas=section.betas,
        eps=section.epsilon,
        fused=True,
    )
