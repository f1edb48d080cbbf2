import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.errors import ConfigError
from allyouneed.text.bpe_dropout import BpeDropout
from allyouneed.text.tokenizer import Tokenizer

SENTENCE = "The man fährt über die Brücke 😀, and the woman sees him. </s>"


@given(st.text(), st.floats(0, 1), st.integers(0, 9))
@settings(max_examples=100, deadline=None)
def test_the_text_stays(tokenizer: Tokenizer, text: str, p: float, seed: int) -> None:
    ids = tokenizer.encode(text + SENTENCE).ids
    dropped = BpeDropout(tokenizer, p)(ids, random.Random(seed))
    assert tokenizer.decode(dropped) == text + SENTENCE
    assert len(dropped) >= len(ids)
    assert dropped[-1] == Tokenizer.END


def test_without_probability_nothing_changes_and_nothing_is_drawn(tokenizer: Tokenizer) -> None:
    rng = random.Random(5)
    ids = tokenizer.encode(SENTENCE).ids
    assert BpeDropout(tokenizer, 0.0)(ids, rng) == ids
    assert rng.random() == random.Random(5).random()


def test_with_certainty_bytes_are_left(tokenizer: Tokenizer) -> None:
    dropped = BpeDropout(tokenizer, 1.0)(tokenizer.encode(SENTENCE).ids, random.Random(0))
    assert len(dropped) == len(f" {SENTENCE}".encode()) + 1
    assert not set(dropped) & tokenizer.halves().keys()


def test_the_generator_alone_decides(tokenizer: Tokenizer) -> None:
    drop = BpeDropout(tokenizer, 0.3)
    ids = tokenizer.encode(SENTENCE).ids
    assert drop(ids, random.Random(1)) == drop(ids, random.Random(1))
    assert len({tuple(drop(ids, random.Random(seed))) for seed in range(9)}) > 1


def test_every_piece_but_bytes_and_specials_has_halves(tokenizer: Tokenizer) -> None:
    halves = tokenizer.halves()
    assert set(halves) == set(range(260, len(tokenizer)))
    for piece, (left, right) in halves.items():
        assert tokenizer.decode([left, right]) == tokenizer.decode([piece])


def test_special_ids_stay(tokenizer: Tokenizer) -> None:
    specials = [1, 3, 2, 0, 0]
    assert BpeDropout(tokenizer, 1.0)(specials, random.Random(0)) == specials


def test_a_merge_is_undone_as_often_as_asked(tokenizer: Tokenizer) -> None:
    man = tokenizer.encode("man").ids[:1]
    rng = random.Random(0)
    whole = sum(BpeDropout(tokenizer, 0.3)(man, rng) == man for _ in range(2000))
    assert 0.66 < whole / 2000 < 0.74


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(tokenizer: Tokenizer, p: float) -> None:
    with pytest.raises(ConfigError, match="0 to 1"):
        BpeDropout(tokenizer, p)
