"""How large the inputs of a model's linear maps are: what Marian rounds them by in 8 bits.

The factor of a map is 127 / (mean + 1.1 standard deviations) of the largest inputs, as Mozilla
computes it over a development set.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack

import torch
from torch import Tensor, nn

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.greedy import greedy_search
from allyouneed.interop.marian.writing import LARGEST, is_matrix

DEVIATIONS = 1.1
SUFFIX = "_QuantMultA"
OUTPUT = "none"  # Marian's name for the rows of the output that a shortlist picks


class _Largest:
    """The mean and spread of the largest absolute inputs of one map, one number for each call."""

    def __init__(self) -> None:
        self.count, self.total, self.squares = 0, 0.0, 0.0

    def __call__(self, _: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        largest = float(inputs[0].abs().max())
        self.count += 1
        self.total += largest
        self.squares += largest * largest

    @property
    def factor(self) -> float:
        """What an input is multiplied by before it is rounded."""
        mean = self.total / self.count
        spread = math.sqrt(max(self.squares / self.count - mean * mean, 0.0))
        reach = mean + DEVIATIONS * spread
        return LARGEST / reach if reach else 1.0


@torch.no_grad()
def measured_alphas(
    model: Transformer, sources: Iterable[Sequence[int]], names: Mapping[str, str]
) -> dict[str, float]:
    """The factor of each of Marian's matrices, by its name there with "_QuantMultA" behind it, from
    translating these sentences greedily. `names` are Marian's by ours."""
    owner = "output.weight"
    if owner not in names:
        owner = model.tied_weights()[owner]
    output = names[owner]
    seen: dict[str, _Largest] = {}
    with ExitStack() as stack:
        for name, module in model.named_modules():
            theirs = output if name == "output" else names.get(f"{name}.weight", "")
            if isinstance(module, nn.Linear) and is_matrix(theirs):
                seen[theirs] = largest = _Largest()
                stack.callback(module.register_forward_pre_hook(largest).remove)
        for source in sources:
            greedy_search(model, torch.tensor([list(source)]))
    found = {f"{name}{SUFFIX}": largest.factor for name, largest in seen.items() if largest.count}
    if f"{output}{SUFFIX}" in found:
        found[f"{OUTPUT}{SUFFIX}"] = found[f"{output}{SUFFIX}"]
    return found
