"""Reads the wire format of protocol buffers, as far as a `.spm` file needs it.

A message is a sequence of fields, each with a number and a value of one of four kinds.
"""

import struct
from collections.abc import Iterator


def fields(message: bytes) -> Iterator[tuple[int, int | bytes | float]]:
    """(field number, value) of each field, in order. A value is an unsigned integer, bytes, or a
    four-byte float. An eight-byte value is given as bytes.

    Raises:
        ValueError: the message is damaged.
    """
    place, end = 0, len(message)
    while place < end:
        tag, place = _varint(message, place)
        value: int | bytes | float
        match tag & 7:
            case 0:
                value, place = _varint(message, place)
            case 1:
                value, place = message[place : place + 8], place + 8
            case 2:
                length, place = _varint(message, place)
                value, place = message[place : place + length], place + length
            case 5:
                value, place = message[place : place + 4], place + 4
                if place <= end:
                    [value] = struct.unpack("<f", value)
            case kind:
                raise ValueError(f"a field of the kind {kind} at byte {place}")
        if place > end:
            raise ValueError(f"cut short: a field ends at byte {place} of {end}")
        yield tag >> 3, value


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """The unsigned number at `place` (groups of 7 bits, lowest first), and the place after it."""
    number = shift = 0
    while True:
        if place >= len(message) or shift > 63:
            raise ValueError(f"cut short: a number has no end at byte {place}")
        byte = message[place]
        number |= (byte & 0x7F) << shift
        place += 1
        if byte < 0x80:
            return number, place
        shift += 7
