"""Replaced tokens: the new text, and which token of the old one each of its tokens stands for."""

import pytest

from allyouneed.errors import UsageError
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.widget.disturbance import Source, source_of
from allyouneed.widget.questions import ViewState

TEXT = "A man rides a bike."


def replaced(tokenizer: Tokenizer, text: str, tokens: dict[int, str]) -> Source:
    return source_of(ViewState(text=text, replaced=tokens), tokenizer)


def number(tokenizer: Tokenizer, text: str, word: str) -> int:
    """The number of the first token that touches the word."""
    begin = text.index(word)
    spans = tokenizer.encode(text).spans
    return next(n for n, (first, last) in enumerate(spans) if first <= begin < last)


def test_without_replacements_it_is_the_text(small_tokenizer: Tokenizer) -> None:
    source = replaced(small_tokenizer, TEXT, {})
    assert source.text == TEXT
    spans = small_tokenizer.encode(TEXT).spans
    assert source.indices(spans) == list(range(len(spans)))


@pytest.mark.parametrize("text", [TEXT, f"  {TEXT} ", "\n" + TEXT])
def test_a_token_is_replaced_and_keeps_its_space(small_tokenizer: Tokenizer, text: str) -> None:
    bare = text.strip()
    man = number(small_tokenizer, bare, "man")
    first, last = small_tokenizer.encode(bare).spans[man]
    new = replaced(small_tokenizer, text, {man: "big old dog"})
    blank = len(text) - len(text.lstrip())
    space = " " if bare[first] == " " else ""
    assert new.text == text[: first + blank] + space + "big old dog" + text[last + blank :]


def test_an_empty_text_takes_the_token_away(small_tokenizer: Tokenizer) -> None:
    last = len(small_tokenizer.encode(TEXT).ids) - 2
    assert replaced(small_tokenizer, TEXT, {last: ""}).text == TEXT[:-1]


def test_tokens_know_where_they_stood(small_tokenizer: Tokenizer) -> None:
    man, bike = (number(small_tokenizer, TEXT, word) for word in ("man", "bike"))
    source = replaced(small_tokenizer, TEXT, {man: "gentleman", bike: ""})
    spans = small_tokenizer.encode(source.text).spans
    indices = source.indices(spans)
    assert indices == sorted(indices)
    assert indices[0] == 0
    begin = source.text.index("gentleman")
    inside = [
        i for i, (first, last) in zip(indices, spans, strict=True) if begin < last <= begin + 9
    ]
    assert {*inside} == {man}
    assert bike not in indices
    rides, end = (number(small_tokenizer, source.text, word) for word in ("rides", "."))
    assert indices[rides] == number(small_tokenizer, TEXT, "rides")
    assert indices[end] == number(small_tokenizer, TEXT, ".")
    assert indices[-1] == len(small_tokenizer.encode(TEXT).ids) - 1  # the end


def test_pieces_of_one_character_keep_their_places(small_tokenizer: Tokenizer) -> None:
    text = "A 🙂 man."
    spans = small_tokenizer.encode(text).spans
    assert len({*spans}) < len(spans)
    assert replaced(small_tokenizer, text, {}).indices(spans) == list(range(len(spans)))


def test_a_token_that_is_not_there(small_tokenizer: Tokenizer) -> None:
    tokens = len(small_tokenizer.encode(TEXT).ids)
    with pytest.raises(UsageError, match=rf"replaced\.{tokens - 1}.*tokens 0 … {tokens - 2}"):
        replaced(small_tokenizer, TEXT, {tokens - 1: "x"})
