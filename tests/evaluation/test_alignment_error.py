"""AER by hand, and gold alignments that cannot be read."""

import pytest

from allyouneed.errors import DataError
from allyouneed.evaluation.alignment_error import GoldAlignment, alignment_error_rate


def test_sure_links_are_possible_too() -> None:
    gold = GoldAlignment.of(" 0-0 12-3  1?2 4p5")
    assert gold.sure == {(0, 0), (12, 3)}
    assert gold.possible == {(0, 0), (12, 3), (1, 2), (4, 5)}


def test_the_rate_counts_over_all_sentences() -> None:
    gold = [GoldAlignment.of("0-0 1?1"), GoldAlignment.of("0-1 1-0")]
    # |A ∩ S| = 1 + 1, |A ∩ P| = 2 + 1, |A| = 3 + 2, |S| = 1 + 2
    found = [((0, 0), (1, 1), (2, 2)), ((0, 1), (1, 1))]
    assert alignment_error_rate(found, gold) == pytest.approx(1 - 5 / 8)


@pytest.mark.parametrize(("found", "rate"), [([(0, 0), (1, 1)], 0.0), ([(1, 0)], 1.0), ([], 1.0)])
def test_the_ends_of_the_scale(found: list[tuple[int, int]], rate: float) -> None:
    assert alignment_error_rate([found], [GoldAlignment.of("0-0 1-1")]) == rate


def test_nothing_to_compare() -> None:
    with pytest.raises(DataError, match="no sure ones"):
        alignment_error_rate([()], [GoldAlignment.of("0?0")])


@pytest.mark.parametrize("line", ["0-0 1", "1:2", "a-b", "-1-0", "0-0,1-1"])
def test_what_is_no_link_is_refused(line: str) -> None:
    with pytest.raises(DataError, match=r"gold\.txt:3: .* is not a link"):
        GoldAlignment.of(line, "gold.txt:3")


def test_a_link_to_no_word_is_refused() -> None:
    gold = GoldAlignment.of("0-0 2?1")
    gold.check(3, 2, "line 1")
    for words in ((2, 2), (3, 1)):
        with pytest.raises(DataError, match=r"line 1: link 2-1, .* counted from 0"):
            gold.check(*words, place="line 1")
