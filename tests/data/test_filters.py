import pytest

from allyouneed.data.corpus import Pair
from allyouneed.data.filters import Filters
from allyouneed.errors import UsageError


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        (10, 10, None),
        (20, 20, None),
        (21, 20, "too long"),
        (3, 21, "too long"),
        (3, 2, "too short"),
        (3, 3, None),
        (3, 11, None),
        (3, 12, "length ratio"),
        (12, 3, "length ratio"),
    ],
)
def test_lengths(source, target, reason):
    filters = Filters(min_tokens=3, max_tokens=20, max_ratio=2, ratio_slack=5)
    verdict = filters.judge_lengths(source, target)
    assert (verdict and verdict[0]) == reason
    if verdict:
        assert f"{source} and {target} tokens" in verdict[1]


def test_empty_sides():
    assert Filters().judge_text(Pair(" \u3000", "x", 1)) == ("empty source", "target: 'x'")
    assert Filters().judge_text(Pair("x" * 99, "", 1))[0] == "empty target"
    assert len(Filters().judge_text(Pair("x" * 99, "", 1))[1]) < 80
    assert Filters(drop_empty=False).judge_text(Pair("", "", 1)) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_tokens": 0},
        {"min_tokens": 9, "max_tokens": 8},
        {"max_ratio": 0.5},
        {"max_ratio": float("nan")},
        {"ratio_slack": -1},
    ],
)
def test_limits_that_make_no_sense(wrong):
    with pytest.raises(UsageError, match=f"{next(iter(wrong))}="):
        Filters(**wrong)


@pytest.mark.parametrize(
    ("source", "target", "languages", "found"),
    [
        ("Where?", "Где?", ("en", "ru"), None),
        (
            "Где?",
            "Wo?",
            ("en", "de"),
            ("source not in the script of en", "Cyrillic letters: 'Где?'"),
        ),
        (
            "Where?",
            "Where?",
            ("en", "ru"),
            ("target not in the script of ru", "Latin letters: 'Whe"),
        ),
        ("Нажмите Enter", "12:30", ("ru", "ja"), None),
        ("Где?", "Где?", ("", "tlh"), None),
    ],
)
def test_texts_in_another_script(source, target, languages, found):
    for filters, named in ((Filters(languages=languages), None), (Filters(), languages)):
        told = filters.other_script(Pair(source, target, 1), named)
        assert (told is None) == (found is None)
        if told:
            assert told[0] == found[0]
            assert told[1].startswith(found[1])
        assert filters.judge_text(Pair(source, target, 1), named) is None
    dropping = Filters(drop_other_scripts=True)
    assert dropping.judge_text(Pair(source, target, 1), languages) == told
