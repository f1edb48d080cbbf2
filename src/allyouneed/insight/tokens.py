"""Tokens with their places in the text, and the most probable alternatives to them.

T positions · V vocabulary · X the most probable tokens
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from allyouneed.text.normaliser import Plain
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.translation.words import words_at

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Token:
    """One token. `text` is its piece, made readable. `span` are the characters (begin, end) of the
    text that it touches; the span of the end token is empty. `word` is the number of its word, or
    -1."""

    id: int
    text: str
    span: Span
    word: int


@dataclass(frozen=True, slots=True)
class LikelyToken:
    """A token that could stand at a position, and its log-probability."""

    id: int
    text: str
    log_probability: float

    @property
    def probability(self) -> float:
        """The probability of the token, from 0 to 1."""
        return math.exp(self.log_probability)


def tokens_of(tokenizer: AnyTokenizer, ids: Sequence[int], offset: int = 0) -> tuple[Token, ...]:
    """The tokens of these ids. Spans count from `offset` in the text without white space around."""
    text, spans = tokenizer.decode(ids), tokenizer.spans(ids)
    blank, length = len(text) - len(text.lstrip()), len(text.strip())
    inside = [
        (min(max(begin - blank, 0), length), min(max(end - blank, 0), length))
        for begin, end in spans
    ]
    return _tokens(tokenizer, ids, inside, words_at(text, spans), offset)


def tokens_of_text(
    tokenizer: AnyTokenizer, text: str, plain: Plain | None = None, offset: int = 0
) -> tuple[Token, ...]:
    """The tokens of a text that begins at `offset`. Spans are places in the text as it was typed,
    also where the model reads it as `plain` and where a piece is unknown."""
    plain = plain or Plain(text)
    encoding = tokenizer.encode(plain.text)
    spans = [plain.typed(begin, end) for begin, end in encoding.spans]
    return _tokens(tokenizer, encoding.ids, spans, words_at(text, spans), offset)


def _tokens(
    tokenizer: AnyTokenizer,
    ids: Sequence[int],
    spans: Sequence[Span],
    words: Sequence[int],
    offset: int,
) -> tuple[Token, ...]:
    return tuple(
        Token(id, tokenizer.piece(id), (begin + offset, end + offset), word)
        for id, (begin, end), word in zip(ids, spans, words, strict=True)
    )


def best_tokens(
    tokenizer: AnyTokenizer, log_p_TV: Tensor, count: int
) -> list[tuple[LikelyToken, ...]]:
    """The `count` most probable tokens of each position, the most probable first."""
    log_p_TX, ids_TX = log_p_TV.topk(min(count, log_p_TV.size(-1)))
    return [
        tuple(LikelyToken(id, tokenizer.piece(id), log_p) for id, log_p in zip(*pair, strict=True))
        for pair in zip(ids_TX.tolist(), log_p_TX.tolist(), strict=True)
    ]
