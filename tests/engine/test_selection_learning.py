"""Learning a selection from sentences: what is left out, what is held out, what is covered."""

import random

import pytest

from allyouneed.engine import lexical_translation, selection_learning
from allyouneed.engine.selection_learning import coverage, learn_vocabulary_selection, tokenised
from allyouneed.errors import DataError
from allyouneed.text.tokenizer import Tokenizer

WORDS = {"dog": "Hund", "man": "Mann", "station": "Bahnhof", "coffee": "Kaffee", "bike": "Fahrrad"}
LONGEST = 50


def made_pairs(count: int) -> list[tuple[str, str]]:
    """Sentences of 2 or 3 words, translated word by word, backwards."""
    rng = random.Random(1)
    chosen = [rng.sample(sorted(WORDS), rng.randint(2, 3)) for _ in range(count)]
    return [(" ".join(words), " ".join(WORDS[w] for w in words[::-1])) for words in chosen]


def test_it_learns_and_measures_on_what_it_held_out(small_tokenizer: Tokenizer) -> None:
    heard: list[tuple[str, int, int | None]] = []
    learned = learn_vocabulary_selection(
        made_pairs(400), small_tokenizer, LONGEST, progress=lambda *what: heard.append(what)
    )
    assert (learned.pairs, dict(learned.left_out)) == (396, {})
    assert learned.held_out is not None
    assert learned.held_out.sentences == 4
    assert learned.held_out.covered == 1
    assert learned.held_out.selected < len(small_tokenizer)
    assert heard[-1] == ("learning", 5, 5)


def test_fewer_candidates_select_and_cover_less(
    small_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection_learning, "FREQUENT", 0)
    fresh = list(tokenised(made_pairs(420)[400:], small_tokenizer))
    measured = []
    for candidates in (1, 3, 100):
        learned = learn_vocabulary_selection(
            made_pairs(400), small_tokenizer, LONGEST, candidates
        ).selection
        sizes = learned.offsets[1:] - learned.offsets[:-1]
        assert 0 < sizes.max() <= candidates
        measured.append(coverage(learned, fresh))
    assert measured[0].selected < measured[1].selected
    assert measured[0].covered < measured[1].covered <= measured[2].covered == 1


def test_what_is_left_out_is_counted(
    small_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical_translation, "MOST_LINKS", 2000)
    odd = [("dog", " "), ("", "Hund"), ("dog " * 60, "Hund")]
    learned = learn_vocabulary_selection(odd + made_pairs(90), small_tokenizer, LONGEST)
    skipped = learned.left_out["more than can be learned from at once"]
    assert learned.left_out["empty"] == 2
    assert learned.left_out["longer than 50 tokens"] == 1
    assert learned.pairs + skipped == 90
    assert learned.pairs < 90
    assert learned.held_out is None


def test_there_has_to_be_something_to_learn(small_tokenizer: Tokenizer) -> None:
    with pytest.raises(DataError, match="no pairs with a translation"):
        learn_vocabulary_selection([("", ""), ("dog", "")], small_tokenizer, LONGEST)


def test_space_around_a_text_is_no_part_of_it(small_tokenizer: Tokenizer) -> None:
    pairs = tokenised([(" the dog \n", "der Hund"), ("the dog", " der Hund")], small_tokenizer)
    first, second = pairs
    assert first == second
    assert first[0][-1] == small_tokenizer.END
