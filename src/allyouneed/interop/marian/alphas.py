"""Measures the inputs of a model's linear maps, for Marian's factors of rounding to 8 bits.

The factor of a map is 127 / (mean + 1.1 standard deviations) of the largest inputs. Mozilla
computes it in the same way over a development set.
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
OUTPUT = "none"  # Marian's name for the rows of the output matrix that a shortlist selects


class _Largest:
    """The mean and standard deviation of a map's largest absolute input over all its calls."""

    def __init__(self) -> None:
        self.count, self.total, self.squares = 0, 0.0, 0.0

    def __call__(self, _: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        largest = float(inputs[0].abs().max())
        self.count += 1
        self.total += largest
        self.squares += largest * largest

    @property
    def factor(self) -> float:
        """The factor that inputs are multiplied by before rounding."""
        mean = self.total / self.count
        spread = math.sqrt(max(self.squares / self.count - mean * mean, 0.0))
        reach = mean + DEVIATIONS * spread
        return LARGEST / reach if reach else 1.0


@torch.no_grad()
def measured_alphas(
    model: Transformer, sources: Iterable[Sequence[int]], names: Mapping[str, str]
) -> dict[str, float]:
    """The factor of each of Marian's matrices, by its name in Marian followed by "_QuantMultA",
    measured while these sentences are translated greedily. `names` maps our names to Marian's."""
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
