"""A model's weights by name, and the safetensors file that they are kept in. Nothing is unpickled.

Of weights that are shared a file holds one, under the name that `Transformer.tied_weights` says.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor
from torch.overrides import TorchFunctionMode

from allyouneed.core.transformer import Transformer
from allyouneed.errors import ModelFolderError

PICKLES = ("pytorch_model.bin", "model.pt", "model.pth", "model.ckpt", "checkpoint.pt")
PICKLE_STARTS = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
LFS_START = b"version https://git-lfs"


def untied_weights(model: Transformer) -> dict[str, Tensor]:
    """The model's weights by name, each shared one once; they are the model's own memory."""
    tied = model.tied_weights()
    return {name: tensor for name, tensor in model.state_dict().items() if name not in tied}


def read_weights(path: Path) -> dict[str, Tensor]:
    """Tensors of a safetensors file, as stored.

    Raises:
        ModelFolderError: a file that is missing, no safetensors (a pickle), or cut short.
    """
    try:
        with path.open("rb") as file:  # safetensors calls every file missing that it cannot open
            beginning = file.read(64)
        return load_file(path)
    except FileNotFoundError as error:
        pickles = [name for name in PICKLES if (path.parent / name).exists()]
        why = f"; {pickles[0]} is a pickle and is not loaded" if pickles else ""
        raise ModelFolderError(
            f"{path} is missing{why}: weights are kept as safetensors"
        ) from error
    except OSError as error:
        raise ModelFolderError(
            f"{path} cannot be read ({error.strerror or error}); check its permissions"
        ) from error
    except SafetensorError as error:
        raise ModelFolderError(f"{path} {_what_it_is(beginning, error)}") from error


def fill_weights(model: Transformer, weights: Mapping[str, Tensor], source: Path) -> None:
    """Copies weights into the model, in the model's dtype; all of them or, on an error, none.

    Raises:
        ModelFolderError: names or shapes that do not fit; `source` is named in it.
    """
    own = untied_weights(model)
    for complaint, names in (
        ("lacks", own.keys() - weights.keys()),
        ("has the unknown", weights.keys() - own.keys()),
    ):
        if names:
            raise ModelFolderError(
                f"{source} does not fit its config: it {complaint} {min(names)} "
                f"({len(names)} such); config and weights must come from one model"
            )
    for name, tensor in own.items():
        if weights[name].shape != tensor.shape:
            raise ModelFolderError(
                f"{source} does not fit its config: {name} has the shape "
                f"{tuple(weights[name].shape)}, the config needs {tuple(tensor.shape)}; "
                "config and weights must come from one model"
            )
    for name, tensor in own.items():
        tensor.copy_(weights[name])


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


def _what_it_is(beginning: bytes, error: SafetensorError) -> str:
    """What a file is that safetensors cannot read, by its first bytes, and what to do."""
    if beginning.startswith(PICKLE_STARTS):
        return (
            "is a pickle under another name and is not loaded: it could run any code; "
            "convert it to safetensors where it came from"
        )
    if beginning.startswith(LFS_START):
        return "is a pointer of Git LFS, not the weights; fetch them with git lfs pull"
    return f"is damaged or cut short ({error}); copy it again from where the model came from"
