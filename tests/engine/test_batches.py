from itertools import zip_longest

from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.engine.batches import batches_of_like_length


@settings(max_examples=50, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 30), max_size=40),
    tokens=st.integers(1, 100),
    most_rows=st.integers(1, 8),
)
def test_batches_keep_to_their_bounds(lengths: list[int], tokens: int, most_rows: int) -> None:
    batches = list(batches_of_like_length(lengths, tokens, most_rows))
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    in_order = [lengths[number] for batch in batches for number in batch]
    assert in_order == sorted(lengths)
    for batch, following in zip_longest(batches, batches[1:]):
        longest = max(lengths[number] for number in batch)
        assert len(batch) == 1 or len(batch) * longest <= tokens
        assert len(batch) <= most_rows
        if following:  # it could not have taken one more
            assert len(batch) == most_rows or (len(batch) + 1) * lengths[following[0]] > tokens
