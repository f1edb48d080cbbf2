"""Every piece touches the characters that its bytes are part of."""

from hypothesis import given
from hypothesis import strategies as st

from allyouneed.text.tokenizer import Tokenizer


@given(text=st.text(max_size=30))
def test_spans_are_those_of_the_tokenizer(text: str, small_tokenizer: Tokenizer) -> None:
    encoding = small_tokenizer.encode(text)
    assert small_tokenizer.spans(encoding.ids) == encoding.spans


@given(data=st.data())
def test_any_ids_have_spans(data: st.DataObject, small_tokenizer: Tokenizer) -> None:
    """Whatever a model writes: in order, nothing left out, each as long as what it spells."""
    id = st.integers(0, len(small_tokenizer) - 1)
    ids = data.draw(st.lists(id, max_size=12))
    text, found = small_tokenizer.decode(ids), small_tokenizer.spans(ids)
    begins = [begin for begin, _ in found]
    assert begins == sorted(begins)
    seen = [end for begin, end in found if end > begin]  # padding within a character covers none
    assert seen == sorted(seen)
    covered = {place for begin, end in found for place in range(begin, end)}
    assert covered == set(range(len(text)))
    for id_, (begin, end) in zip(ids, found, strict=True):
        piece = small_tokenizer.piece(id_)
        if piece.isascii() and not piece.startswith(("<", " ")):
            assert text[begin:end] == piece


def ids_of_bytes(tokenizer: Tokenizer, *spellings: bytes) -> list[int]:
    ids = {tokenizer.spelling(id): id for id in range(3, len(tokenizer))}
    return [ids[spelling] for spelling in spellings]


def test_pieces_of_one_character_share_it(small_tokenizer: Tokenizer) -> None:
    ids = ids_of_bytes(small_tokenizer, b"a", *(bytes([b]) for b in "€".encode()), b"b")
    assert small_tokenizer.spans(ids) == [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]


def test_bytes_that_are_no_character(small_tokenizer: Tokenizer) -> None:
    ids = ids_of_bytes(small_tokenizer, b"a", b"\xe2", b"\x82", b"b", b"\xff")
    assert small_tokenizer.decode(ids) == "a\ufffdb\ufffd"
    assert small_tokenizer.spans(ids) == [(0, 1), (1, 2), (1, 2), (2, 3), (3, 4)]
