"""Converts Marian's weights to ours.

V vocabulary · D d_model · P positions
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from allyouneed.core.config import TransformerConfig
from allyouneed.errors import ConfigError
from allyouneed.interop.marian.names import is_transposed
from allyouneed.model_folder.weights.shapes import weight_shapes

Arrays = Mapping[str, NDArray[np.float32]]
WPOS = "Wpos"  # the table of trained positions
NEVER = -1e4  # a logit that no search chooses, and that is finite in every dtype
MOST_NAMED = 8


def our_weights(
    theirs: Arrays, config: TransformerConfig, names: Mapping[str, str], excluded: int | None
) -> dict[str, NDArray[np.float32]]:
    """All weights of a model of this shape, by our names.

    Our vocabulary has more rows than Marian's; the additional rows are zeros, and their logits are
    `NEVER`. The first of them is both pad and start, because Marian's decoder begins with a vector
    of zeros. `excluded` is another id that is never produced.

    Raises:
        ConfigError: weights are missing, have no place here, or have another shape.
    """
    shapes = weight_shapes(config)
    complaints = _misfits(theirs, config, names)
    if complaints:
        more = len(complaints) - MOST_NAMED
        rest = [f"and {more} more"] if more > 0 else []
        raise ConfigError("; ".join(complaints[:MOST_NAMED] + rest))
    found: dict[str, NDArray[np.float32]] = {}
    for name, shape in shapes.items():
        if name not in names:
            found[name] = sinusoids(*shape) if WPOS not in theirs else theirs[WPOS]
        else:
            array = _laid_out(name, theirs[names[name]])
            filling = [(0, size - there) for size, there in zip(shape, array.shape, strict=True)]
            never = NEVER if name == "output.bias" else 0.0
            found[name] = np.ascontiguousarray(np.pad(array, filling, constant_values=never))
    if excluded is not None:
        found["output.bias"][excluded] = NEVER
    return found


def sinusoids(positions: int, d_model: int) -> NDArray[np.float32]:
    """Marian's positions PD: all sines, then all cosines, of p · 10000^(-i / (D/2 - 1))."""
    half = d_model // 2
    speed = 10000.0 ** (-np.arange(half) / (half - 1))
    angles = np.arange(positions)[:, None] * speed
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


def _misfits(theirs: Arrays, config: TransformerConfig, names: Mapping[str, str]) -> list[str]:
    known = {*names.values(), *(name for name in (WPOS,) if not config.scale_embeddings)}
    found = [f"{name} has no place here" for name in sorted(theirs.keys() - known)]
    found += [f"{name} is missing" for name in sorted(known - theirs.keys())]
    for name, shape in weight_shapes(config).items():
        array = theirs.get(names.get(name, ""))
        if array is None:
            continue
        given = _laid_out(name, array).shape
        vocabulary = name.endswith("tokens.weight") or name.startswith("output.")
        fits = given[1:] == shape[1:] and (given[:1] <= shape[:1] if vocabulary else given == shape)
        if not (fits and len(given) == len(shape)):
            found.append(f"{names[name]} has the shape {array.shape} (expected: {shape} as {name})")
    return found


def _laid_out(name: str, array: NDArray[np.float32]) -> NDArray[np.float32]:
    """The array in our layout: vectors without the axis of length 1, linear maps with their outputs
    first."""
    if is_transposed(name):
        return array.T
    vector = array.ndim == 2 and array.shape[0] == 1 and not name.endswith("tokens.weight")
    return array[0] if vector else array
