import pytest
from hypothesis import given
from hypothesis import strategies as st

from allyouneed.errors import UsageError
from allyouneed.text.tokenizer import Tokenizer


def grown(tokenizer: Tokenizer, ids: list[int]) -> list[str]:
    text = tokenizer.growing()
    return [*(text.add(id) for id in ids), text.end()]


@given(text=st.text())
def test_pieces_joined_are_the_text(text: str, small_tokenizer: Tokenizer) -> None:
    ids = small_tokenizer.encode(text).ids
    assert "".join(grown(small_tokenizer, ids)) == small_tokenizer.decode(ids).strip()


@given(ids=st.lists(st.integers(0, 299)))
def test_whatever_a_model_writes(ids: list[int], small_tokenizer: Tokenizer) -> None:
    assert "".join(grown(small_tokenizer, ids)) == small_tokenizer.decode(ids).strip()


@pytest.mark.parametrize("text", ["😀", "für", "👩‍👩‍👧 e\u0301"])
def test_a_character_is_never_broken(text: str, small_tokenizer: Tokenizer) -> None:
    ids = small_tokenizer.encode(text).ids
    assert len(ids) > len(text), "each character takes several tokens here"
    for piece in grown(small_tokenizer, ids):
        assert "\ufffd" not in piece


def test_text_comes_as_soon_as_it_can(small_tokenizer: Tokenizer) -> None:
    ids = small_tokenizer.encode("a b").ids
    pieces = grown(small_tokenizer, ids)
    assert pieces[-2:] == ["", ""], "the end token and the end have nothing to add"
    assert [piece for piece in pieces if piece] == ["a", " b"]


def test_what_never_becomes_whole_is_replaced_at_the_end(small_tokenizer: Tokenizer) -> None:
    ids = small_tokenizer.encode("a😀").ids[:-2]  # without the end and the last byte
    assert grown(small_tokenizer, ids)[-1] == "\ufffd"


def test_an_id_that_there_is_not(small_tokenizer: Tokenizer) -> None:
    with pytest.raises(UsageError, match="id 300 is outside"):
        small_tokenizer.growing().add(300)
