"""Atoms: the words and signs of a text, whether or not white space separates them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""The characters of scripts without spaces, as a set in a regular expression has them."""
_ATOM = rf"[{UNSPACED}]|(?:(?![{UNSPACED}])\w)+|[^\w\s]"  # compiled when it is needed


@dataclass(frozen=True, slots=True)
class Atom:
    """A run of letters and digits, or one other sign; of a script that is written without spaces,
    one character. It lies at the characters `begin` to `end` of its text."""

    begin: int
    end: int
    text: str

    @property
    def is_word(self) -> bool:
        """Whether it has letters or digits."""
        return self.text[0].isalnum() or self.text[0] == "_"


def is_unspaced(sign: str) -> bool:
    """Whether a character is of a script that is written without spaces."""
    return has_unspaced(sign[:1])


def has_unspaced(text: str) -> bool:
    """Whether a text has characters of a script that is written without spaces."""
    return not text.isascii() and re.search(f"[{UNSPACED}]", text) is not None


def atoms(text: str, cuts: Iterable[int] = ()) -> list[Atom]:
    """The atoms of a text, in order; white space is between them. None goes across one of the
    places `cuts`."""
    atom = re.compile(_ATOM)
    edges = sorted({0, *cuts, len(text)})
    return [
        Atom(*match.span(), match[0])
        for begin, end in pairwise(edges)
        for match in atom.finditer(text, begin, end)
    ]
