import pytest
from hypothesis import given
from hypothesis import strategies as st

from allyouneed.errors import UsageError
from allyouneed.evaluation.variety import variety

WORDS = st.sampled_from(["i", "do", "not", "know", "why"])
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=5).map(" ".join), min_size=1, max_size=9)


def test_distinct_words_and_pairs_over_all_words() -> None:
    found = variety(["I don't know.", "I don't  know.", "You don't know me."])
    assert (found.texts, found.words) == (3, 10)
    assert found.distinct_1 == 6 / 10  # i don't know. you know me.
    assert found.distinct_2 == 5 / 10  # i don't, don't know., you don't, don't know, know me.
    assert (found.commonest, found.commonest_share) == ("i don't know.", 2 / 3)
    assert found.to_dict()["distinct_1"] == found.distinct_1


def test_pairs_do_not_reach_from_one_text_into_the_next() -> None:
    assert variety(["a b", "c d"]).distinct_2 == 2 / 4


@given(TEXTS, st.integers(2, 4))
def test_saying_it_all_again_is_less_varied(texts: list[str], times: int) -> None:
    once, often = variety(texts), variety(texts * times)
    assert often.distinct_1 == pytest.approx(once.distinct_1 / times)
    assert often.distinct_2 == pytest.approx(once.distinct_2 / times)
    assert often.commonest_share == pytest.approx(once.commonest_share)
    assert 0 < once.distinct_1 <= 1


def test_no_words_have_no_variety() -> None:
    with pytest.raises(UsageError, match="none of the 2 texts has a word"):
        variety(["", " "])
