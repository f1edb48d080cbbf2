"""Writes a graph of ONNX node by node. A separate file holds the weights, each once.

Needs the package `onnx`.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from allyouneed.errors import UsageError

OPSET = 17  # the first version with LayerNormalization
FORMAT = 8  # the file format of that time
PAGE = 4096  # bytes; weights begin at multiples of this, so that runtimes can map them into memory
Axes = Sequence[str | int]


def onnx() -> ModuleType:
    """The package.

    Raises:
        UsageError: it is not installed.
    """
    try:
        return import_module("onnx")
    except ImportError as error:
        raise UsageError(
            f"the package onnx is not installed here ({error}); "
            "install it with: pip install 'allyouneed[onnx]'"
        ) from error


class WeightsFile:
    """The file with the weights of several graphs. It holds a shared matrix once."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._file = path.open("wb")
        self._places: dict[tuple[int, tuple[int, ...]], tuple[int, int]] = {}
        self._kept: list[Tensor] = []  # kept alive, so that no other tensor gets their address

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._file.close()

    def place(self, weight: Tensor) -> tuple[int, int]:
        """The place of a weight in the file, (offset, length) in bytes. Writes the weight if it is
        new."""
        key = (weight.data_ptr(), weight.stride())
        if key not in self._places:
            self._file.write(bytes(-self._file.tell() % PAGE))
            offset = self._file.tell()
            self._file.write(weight.detach().contiguous().numpy().tobytes())
            self._places[key] = offset, self._file.tell() - offset
            self._kept.append(weight)
        return self._places[key]


class Graph:
    """A graph to which nodes are added. A node is identified by the name of its result."""

    def __init__(self, name: str, weights: WeightsFile) -> None:
        self._onnx, self._name, self._weights = onnx(), name, weights
        self._nodes: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._initialisers: dict[str, Any] = {}

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node of this kind. Returns the name of its result."""
        result = f"{kind}_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, [result], **attributes))
        return result

    def weight(self, weight: Tensor) -> str:
        """Adds a weight in float32, stored in the file of weights. Returns its name."""
        offset, length = self._weights.place(weight)
        name = f"weight_{offset}"
        tensor = self._onnx.TensorProto(
            name=name,
            data_type=self._onnx.TensorProto.FLOAT,
            dims=weight.shape,
            data_location=self._onnx.TensorProto.EXTERNAL,
        )
        for key, value in {
            "location": self._weights.name,
            "offset": offset,
            "length": length,
        }.items():
            tensor.external_data.add(key=key, value=str(value))
        self._initialisers[name] = tensor
        return name

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        """Adds a small constant, stored in the graph itself. Returns its name."""
        array: NDArray[Any] = np.asarray(value, dtype)
        name = f"{array.dtype}_{'_'.join(map(str, array.ravel().tolist()))}_{array.ndim}"
        self._initialisers[name] = self._onnx.numpy_helper.from_array(array, name)
        return name

    def numbers(self, *values: int) -> str:
        """Adds integers, such as a shape or axes. Returns their name."""
        return self.constant(values, np.int64)

    def input(self, name: str, kind: str, axes: Axes) -> str:
        """Adds an input of the graph. `kind` is "FLOAT", "INT64" or "BOOL". Axes with a name may
        have any length."""
        self._inputs.append(self._typed(name, kind, axes))
        return name

    def output(self, name: str, value: str, kind: str, axes: Axes) -> None:
        """Adds an output of the graph with this name."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name]))
        self._outputs.append(self._typed(name, kind, axes))

    def save(self, path: Path) -> None:
        """Writes the graph without its weights to a `.onnx` file in the folder of their file."""
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes,
            self._name,
            self._inputs,
            self._outputs,
            list(self._initialisers.values()),
        )
        model = helper.make_model(
            graph,
            producer_name="allyouneed",
            ir_version=FORMAT,
            opset_imports=[helper.make_opsetid("", OPSET)],
        )
        path.write_bytes(model.SerializeToString())

    def _typed(self, name: str, kind: str, axes: Axes) -> Any:
        element = getattr(self._onnx.TensorProto, kind)
        return self._onnx.helper.make_tensor_value_info(name, element, list(axes))
