import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.core import masks
from allyouneed.errors import ShapeError

QUICK = settings(max_examples=25, deadline=None)


def test_padding_hides_pads_as_keys() -> None:
    ids_BS = torch.tensor([[5, 6, 0], [0, 7, 0]])
    may_look = masks.padding(ids_BS, 0)
    assert may_look.shape == (2, 1, 1, 3)
    assert may_look[:, 0, 0].tolist() == [[True, True, False], [False, True, False]]


def test_a_target_mask_hides_keys_and_not_queries() -> None:
    # One document unsqueezes the target's padding on axis 3 and so hides padded queries: the last
    # row looks at nothing, while every later one would still look at the pad in the middle.
    ids_BT = torch.tensor([[5, 0, 7]])
    ours = masks.padding(ids_BT, 0) & masks.causal(3)
    seed_003 = (ids_BT != 0).unsqueeze(1).unsqueeze(3) & masks.causal(3)
    assert ours[0, 0].tolist() == [[True, False, False], [True, False, False], [True, False, True]]
    assert seed_003[0, 0].tolist() == [
        [True, False, False],
        [False, False, False],
        [True, True, True],
    ]


@given(length=st.integers(1, 12))
@QUICK
def test_causal_shows_oneself_and_the_past(length: int) -> None:
    may_look = masks.causal(length)
    assert may_look.shape == (1, 1, length, length)
    for query in range(length):
        assert may_look[0, 0, query].tolist() == [key <= query for key in range(length)]


@given(queries=st.integers(1, 9), keys=st.integers(1, 9), reach=st.integers(0, 10))
@QUICK
def test_window_shows_what_is_near(queries: int, keys: int, reach: int) -> None:
    may_look = masks.window(queries, keys, reach)
    assert may_look.shape == (1, 1, queries, keys)
    for query in range(queries):
        near = [abs(query - key) <= reach for key in range(keys)]
        assert may_look[0, 0, query].tolist() == near


def test_a_window_cannot_reach_less_than_itself() -> None:
    with pytest.raises(ShapeError, match="reach=-1 must be at least 0"):
        masks.window(3, 3, -1)


@given(
    size=st.integers(1, 8), lengths=st.lists(st.integers(0, 8), min_size=1, max_size=5).map(tuple)
)
@QUICK
def test_valid_lengths_one_a_sentence(size: int, lengths: tuple[int, ...]) -> None:
    lengths_B = torch.tensor(lengths).clamp(max=size)
    may_look = masks.valid_lengths(lengths_B, size)
    assert may_look.shape == (len(lengths), 1, 1, size)
    assert torch.equal(may_look.sum(-1).flatten(), lengths_B)
    for row, length in zip(may_look[:, 0, 0], lengths_B, strict=True):
        assert row[:length].all()


@given(seed=st.integers(0, 1000), batch=st.integers(1, 3), queries=st.integers(1, 4))
@QUICK
def test_valid_lengths_one_a_query(seed: int, batch: int, queries: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    lengths_BT = torch.randint(0, 7, (batch, queries), generator=generator)
    may_look = masks.valid_lengths(lengths_BT, 6)
    assert may_look.shape == (batch, 1, queries, 6)
    for b in range(batch):
        for t in range(queries):
            assert may_look[b, 0, t].tolist() == [key < lengths_BT[b, t] for key in range(6)]


@pytest.mark.parametrize("lengths", [[2, 5], [[1, 2], [5, 3]], [-1, 2]])
def test_a_valid_length_beyond_the_sequence_is_an_error(lengths: list[int]) -> None:
    with pytest.raises(ShapeError, match=r"must lie in 0 … 4, the number of keys; got"):
        masks.valid_lengths(torch.tensor(lengths), 4)


def test_valid_lengths_have_one_or_two_axes() -> None:
    with pytest.raises(ShapeError, match=r"the axes B or BT, not \(1, 2, 3\)"):
        masks.valid_lengths(torch.ones(1, 2, 3, dtype=torch.int64), 4)
