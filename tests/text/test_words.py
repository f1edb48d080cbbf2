from hypothesis import given
from hypothesis import strategies as st

from allyouneed.text.tokenizer import Tokenizer
from allyouneed.text.words import first_pieces, words


def test_words_are_what_white_space_separates() -> None:
    text = " Wo  ist,\tder\nBahnhof?"
    assert [text[begin:end] for begin, end in words(text)] == ["Wo", "ist,", "der", "Bahnhof?"]
    assert words(" ") == []


@given(st.text(max_size=40))
def test_the_first_piece_of_a_word_holds_its_first_letter(text: str) -> None:
    tokenizer = Tokenizer.train(["a b c ab, bc."] * 3, vocabulary=270)
    encoding = tokenizer.encode(text)
    numbers = first_pieces(text, encoding.spans)
    assert len(numbers) == len(words(text))
    assert numbers == sorted(numbers)
    for (begin, _), number in zip(words(text), numbers, strict=True):
        assert encoding.spans[number][0] <= begin < encoding.spans[number][1]


def test_a_word_that_was_left_out_gets_the_next_piece() -> None:
    assert first_pieces("a � b", [(0, 1), (4, 5), (5, 5)]) == [0, 1, 1]
    assert first_pieces("a �", [(0, 1), (3, 3)]) == [0, 1]
