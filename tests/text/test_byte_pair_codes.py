"""Words are cut as subword-nmt cuts them; the goldens are made by it (make_fairseq_golden.py)."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allyouneed.errors import DataError
from allyouneed.text import byte_pair_codes
from allyouneed.text.byte_pair_codes import BytePairCodes

GOLDEN = Path(__file__).parents[1] / "interop" / "fairseq"
CODES = (GOLDEN / "codes").read_text("utf-8")
SAID = json.loads((GOLDEN / "text.json").read_text("utf-8"))


@pytest.mark.parametrize("version", ["0.1", "0.2"])
def test_words_are_cut_as_by_subword_nmt(version: str) -> None:
    codes = BytePairCodes({"0.1": SAID["old_rules"], "0.2": CODES}[version])
    for word, line in SAID["words"][version].items():
        assert "@@ ".join(codes.split(word)) == line, word


def test_what_is_remembered_of_words_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_pair_codes, "REMEMBERED", 3)
    codes = BytePairCodes(CODES)
    words = ["walking", "house", "green", "blue", "walking"]
    assert [codes.split(word) for word in words] == [BytePairCodes(CODES).split(w) for w in words]
    assert len(codes._known) <= 3


def test_the_two_versions_differ() -> None:
    """`e d` and `ed </w>` say "ed" at the end of a word, where 0.2 has `e d</w>`."""
    old, new = BytePairCodes("e d\ned </w>\n"), BytePairCodes("#version: 0.2\ne d\ned </w>\n")
    assert (old.split("red"), old.split("edge")) == (("r", "ed"), ("ed", "g", "e"))
    assert (new.split("red"), new.split("edge")) == (("r", "e", "d"), ("ed", "g", "e"))


def test_counts_of_fastbpe() -> None:
    codes = BytePairCodes("e d</w> 120\nr ed</w> 80\n")
    assert codes.split("red") == ("red",)
    assert codes.split("edit") == ("e", "d", "i", "t")


def test_the_earlier_of_two_merges_comes_first() -> None:
    assert BytePairCodes("#version: 0.2\nb c\na b\n").split("abcd") == ("a", "bc", "d")
    assert BytePairCodes("#version: 0.2\na b\nb c\na b\n").split("abcd") == ("ab", "c", "d")
    assert BytePairCodes("#version: 0.2\na a\n").split("aaaab") == ("aa", "aa", "b")


@given(word=st.text())
def test_pieces_joined_are_the_word(word: str) -> None:
    for codes in (BytePairCodes(CODES), BytePairCodes(SAID["old_rules"])):
        pieces = codes.split(word)
        assert "".join(pieces) == word
        assert all(pieces)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "bpecodes holds no codes"),
        ("#version: 0.2\n\n", "bpecodes holds no codes"),
        ("#version: 0.3\na b\n", "bpecodes:1: version 0.3 of codes is not supported"),
        ("a b\nabc\n", "bpecodes:2: 'abc' is not a pair of symbols"),
        ("a b\n\na c\n", "bpecodes:2: '' is not a pair of symbols"),
        ("a b c\n", "bpecodes:1: 'a b c' is not a pair of symbols"),
        ("a b 3 4\n", "bpecodes:1: 'a b 3 4' is not a pair of symbols"),
    ],
)
def test_files_that_are_no_codes(text: str, said: str) -> None:
    with pytest.raises(DataError) as refused:
        BytePairCodes(text, "bpecodes")
    assert said in str(refused.value)
