"""Answers travel as JSON and binary float16, and come back as they were."""

import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allyouneed.widget.packing import ViewAnswer, compact, half, pack

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc</>\"'"), inner),
    max_leaves=8,
)


def unpack(packed: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    (length,) = struct.unpack_from("<I", packed)
    head = json.loads(packed[4 : 4 + length])
    arrays = {}
    for entry in head["arrays"]:
        begin = 4 + length + entry["offset"]
        raw = packed[begin : begin + entry["bytes"]]
        arrays[entry["name"]] = np.frombuffer(raw, "<f2").reshape(entry["shape"])
    return head["json"], arrays


@given(JSON)
def test_json_comes_back(value: Any) -> None:
    assert unpack(pack(ViewAnswer(value))) == (value, {})


def test_arrays_come_back_one_behind_the_other() -> None:
    arrays = {
        "weights": np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 16,
        "nothing": np.zeros((0, 5), np.float32),
        "turned": np.arange(6, dtype=np.float64).reshape(2, 3).T,
    }
    _, found = unpack(pack(ViewAnswer({}, arrays)))
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


def test_a_number_takes_two_bytes() -> None:
    answer = ViewAnswer({}, {"weights": np.zeros((8, 256, 256), np.float32)})
    assert len(pack(answer)) - 8 * 256 * 256 * 2 < 200


def test_what_is_too_large_becomes_infinite_without_a_warning() -> None:
    assert half(np.array([1e6, -1e6, 1.5])).tolist() == [float("inf"), float("-inf"), 1.5]


def test_equal_values_are_equal_texts() -> None:
    assert compact({"b": 1, "a": [2, "ü"]}) == '{"a":[2,"ü"],"b":1}'
    with pytest.raises(ValueError, match="JSON"):
        compact(float("nan"))
