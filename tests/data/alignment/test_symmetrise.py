"""grow-diag-final-and on alignments that can be followed by hand."""

from allyouneed.data.alignment.symmetrise import grow_diag_final_and, linked


def test_both_directions_agree() -> None:
    assert grow_diag_final_and([1, 0, 2], [1, 0, 2]) == [(0, 1), (1, 0), (2, 2)]


def test_a_neighbour_of_one_direction_joins_while_a_word_is_free() -> None:
    # source word 0 for both target words; the other direction knows of target word 0 alone
    assert grow_diag_final_and([0, 0], [0]) == [(0, 0), (0, 1)]


def test_neighbours_grow_from_neighbours() -> None:
    forward = [0, 1]  # 0-0 1-1
    backward = [0, 0]  # 0-0 1-0
    assert grow_diag_final_and(forward, backward) == [(0, 0), (1, 0), (1, 1)]


def test_far_links_join_at_last_only_between_two_free_words() -> None:
    assert grow_diag_final_and([0, -1, -1, 3], [0, -1, -1, -1]) == [(0, 0), (3, 3)]
    assert grow_diag_final_and([0, -1, -1, 0], [0, -1, -1, -1]) == [(0, 0)]


def test_nothing_is_linked_where_neither_direction_has_a_link() -> None:
    assert grow_diag_final_and([-1], [-1, -1]) == []


def test_links_of_parts_are_links_of_their_words_once() -> None:
    assert linked([(0, 0), (1, 0), (1, 1), (2, 1)], [0, 0, -1], [0, 0]) == [(0, 0)]
