"""The native kernels of training (engine/native/kernels) as ctypes see them."""

import ctypes
from ctypes import c_double, c_float, c_int32, c_int64, c_uint64, c_void_p
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from allyouneed.engine.native.build import KERNELS
from allyouneed.engine.native.library import Library, found

INTERFACE = 4  # ayt_interface()
_NORM = (c_int32, c_int64, c_int32, c_void_p, c_void_p, c_float, c_uint64, c_double)
_HEADS = (
    *(c_int32, c_int32, c_int32, c_int32, c_int32, *4 * [c_void_p], c_uint64, c_double),
    *(c_void_p, c_int64, c_void_p, c_void_p, c_int64, c_void_p, c_int64),
)
_LOSS = (c_int32, c_void_p, c_int64, c_int32, c_void_p)
_SIGNATURES = {
    "ayt_add_norm": (*_NORM, *6 * [c_void_p]),
    "ayt_add_norm_backward": (*_NORM, *8 * [c_void_p], c_int32),
    "ayt_attention": _HEADS,
    "ayt_attention_backward": (*_HEADS, c_void_p, c_int64, c_void_p, c_void_p, c_int64),
    "ayt_smoothed_loss": (*_LOSS, c_float, c_void_p),
    "ayt_r_drop_loss": (*_LOSS, c_float, c_float, c_void_p),
    "ayt_pack": (c_int32, c_void_p, c_int64, c_int64, c_int32, c_void_p),
    "ayt_multiply": (
        *(c_int32, c_int32, c_void_p, c_int64, c_int64, c_int32),
        *(c_void_p, c_int64, c_void_p, c_void_p, c_void_p),
    ),
}


@cache
def find_kernels() -> Library:
    """The kernels for this machine, compiled if need be (some seconds, once).

    Raises:
        NoLibrary: they are not there and cannot be compiled.
    """
    return found(KERNELS, open_kernels)


def is_bf16(numbers: Tensor) -> bool:
    """Which of the two kinds of numbers that the kernels know these are.

    Raises:
        TypeError: neither.
    """
    if numbers.dtype not in (torch.float32, torch.bfloat16):
        raise TypeError(f"the kernels compute in float32 or bfloat16, not in {numbers.dtype}")
    return numbers.dtype == torch.bfloat16


def address(numbers: Tensor | None, column: int = 0) -> int | None:
    """Where a tensor's numbers begin in memory, or those of one of its columns."""
    if numbers is None:
        return None
    return numbers.data_ptr() + column * numbers.element_size()


def open_kernels(path: Path) -> ctypes.CDLL:
    """A library of them, ready to be called.

    Raises:
        OSError: it is none, or of another version.
    """
    try:
        library = ctypes.CDLL(str(path))
        for name, arguments in _SIGNATURES.items():
            function = getattr(library, name)
            function.argtypes, function.restype = arguments, None
        interface = library.ayt_interface()
    except AttributeError as error:
        raise OSError(f"{path} is no library of kernels: {error}") from error
    if interface != INTERFACE:
        raise OSError(f"{path} has interface {interface}, not {INTERFACE}")
    return library
