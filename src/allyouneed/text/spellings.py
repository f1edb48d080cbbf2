"""The bytes of a vocabulary's pieces, and how they are shown to a reader."""

import re
from collections.abc import Sequence

from allyouneed.text.tokenizer_file import spell


class Spellings(dict[int, bytes]):
    """Maps an id to the bytes of its piece, which are computed when the id is first looked up.

    Raises:
        KeyError: an id outside the vocabulary.
    """

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = pieces

    def __missing__(self, id: int) -> bytes:
        if not 0 <= id < len(self._pieces):
            raise KeyError(id)
        self[id] = spell(self._pieces[id])
        return self[id]


def readable(spelling: bytes) -> str:
    """A piece as text. A byte of an incomplete character is written as `<0xF0>`."""
    try:
        return spelling.decode()
    except UnicodeDecodeError:
        half_read = spelling.decode(errors="surrogateescape")  # byte b becomes U+DC00 + b
    return re.sub("[\udc80-\udcff]", lambda byte: f"<0x{ord(byte[0]) - 0xDC00:02X}>", half_read)
