"""Unigram models (Kudo 2018): a text is cut so that the sum of its pieces' scores is highest.

The search adds in float32 and so gives the same pieces as the package `sentencepiece`. The library
`tokenizers` adds in float64 and resolves some ties differently.
"""

from collections.abc import Sequence
from ctypes import c_float

from allyouneed.text.sentencepiece_file import Kind

UNKNOWN_PENALTY = 10.0  # below the least probable piece


class Unigram:
    """Cuts texts into the pieces with the highest sum of log-probabilities."""

    def __init__(self, pieces: Sequence[tuple[str, float, Kind]]) -> None:
        self._scores = _scores(pieces)
        self._longest: dict[str, int] = {}  # a character → length of the longest piece it begins
        for piece in self._scores:
            self._longest[piece[0]] = max(self._longest.get(piece[0], 0), len(piece))
        least = min((score for _, score, kind in pieces if kind == Kind.NORMAL), default=0)
        self._unknown_score = c_float(least - UNKNOWN_PENALTY).value

    def knows(self, spelling: str) -> bool:
        """Whether a cut text can contain this piece."""
        return spelling in self._scores

    def cut(self, normal: str) -> list[tuple[int, int]]:
        """The spans (begin, end) of the pieces with the highest sum of scores (Viterbi 1967).

        A character that is in no piece is its own span.
        """
        best = [0.0] + [-1.0] * len(normal)  # rounded to float32, as in `sentencepiece`
        begins = [0] + [-1] * len(normal)
        scores = self._scores
        for begin, first in enumerate(normal):
            so_far = best[begin]
            last = min(begin + self._longest.get(first, 0), len(normal))
            for end in range(begin + 1, last + 1):
                score = scores.get(normal[begin:end])
                if score is None:
                    continue
                candidate = c_float(score + so_far).value
                if begins[end] < 0 or candidate > best[end]:
                    best[end], begins[end] = candidate, begin
            if first not in scores:
                score = c_float(self._unknown_score + so_far).value
                if begins[begin + 1] < 0 or score > best[begin + 1]:
                    best[begin + 1], begins[begin + 1] = score, begin
        found: list[tuple[int, int]] = []
        end = len(normal)
        while end:
            found.append((begins[end], end))
            end = begins[end]
        return found[::-1]


def _scores(pieces: Sequence[tuple[str, float, Kind]]) -> dict[str, float]:
    """The log-probabilities of the pieces that a cut text can contain."""
    best = max((score for _, score, kind in pieces if kind == Kind.NORMAL), default=0.0)
    scores: dict[str, float] = {}
    for piece, score, kind in pieces:
        if kind == Kind.NORMAL:
            scores[piece] = score
        elif kind == Kind.USER_DEFINED:  # a score so high that the piece is never cut
            scores[piece] = c_float(len(piece.encode()) * best).value - 0.1
    return scores
