"""Words, as alignments count them: what white space separates."""

from collections.abc import Iterable, Sequence

from allyouneed.text.protocol import AnyTokenizer


class WordCounter:
    """Counts the words of a text that comes in pieces; a word may be cut by the pieces' ends."""

    def __init__(self) -> None:
        self.words = 0
        self.inside_word = False

    @property
    def next(self) -> int:
        """The number, from 0, of the word that a letter added now would belong to."""
        return self.words - self.inside_word

    def add(self, piece: str) -> None:
        """Goes on with the next piece."""
        if piece:
            goes_on = self.inside_word and not piece[0].isspace()
            self.words += len(piece.split()) - goes_on
            self.inside_word = not piece[-1].isspace()


def word_numbers(tokenizer: AnyTokenizer, ids: Sequence[int]) -> list[int]:
    """For each token the number of its word, words being what white space separates; -1 for white
    space itself and for tokens without text, such as the end."""
    return words_at(tokenizer.decode(ids), tokenizer.spans(ids))


def words_at(text: str, spans: Iterable[tuple[int, int]]) -> list[int]:
    """The same for places (begin, end) of a text."""
    return [
        len(text[:end].split()) - 1 if text[begin:end] and not text[end - 1].isspace() else -1
        for begin, end in spans
    ]
