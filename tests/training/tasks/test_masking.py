"""Masks: exactly so many, of these kinds, of whole words where asked for."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.text.encoder_tokenizer import EncoderTokenizer
from allyouneed.training.tasks.masking import Masking, WholeWords

# "'t" is one piece of its vocabulary
TEXT = "the unhappiest readers, who re-read it, weren't unready: read on!"


@pytest.fixture(scope="module")
def tokenizer() -> EncoderTokenizer:
    return EncoderTokenizer.train([TEXT] * 4, 290)


def ids_of(tokenizer: EncoderTokenizer, text: str) -> np.ndarray:
    return np.array([tokenizer.START, *tokenizer.encode_ids([text])[0]])


def rng(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


@given(words=st.integers(1, 60), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_exactly_15_percent_are_chosen(words: int, seed: int) -> None:
    tokenizer = EncoderTokenizer.train([TEXT], 290)
    ids = ids_of(tokenizer, "a " * words)
    masked = Masking(tokenizer, 0.15, whole_words=False)(ids, rng(seed))
    text = len(ids) - 2
    assert len(masked.places) == max(1, round(0.15 * text))
    assert len(set(masked.places.tolist())) == len(masked.places)
    assert masked.places.min() >= 1
    assert masked.places.max() <= len(ids) - 2
    assert (masked.hidden == ids[masked.places]).all()
    untouched = np.delete(np.arange(len(ids)), masked.places)
    assert (masked.ids[untouched] == ids[untouched]).all()


def test_80_10_10(tokenizer: EncoderTokenizer) -> None:
    ids = ids_of(tokenizer, TEXT * 400)
    masked = Masking(tokenizer, 0.15, whole_words=False)(ids, rng(1))
    now, was = masked.ids[masked.places], masked.hidden
    count = len(was)
    assert count > 800
    assert np.mean(now == tokenizer.MASK) == pytest.approx(0.8, abs=0.05)
    assert np.mean(now == was) == pytest.approx(0.1, abs=0.05)
    others = now[(now != tokenizer.MASK) & (now != was)]
    assert len(others) / count == pytest.approx(0.1, abs=0.05)
    special = [tokenizer.PAD, tokenizer.START, tokenizer.END, tokenizer.MASK]
    assert not np.isin(others, special).any()
    assert len(Counter(others.tolist())) > 40  # any piece, not a few of them


def test_the_same_generator_hides_the_same_and_another_does_not(
    tokenizer: EncoderTokenizer,
) -> None:
    masking, ids = Masking(tokenizer, 0.15, whole_words=False), ids_of(tokenizer, TEXT * 5)
    first, again, other = (masking(ids, rng(seed)) for seed in (1, 1, 2))
    assert (first.ids == again.ids).all()
    assert first.places.tolist() != other.places.tolist()


def test_the_pieces_of_a_word_stand_together(tokenizer: EncoderTokenizer) -> None:
    ids = ids_of(tokenizer, TEXT)
    words = WholeWords(tokenizer)(ids, np.arange(1, len(ids) - 1))
    shown = ["".join(tokenizer.piece(i) for i in ids[word]).strip() for word in words]
    assert " ".join(shown) == (
        "the unhappiest readers , who re - read it , weren 't unready : read on !"
    )


def test_whole_words_are_hidden_whole(tokenizer: EncoderTokenizer) -> None:
    ids = ids_of(tokenizer, TEXT * 10)
    masking = Masking(tokenizer, 0.15, whole_words=True)
    words = WholeWords(tokenizer)(ids, np.arange(1, len(ids) - 1))
    assert max(map(len, words)) > 2
    for seed in range(5):
        places = set(masking(ids, rng(seed)).places.tolist())
        assert len(places) == round(0.15 * (len(ids) - 2))
        for word in words:
            assert places.isdisjoint(word.tolist()) or places.issuperset(word.tolist())


def test_a_word_longer_than_its_share_is_hidden_all_the_same(tokenizer: EncoderTokenizer) -> None:
    ids = ids_of(tokenizer, "qwertzuiop")
    masked = Masking(tokenizer, 0.15, whole_words=True)(ids, rng(1))
    assert masked.places.tolist() == list(range(1, len(ids) - 1))
