"""The C interface of the native kernels of training (engine/native/kernels) in ctypes."""

import ctypes
from ctypes import (
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_double,
    c_float,
    c_int32,
    c_int64,
    c_uint64,
    c_void_p,
    create_string_buffer,
)
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from allyouneed.engine.native.bindings import ERROR_BYTES, MEMORY, OK
from allyouneed.engine.native.build import KERNELS
from allyouneed.engine.native.library import Library, found
from allyouneed.errors import AllYouNeedError

Fields = list[tuple[str, Any]]


class AddNormCall(Structure):
    """ayt_add_norm_call."""

    _fields_: ClassVar[Fields] = [
        ("bf16", c_int32),
        ("width", c_int32),
        ("rows", c_int64),
        ("gain", c_void_p),
        ("shift", c_void_p),
        ("epsilon", c_float),
        ("seed", c_uint64),
        ("rate", c_double),
        ("x", c_void_p),
        ("y", c_void_p),
        ("sum", c_void_p),
        ("wide", c_void_p),
        ("narrowed", c_void_p),
        ("moments", c_void_p),
        ("grad_sum", c_void_p),
        ("grad_wide", c_void_p),
        ("grad_narrowed", c_void_p),
        ("grad_x", c_void_p),
        ("grad_y", c_void_p),
        ("partial", c_void_p),
        ("threads", c_int32),
    ]


class AttentionCall(Structure):
    """ayt_attention_call."""

    _fields_: ClassVar[Fields] = [
        ("bf16", c_int32),
        ("sentences", c_int32),
        ("heads", c_int32),
        ("width", c_int32),
        ("causal", c_int32),
        ("query_starts", c_void_p),
        ("key_starts", c_void_p),
        ("cosines", c_void_p),
        ("sines", c_void_p),
        ("positions", c_int32),
        ("seed", c_uint64),
        ("rate", c_double),
        ("q", c_void_p),
        ("q_stride", c_int64),
        ("k", c_void_p),
        ("v", c_void_p),
        ("kv_stride", c_int64),
        ("out", c_void_p),
        ("out_stride", c_int64),
        ("grad_q", c_void_p),
        ("grad_q_stride", c_int64),
        ("grad_k", c_void_p),
        ("grad_v", c_void_p),
        ("grad_kv_stride", c_int64),
    ]


class LossCall(Structure):
    """ayt_loss_call."""

    _fields_: ClassVar[Fields] = [
        ("bf16", c_int32),
        ("vocabulary", c_int32),
        ("rows", c_int64),
        ("logits", c_void_p),
        ("labels", c_void_p),
        ("smoothing", c_float),
        ("alpha", c_float),
        ("losses", c_void_p),
    ]


class ProductCall(Structure):
    """ayt_product_call."""

    _fields_: ClassVar[Fields] = [
        ("unit", c_int32),
        ("bf16", c_int32),
        ("matrix", c_void_p),
        ("rows", c_int64),
        ("columns", c_int64),
        ("turned", c_int32),
        ("blocks", c_void_p),
        ("width", c_int64),
        ("bias", c_void_p),
        ("sums", c_void_p),
        ("out", c_void_p),
    ]


STRUCTURES: dict[str, type[Structure]] = {
    "ayt_add_norm_call": AddNormCall,
    "ayt_attention_call": AttentionCall,
    "ayt_loss_call": LossCall,
    "ayt_product_call": ProductCall,
}
_TAKEN: dict[str, type[Structure]] = {
    "ayt_add_norm": AddNormCall,
    "ayt_add_norm_backward": AddNormCall,
    "ayt_attention": AttentionCall,
    "ayt_attention_backward": AttentionCall,
    "ayt_smoothed_loss": LossCall,
    "ayt_r_drop_loss": LossCall,
    "ayt_pack": ProductCall,
    "ayt_multiply": ProductCall,
}


@cache
def find_kernels() -> Library:
    """The kernels for this machine. The first call on a machine may compile them, which takes some
    seconds.

    Raises:
        NoLibrary: there is no library and it cannot be compiled.
        UsageError: $ALLYOUNEED_CPU names no variant that this processor can run.
    """
    return found(KERNELS, open_kernels)


def is_bf16(numbers: Tensor) -> bool:
    """Whether the tensor is bfloat16 (otherwise it is float32).

    Raises:
        TypeError: it is neither.
    """
    if numbers.dtype not in (torch.float32, torch.bfloat16):
        raise TypeError(f"the kernels compute in float32 or bfloat16, not in {numbers.dtype}")
    return numbers.dtype == torch.bfloat16


def address(numbers: Tensor | None, column: int = 0) -> int | None:
    """The address of a tensor's numbers from a column on; None for None."""
    if numbers is None:
        return None
    return numbers.data_ptr() + column * numbers.element_size()


def run(kernels: ctypes.CDLL, name: str, call: Structure) -> None:
    """Calls the kernel of this name.

    Raises:
        MemoryError: there is not enough memory for it.
        AllYouNeedError: the kernel rejects the call.
    """
    error = create_string_buffer(ERROR_BYTES)
    status = getattr(kernels, name)(byref(call), error)
    if status == MEMORY:
        raise MemoryError(f"not enough memory for the kernel {name}; use smaller batches")
    if status != OK:
        raise AllYouNeedError(f"the kernel {name} rejects its call: {error.value.decode()}")


def open_kernels(path: Path) -> ctypes.CDLL:
    """The compiled library with typed functions.

    Raises:
        OSError: the file is no library of kernels, or has another interface.
    """
    try:
        library = ctypes.CDLL(str(path))
        for name, structure in _TAKEN.items():
            function = getattr(library, name)
            function.argtypes = [POINTER(structure), c_char_p]
            function.restype = c_int32
        for name in ("ayt_interface", "ayt_layout"):
            getattr(library, name).restype = c_char_p
        interface = library.ayt_interface().decode()
    except AttributeError as error:
        raise OSError(f"{path} is no library of kernels: {error}") from error
    if interface != KERNELS.interface():
        raise OSError(f"{path} has interface {interface}, not {KERNELS.interface()}")
    return library
