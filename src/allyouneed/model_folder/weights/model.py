"""Weights as torch tensors: read from a file, copied into a model.

A file stores a shared weight once, under the name that the model's `tied_weights` gives.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.overrides import TorchFunctionMode

from allyouneed.core.encoder_only import EncoderOnly, build_encoder_only
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ModelFolderError
from allyouneed.model_folder.config import Heads
from allyouneed.model_folder.weights.file import reading
from allyouneed.model_folder.weights.int8 import from_int8, on_steps, to_int8
from allyouneed.model_folder.weights.shapes import SCALE, Shape, check_scales, check_shapes

AnyModel = Transformer | EncoderOnly
POSITIONS = ".positions.table"


def untied_weights(model: AnyModel) -> dict[str, Tensor]:
    """The model's weights by name, each shared weight once. The tensors are not copied."""
    tied = model.tied_weights()
    return {name: tensor for name, tensor in model.state_dict().items() if name not in tied}


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file, as stored. int8 matrices are turned into float32.

    Raises:
        ModelFolderError: the file is missing, cut short or not safetensors (such as a pickle), or
            an int8 matrix has no scales.
    """
    with reading(path):
        found = load_file(path)
    int8 = [name for name, tensor in found.items() if tensor.dtype is torch.int8]
    check_scales(int8, {name: tuple(tensor.shape) for name, tensor in found.items()}, path)
    return from_int8(found)


def stored(
    weights: Mapping[str, Tensor], dtype: torch.dtype, steps: Mapping[str, float] | None = None
) -> dict[str, Tensor]:
    """The weights as a file stores them, in `dtype`. `read_weights` turns int8 into float32.

    `steps` names matrices whose numbers are multiples of a step; they are stored in int8. Tables of
    positions, which are small, stay in float32 where `dtype` is float16.
    """
    if dtype is torch.int8:
        return to_int8(weights)
    found: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        if steps and name in steps:
            found[name], scale_O1 = on_steps(tensor.detach().float(), steps[name])
            found[name + SCALE] = scale_O1[:, 0].clone()
        else:
            whole = dtype is torch.float16 and name.endswith(POSITIONS)
            found[name] = tensor.to(torch.float32 if whole else dtype).contiguous()
    return found


def fill_weights(model: AnyModel, weights: Mapping[str, Tensor], source: Path) -> None:
    """Copies all weights into the model, in the model's dtype. On an error nothing is copied.

    Raises:
        ModelFolderError: names or shapes do not fit. The message names the file `source`.
    """
    given = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    check_shapes(_shapes(model), given, source)
    for name, tensor in untied_weights(model).items():
        tensor.copy_(weights[name])


def check_heads(model: AnyModel, heads: Heads | None, path: Path) -> None:
    """Raises ModelFolderError if `heads` are not the model's heads. Errors name `path`."""
    if isinstance(model, Transformer):
        if heads is not None:
            raise ModelFolderError(f"{path}: a model with a decoder has no heads; leave them out")
        return
    if heads is None:
        raise ModelFolderError(
            f"{path}: an encoder without a decoder needs `heads`; give Heads() if it has none"
        )
    with torch.device("meta"):
        described = build_encoder_only(model.config, **heads.parts())
    check_shapes(_shapes(described), _shapes(model), path)


def check_finite(model: AnyModel) -> None:
    """Checks the weights before an engine packs them.

    Raises:
        ModelFolderError: a weight holds NaN or infinity. The message names the first such weight.
    """
    for name, tensor in untied_weights(model).items():
        finite = tensor.isfinite()
        if not finite.all():
            raise ModelFolderError(
                f"{name} holds NaN or infinity ({int((~finite).sum())} of {tensor.numel()} values) "
                "and no engine can use it; copy the model again or take another checkpoint"
            )


def _shapes(model: AnyModel) -> dict[str, Shape]:
    return {name: tuple(tensor.shape) for name, tensor in untied_weights(model).items()}


class WeightsLeftUnset(TorchFunctionMode):
    """Inside a `with` block, new modules get uninitialised weights, which a file fills afterwards.

    Drawing initial weights would take longer than the rest of loading, and would change the
    caller's random numbers. Tables that a module computes, such as positions, are still computed.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__module__", None) == "torch.nn.init":
            return kwargs["tensor"] if "tensor" in kwargs else args[0]
        if func in (Tensor.normal_, Tensor.uniform_):
            return args[0]
        return func(*args, **kwargs)
