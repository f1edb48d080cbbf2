"""Cuts texts into pieces by a `.spm` file of SentencePiece (Kudo & Richardson 2018).

The pieces are exactly those of the package `sentencepiece`, which is not needed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from allyouneed.text.byte_pairs import BytePairs
from allyouneed.text.character_map import CharacterMap
from allyouneed.text.sentencepiece_file import SPACE, Kind, read_contents
from allyouneed.text.unigram import Unigram

CUTTERS: dict[str, type[Unigram] | type[BytePairs]] = {"unigram": Unigram, "bpe": BytePairs}


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece: its spelling, and the span (begin, end) of the characters of the text it touches."""

    spelling: str
    span: tuple[int, int]


class SentencePieceModel:
    """Cuts texts into pieces as the package `sentencepiece` does with the same file."""

    def __init__(self, file: bytes) -> None:
        """`file` is the content of the `.spm` file.

        The attribute `pieces` has all pieces in the order of their ids, `kinds` the kind of each.

        Raises:
            ValueError: the file is damaged, or of a kind that is not supported. The message says
                which.
        """
        try:
            contents = read_contents(file)
            self._characters = CharacterMap(contents.characters)
            self._space_ahead = contents.space_ahead
            self._single_spaces = contents.single_spaces
            self._user_defined = sorted(
                (piece for piece, _, kind in contents.pieces if kind == Kind.USER_DEFINED),
                key=len,
                reverse=True,
            )
            self.byte_pieces = {
                piece: int(piece[3:5], 16)
                for piece, _, kind in contents.pieces
                if kind == Kind.BYTE and contents.byte_fallback
            }
        except (TypeError, AttributeError, IndexError, KeyError) as error:
            raise ValueError(f"not a .spm file ({error})") from error
        self.pieces = tuple(piece for piece, _, _ in contents.pieces)
        self.kinds = tuple(kind for _, _, kind in contents.pieces)
        self._pieces = CUTTERS[contents.model_type](contents.pieces)

    def cut(self, text: str) -> list[Piece]:
        """The pieces of a text.

        Characters that are in no piece are returned as pieces of their bytes, if the model has
        such pieces. Otherwise a run of these characters is returned as one piece.
        """
        normal, spans = self._normalised(text)
        pieces: list[Piece] = []
        unknown_before = False
        for begin, end in self._pieces.cut(normal):
            spelling, span = normal[begin:end], (spans[begin][0], spans[end - 1][1])
            unknown = not self._pieces.knows(spelling)
            if unknown and self.byte_pieces:
                pieces += [Piece(f"<0x{byte:02X}>", span) for byte in spelling.encode()]
            elif unknown and unknown_before:
                last = pieces[-1]
                pieces[-1] = Piece(last.spelling + spelling, (last.span[0], span[1]))
            else:
                pieces.append(Piece(spelling, span))
            unknown_before = unknown
        return pieces

    def _normalised(self, text: str) -> tuple[str, list[tuple[int, int]]]:
        """The text as the model's pieces spell it, and for each character of the result the span
        (begin, end) of the characters of `text` that it comes from."""
        characters: list[str] = []
        spans: list[tuple[int, int]] = []
        behind_space = self._single_spaces
        for written, begin, end in self._replacements(text):
            kept = written.lstrip(" ") if behind_space else written
            characters += kept
            spans += [(begin, end)] * len(kept)
            behind_space = self._single_spaces and (kept.endswith(" ") if kept else behind_space)
        while self._single_spaces and characters and characters[-1] in (" ", SPACE):
            characters.pop()
        if not text or (self._single_spaces and not characters):
            return "", []
        ahead = [SPACE] * self._space_ahead
        normal = "".join(ahead + characters).replace(" ", SPACE)
        return normal, [(0, 0)] * self._space_ahead + spans

    def _replacements(self, text: str) -> Iterator[tuple[str, int, int]]:
        """(replacement, begin, end) for each group of characters of the text."""
        place = 0
        while place < len(text):
            written, count = self._own(text, place) or self._characters.replaced(text, place)
            yield written, place, place + count
            place += count

    def _own(self, text: str, place: int) -> tuple[str, int] | None:
        """The user-defined symbol at text[place:] and its length; None if there is none."""
        for symbol in self._user_defined:
            if text.startswith(symbol, place):
                return symbol, len(symbol)
        return None
