"""Byte-pair codes of subword-nmt (Sennrich et al. 2016) and fastBPE: a list of the pairs of symbols
to merge, the most important first."""

import itertools

from allyouneed.errors import DataError

END_OF_WORD = "</w>"
REMEMBERED = 1 << 16  # words whose pieces are cached


class BytePairCodes:
    """Cuts words into pieces by a file of codes.

    Each line of the file is a pair of symbols, in the order in which the pairs were learnt. In
    version 0.2 `</w>` is appended to a word's last character. In version 0.1, which has no version
    line, `</w>` is a symbol of its own. fastBPE writes a count after each pair and appends `</w>`
    as version 0.2 does.
    """

    def __init__(self, text: str, origin: str = "the codes") -> None:
        """`text` is the content of the file; errors name the file `origin`.

        Raises:
            DataError: no codes, an unknown version, or a line that is not a pair.
        """
        version, lines = _versioned(text, origin)
        self._ranks: dict[tuple[str, str], int] = {}
        counted = 0
        for number, line in lines:
            parts = line.split(" ")
            if len(parts) not in (2, 3) or (len(parts) == 3 and not parts[2].isdecimal()):
                raise DataError(
                    f"{origin}:{number}: {line[:60]!r} is not a pair of symbols; give the file "
                    "that subword-nmt or fastBPE wrote"
                )
            counted += len(parts) == 3
            self._ranks.setdefault((parts[0], parts[1]), number)
        self._mark_apart = version == "0.1" and not counted
        self._known: dict[str, tuple[str, ...]] = {}

    def split(self, word: str) -> tuple[str, ...]:
        """The pieces of one word. Joined, they are the word."""
        if word not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[word] = self._split(word)
        return self._known[word]

    def _split(self, word: str) -> tuple[str, ...]:
        if len(word) < 2:
            return (word,) if word else ()
        symbols = list(word)
        if self._mark_apart:
            symbols.append(END_OF_WORD)
        else:
            symbols[-1] += END_OF_WORD
        while len(symbols) > 1:
            pairs = set(itertools.pairwise(symbols)) & self._ranks.keys()
            if not pairs:
                break
            symbols = _merged(symbols, min(pairs, key=self._ranks.__getitem__))
        symbols[-1] = symbols[-1].removesuffix(END_OF_WORD)
        return tuple(symbols) if symbols[-1] else tuple(symbols[:-1])


def _versioned(text: str, origin: str) -> tuple[str, list[tuple[int, str]]]:
    """The version, and the lines of pairs with their line numbers."""
    lines = [(n, line.strip("\r ")) for n, line in enumerate(text.split("\n"), 1)]
    version = "0.1"
    if lines[0][1].startswith("#version:"):
        version = lines.pop(0)[1].removeprefix("#version:").strip()
        if version not in ("0.1", "0.2"):
            raise DataError(
                f"{origin}:1: version {version} of codes is not supported, only 0.1 and 0.2"
            )
    while lines and not lines[-1][1]:
        lines.pop()
    if not lines:
        raise DataError(f"{origin} holds no codes; give the file that subword-nmt or fastBPE wrote")
    return version, lines


def _merged(symbols: list[str], pair: tuple[str, str]) -> list[str]:
    """The symbols, with each occurrence of the pair merged into one symbol, from the left."""
    merged: list[str] = []
    at = 0
    while at < len(symbols):
        here = tuple(symbols[at : at + 2]) == pair
        merged.append("".join(pair) if here else symbols[at])
        at += 1 + here
    return merged
