"""The C interface of the training kernels: whatever numbers a call holds, nothing but an error code
comes back."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.engine.native import bindings
from allyouneed.errors import AllYouNeedError
from allyouneed.training.cpu import kernels as bound

ROWS, WIDTH, WORDS, HEADS = 24, 16, 37, 2
MEMORY = 1 << 16  # numbers behind every pointer, more than the numbers below can ask for
ERRORS = {bindings.OK, bindings.FAILED, bindings.MEMORY}

# Either small enough for the memory, or beyond every limit.
sizes = st.sampled_from([-(2**31), -7, -1, 0, 1, 2, 15, 16])
long_sizes = st.one_of(sizes, st.sampled_from([-(2**63), 2**62, 2**63 - 1]))
rates = st.floats(allow_nan=True, allow_infinity=True)
threads = st.sampled_from([-(2**31), -1, 0, 1, 3, 1025, 2**31 - 1])
labels = st.one_of(st.integers(0, WORDS - 1), st.sampled_from([-(2**63), -1, WORDS, 2**63 - 1]))
starts = st.one_of(st.integers(-2, ROWS), st.sampled_from([-(2**31), 2**31 - 1]))


@pytest.fixture(scope="module")
def functions() -> ctypes.CDLL:
    return bound.find_kernels().functions


class Call:
    """A call in order, whose pointers all have memory, and then some of its fields spoilt."""

    def __init__(self, draw: Any, structure: type[ctypes.Structure], **good: Any) -> None:
        self.memory = []
        numbers = [name for name, *_ in structure._fields_ if name not in good]
        self.call = structure(**{name: self.room(np.zeros(MEMORY)) for name in numbers})
        for name, number in good.items():
            pointed = self.room(number) if isinstance(number, np.ndarray) else number
            setattr(self.call, name, pointed)
        pointers = [name for name, kind in structure._fields_ if kind is ctypes.c_void_p]
        spoilt = {**dict.fromkeys(pointers, st.none()), **SPOILT}
        names = [name for name, *_ in structure._fields_ if name in spoilt]
        for name in draw(st.lists(st.sampled_from(names), max_size=2)):
            setattr(self.call, name, draw(spoilt[name]))

    def room(self, numbers: np.ndarray[Any, Any]) -> int:
        self.memory.append(numbers)
        return numbers.ctypes.data

    def check(self, function: Callable[..., int]) -> None:
        error = ctypes.create_string_buffer(bindings.ERROR_BYTES)
        status = function(ctypes.byref(self.call), error)
        assert status in ERRORS
        assert bool(error.value) == (status != bindings.OK)


SPOILT: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("width", "sentences", "heads", "vocabulary"), sizes),
    "positions": st.sampled_from([-1, 0, 3, ROWS]),
    **dict.fromkeys(("rows", "columns"), long_sizes),
    **dict.fromkeys(("q_stride", "kv_stride", "out_stride"), long_sizes),
    **dict.fromkeys(("grad_q_stride", "grad_kv_stride"), long_sizes),
    "rate": rates,
    "threads": threads,
    "unit": threads,
}


@settings(max_examples=200, deadline=None)
@given(data=st.data(), bf16=st.booleans())
def test_hostile_norms(data: st.DataObject, bf16: bool, functions: ctypes.CDLL) -> None:
    shape = {"bf16": bf16, "rows": ROWS, "width": WIDTH, "threads": 2}
    call = Call(data.draw, bound.AddNormCall, **shape, seed=1, rate=0.1, epsilon=1e-5)
    call.check(functions.ayt_add_norm)
    call.check(functions.ayt_add_norm_backward)


@settings(max_examples=300, deadline=None)
@given(data=st.data(), bf16=st.booleans(), causal=st.booleans())
def test_hostile_attention(
    data: st.DataObject, bf16: bool, causal: bool, functions: ctypes.CDLL
) -> None:
    def drawn() -> Any:
        cuts = data.draw(st.lists(st.integers(0, ROWS), min_size=17, max_size=17).map(sorted))
        if data.draw(st.booleans()):
            cuts[data.draw(st.integers(0, 16))] = data.draw(starts)
        return np.array(cuts, np.int32)

    shape = {"bf16": bf16, "causal": causal, "sentences": 3, "heads": HEADS, "width": 8}
    strides = dict.fromkeys(("q_stride", "kv_stride", "out_stride"), 2 * WIDTH)
    strides |= dict.fromkeys(("grad_q_stride", "grad_kv_stride"), 2 * WIDTH)
    cut = {"query_starts": drawn(), "key_starts": drawn()}
    rest = {"positions": ROWS, "seed": 1, "rate": 0.1}
    call = Call(data.draw, bound.AttentionCall, **shape, **strides, **cut, **rest)
    call.check(functions.ayt_attention)
    call.check(functions.ayt_attention_backward)


@settings(max_examples=200, deadline=None)
@given(data=st.data(), bf16=st.booleans())
def test_hostile_losses(data: st.DataObject, bf16: bool, functions: ctypes.CDLL) -> None:
    given_labels = np.array(data.draw(st.lists(labels, min_size=ROWS, max_size=ROWS)))
    shape = {"bf16": bf16, "rows": ROWS, "vocabulary": WORDS, "labels": given_labels}
    call = Call(data.draw, bound.LossCall, **shape, smoothing=0.1, alpha=5.0)
    call.check(functions.ayt_smoothed_loss)
    call.check(functions.ayt_r_drop_loss)


@settings(max_examples=200, deadline=None)
@given(data=st.data(), bf16=st.booleans(), turned=st.booleans())
def test_hostile_products(
    data: st.DataObject, bf16: bool, turned: bool, functions: ctypes.CDLL
) -> None:
    unit = functions.ayt_best_unit()
    shape = {"unit": unit, "rows": ROWS, "columns": WIDTH, "width": WORDS}
    call = Call(data.draw, bound.ProductCall, **shape, bf16=bf16, turned=turned)
    call.check(functions.ayt_pack)
    call.check(functions.ayt_multiply)


def test_no_call_at_all(functions: ctypes.CDLL) -> None:
    error = ctypes.create_string_buffer(bindings.ERROR_BYTES)
    for name in bound._TAKEN:
        assert getattr(functions, name)(None, error) == bindings.FAILED
        assert getattr(functions, name)(None, None) == bindings.FAILED
    assert error.value == b"there is no call"


def test_a_refused_call_says_why(functions: ctypes.CDLL) -> None:
    call = bound.AddNormCall(width=-3)
    with pytest.raises(AllYouNeedError, match="ayt_add_norm rejects its call: the width is not"):
        bound.run(functions, "ayt_add_norm", call)
