"""Weights as torch tensors: out of a file, into a model.

Of weights that are shared a file holds one, under the name that the model's `tied_weights` says.
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
from allyouneed.model_folder.weights.int8 import from_int8, to_int8
from allyouneed.model_folder.weights.shapes import Shape, check_scales, check_shapes

AnyModel = Transformer | EncoderOnly


def untied_weights(model: AnyModel) -> dict[str, Tensor]:
    """The model's weights by name, each shared one once; they are the model's own memory."""
    tied = model.tied_weights()
    return {name: tensor for name, tensor in model.state_dict().items() if name not in tied}


def read_weights(path: Path) -> dict[str, Tensor]:
    """Tensors of a safetensors file, as stored; int8 times its scales, in float32.

    Raises:
        ModelFolderError: a file that is missing, no safetensors (a pickle), or cut short; int8
            without scales.
    """
    with reading(path):
        found = load_file(path)
    int8 = [name for name, tensor in found.items() if tensor.dtype is torch.int8]
    check_scales(int8, {name: tuple(tensor.shape) for name, tensor in found.items()}, path)
    return from_int8(found)


def stored(weights: Mapping[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    """Weights as a file holds them; `dtype` may be int8, which `read_weights` undoes."""
    if dtype is torch.int8:
        return to_int8(weights)
    return {name: tensor.to(dtype).contiguous() for name, tensor in weights.items()}


def fill_weights(model: AnyModel, weights: Mapping[str, Tensor], source: Path) -> None:
    """Copies weights into the model, in the model's dtype; all of them or, on an error, none.

    Raises:
        ModelFolderError: names or shapes that do not fit; `source` is named in it.
    """
    given = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    check_shapes(_shapes(model), given, source)
    for name, tensor in untied_weights(model).items():
        tensor.copy_(weights[name])


def check_heads(model: AnyModel, heads: Heads | None, path: Path) -> None:
    """Raises ModelFolderError where these are not the heads that the model has; `path` is its
    folder."""
    if isinstance(model, Transformer):
        if heads is not None:
            raise ModelFolderError(f"{path}: a model with a decoder has no heads; leave them out")
        return
    if heads is None:
        raise ModelFolderError(f"{path}: an encoder alone is saved with its heads, if only Heads()")
    with torch.device("meta"):
        described = build_encoder_only(model.config, **heads.parts())
    check_shapes(_shapes(described), _shapes(model), path)


def check_finite(model: AnyModel) -> None:
    """Before an engine packs them.

    Raises:
        ModelFolderError: weights that hold NaN or infinity, by the first one's name.
    """
    for name, tensor in untied_weights(model).items():
        finite = tensor.isfinite()
        if not finite.all():
            raise ModelFolderError(
                f"{name} holds NaN or infinity ({int((~finite).sum())} of {tensor.numel()} values) "
                "and no engine can pack it; copy the model again or take another checkpoint"
            )


def _shapes(model: AnyModel) -> dict[str, Shape]:
    return {name: tuple(tensor.shape) for name, tensor in untied_weights(model).items()}


class WeightsLeftUnset(TorchFunctionMode):
    """Modules made inside leave their weights as the memory was: a file is about to fill them.

    Drawing first values would take longer than everything else about loading, and change the
    caller's random numbers. What a module computes, such as a table of positions, is not touched.
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
