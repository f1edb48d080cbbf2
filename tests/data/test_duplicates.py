from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allyouneed.data import duplicates
from allyouneed.data.duplicates import mark_repeats, pair_key


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(pairs=st.lists(st.tuples(st.text("ab", max_size=3), st.text("ab", max_size=3))))
def test_every_later_one_is_marked(tmp_path, pairs):
    seen: set[tuple[str, str]] = set()
    expected = []
    for pair in pairs:
        expected.append(pair in seen)
        seen.add(pair)
    assert mark_repeats((pair_key(*pair) for pair in pairs), tmp_path).tolist() == expected
    assert not list(tmp_path.iterdir())


def test_across_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(duplicates, "CHUNK", 7)
    keys = [pair_key(str(n % 50), "") for n in range(120)]
    assert mark_repeats(keys, tmp_path).tolist() == [n >= 50 for n in range(120)]


def test_the_border_between_the_sides_counts():
    assert pair_key("ab", "c") != pair_key("a", "bc")
