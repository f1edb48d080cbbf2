"""Fields of a protocol buffer, as the format's own description has them."""

import struct

import pytest

from allyouneed.text.protobuf import fields


def test_the_four_kinds_of_values() -> None:
    message = (
        b"\x08\x96\x01" + b"\x12\x03abc" + b"\x1d" + struct.pack("<f", -2.5) + b"\x21" + b"8" * 8
    )
    assert list(fields(message)) == [(1, 150), (2, b"abc"), (3, -2.5), (4, b"8" * 8)]


def test_numbers_of_fields_beyond_one_byte() -> None:
    assert list(fields(b"\x98\x02\x01")) == [(35, 1)]  # 35 << 3 takes two groups of seven bits
    assert list(fields(b"")) == []


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (b"\x08", "a number has no end at byte 1"),
        (b"\x08" + b"\x80" * 11 + b"\x01", "a number has no end"),
        (b"\x12\x05abc", "a field ends at byte 7 of 5"),
        (b"\x1d\x00\x00", "a field ends at byte 5 of 3"),
        (b"\x0b", "a field of the kind 3 at byte 1"),
    ],
)
def test_bytes_that_are_no_message(message: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        list(fields(message))
