import pytest
from hypothesis import given
from hypothesis import strategies as st

from allyouneed.data.mixing import mixed_weights

PAIRS = st.lists(st.integers(1, 10**7), min_size=1, max_size=6)


def test_at_temperature_one_the_weights_are_those_given():
    assert mixed_weights([10, 1000, 0], [1.0, 0.5, 2.0], 1.0) == [1.0, 0.5, 2.0]


@given(pairs=PAIRS, temperature=st.floats(1, 100))
def test_corpora_are_drawn_by_the_root_of_their_size_and_epochs_keep_their_length(
    pairs, temperature
):
    weights = mixed_weights(pairs, [1.0] * len(pairs), temperature)
    drawn = [weight * count for weight, count in zip(weights, pairs, strict=True)]
    assert sum(drawn) == pytest.approx(sum(pairs))
    for one, count in zip(drawn, pairs, strict=True):
        assert one / drawn[0] == pytest.approx((count / pairs[0]) ** (1 / temperature))


def test_own_weights_multiply_and_empty_corpora_do_not_count():
    plain = mixed_weights([100, 10_000], [1.0, 1.0], 5.0)
    weighted = mixed_weights([100, 0, 10_000], [3.0, 2.0, 1.0], 5.0)
    assert weighted == pytest.approx([3 * plain[0], 2.0, plain[1]])
    assert plain[0] > 1 > plain[1]
