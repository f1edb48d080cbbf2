"""Every token touches the characters that its bytes are part of."""

import pytest

from allyouneed.insight.tokens import tokens_of
from allyouneed.text.tokenizer import Tokenizer


def ids_of_bytes(tokenizer: Tokenizer, *spellings: bytes) -> list[int]:
    ids = {tokenizer.spelling(id): id for id in range(3, len(tokenizer))}
    return [ids[spelling] for spelling in spellings]


@pytest.mark.parametrize("offset", [0, 3])
def test_white_space_around_is_no_part_of_the_text(offset: int, small_tokenizer: Tokenizer) -> None:
    ids = [*ids_of_bytes(small_tokenizer, b" ", b" ", b"a", b" ", b"b", b" "), 2]
    tokens = tokens_of(small_tokenizer, ids, offset)
    moved = [(begin - offset, end - offset) for begin, end in (token.span for token in tokens)]
    assert moved == [(0, 0), (0, 0), (0, 1), (1, 2), (2, 3), (3, 3), (3, 3)]
    assert [token.word for token in tokens] == [-1, -1, 0, -1, 1, -1, -1]
    assert tokens[-1].text == "</s>"
