"""Text goes to ids and back as fairseq does it; the goldens are made by it."""

import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allyouneed.errors import ModelFolderError, UsageError
from allyouneed.interop.fairseq_dictionary import read_dictionary
from allyouneed.text.fairseq_tokenizer import SPECIALS, FairseqTokenizer
from allyouneed.text.opening import open_tokenizer, read_tokenizer
from allyouneed.translation.words import word_numbers

GOLDEN = Path(__file__).parents[1] / "interop" / "fairseq"
SAID = json.loads((GOLDEN / "text.json").read_text("utf-8"))["sentences"]
MOSES = {"escapes": True, "hyphens": True}


def made(kind: str) -> FairseqTokenizer:
    sides = [read_dictionary(GOLDEN / kind / f"dict.{side}.txt") for side in ("en", "de")]
    return FairseqTokenizer.of_sides(
        (sides[0], sides[1]),
        ("en", "de"),
        moses=MOSES,
        codes=(GOLDEN / "codes").read_text("utf-8"),
    )


JOINED, APART = made("joined"), made("apart")
WORDS = FairseqTokenizer.of_sides(
    ([*SPECIALS, "a", "b"], [*SPECIALS, "c", "a", "c"]), ("en", "de"), moses=None, codes=None
)


@pytest.mark.parametrize("said", SAID, ids=lambda said: said["text"][:20])
def test_ids_are_fairseqs(said: dict[str, list[int] | str]) -> None:
    text = str(said["text"])
    encoding = JOINED.encode(text)
    assert encoding.ids == said["ids"]
    assert JOINED.encode_ids([text]) == [said["ids"]]
    assert len(encoding.pieces) == len(encoding.spans) == len(encoding.ids)
    known = 3 not in encoding.ids
    assert not known or JOINED.target.decode(encoding.ids) == said["back"]


def test_spans_are_the_characters_of_each_piece() -> None:
    text = "The boy's dog is well-known."
    encoding = JOINED.encode(text)
    assert encoding.pieces[:8] == ["The", "boy", "&a@@", "pos;@@", "s", "dog", "i@@", "s"]
    cut = [text[begin:end] for begin, end in encoding.spans]
    assert cut[:8] == ["The", "boy", "'", "'", "s", "dog", "i", "s"]
    assert encoding.spans[-1] == (len(text), len(text))


@given(text=st.text())
def test_any_text_has_ids_and_spans(text: str) -> None:
    encoding = JOINED.encode(text)
    assert encoding.ids[-1] == JOINED.END
    assert encoding.ids == JOINED.encode_ids([text])[0]
    assert all(0 <= begin <= end <= len(text) for begin, end in encoding.spans)


@given(ids=st.lists(st.integers(0, len(JOINED) - 1), max_size=15))
def test_whatever_a_model_writes_has_a_text(ids: list[int]) -> None:
    target = JOINED.target
    text, spans = target.decode(ids), target.spans(ids)
    assert len(spans) == len(ids)
    assert all(0 <= begin <= end <= len(text) for begin, end in spans)
    growing = target.growing()
    assert "".join([*(growing.add(id) for id in ids), growing.end()]) == text.strip()


def test_pieces_of_a_text_know_their_place_in_it() -> None:
    ids = JOINED.target.encode("Der Hund des Jungen ist wohl-bekannt.").ids
    text = JOINED.target.decode(ids)
    assert text == "Der Hund des Jungen ist wohl-bekannt."
    cut = [text[begin:end] for begin, end in JOINED.target.spans(ids)]
    assert "".join(cut) == "".join(text.split())
    assert "-" in cut


def test_pieces_know_the_number_of_their_word() -> None:
    ids = JOINED.encode("The boy's dog is well-known.").ids
    numbers = [0, 1, 1, 1, 1, 2, 3, 3, *[4] * 10, -1]
    assert word_numbers(JOINED, ids) == numbers


def test_each_side_has_its_own() -> None:
    assert len(APART) == 64
    assert len(APART.target) == 72
    assert APART.target.target is APART.target
    assert APART.encode("A man").ids != APART.target.encode("A man").ids
    assert JOINED.encode("A man").ids == JOINED.target.encode("A man").ids


def test_whole_words_set_apart_by_spaces() -> None:
    assert WORDS.encode("a b c a").ids == [4, 5, 3, 4, 2]
    assert WORDS.decode([0, 4, 3, 5, 1, 2]) == "a <unk> b"
    assert WORDS.target.encode("c a").ids == [6, 5, 2], "of two ids the later one counts"
    assert WORDS.target.decode([4, 5, 6]) == "c a c"
    assert [WORDS.piece(id) for id in (2, 4)] == ["</s>", "a"]
    for id in (-1, 6):
        with pytest.raises(UsageError, match=f"id {id} is outside this vocabulary of 6"):
            WORDS.piece(id)


@pytest.mark.parametrize("tokenizer", [JOINED, APART, WORDS])
def test_a_file_keeps_all_of_it(tokenizer: FairseqTokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path / "tokenizer.json")
    opened = open_tokenizer(tmp_path / "tokenizer.json")
    assert isinstance(opened, FairseqTokenizer)
    assert opened.to_json() == tokenizer.to_json()
    assert opened.fingerprint() == tokenizer.fingerprint()
    text = "The boy's blue-red dog"
    for ours, theirs in ((tokenizer, opened), (tokenizer.target, opened.target)):
        assert theirs.encode(text) == ours.encode(text)
        assert theirs.decode(ours.encode(text).ids) == ours.decode(ours.encode(text).ids)


def test_a_copy_is_the_same() -> None:
    copy = pickle.loads(pickle.dumps(JOINED))
    assert copy.encode("The boy's dog") == JOINED.encode("The boy's dog")
    assert copy.target.decode([35, 24, 2]) == "A man"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"source": ["a"]}, "a dictionary begins with \\['a'\\]"),
        ({"source": 3}, "is damaged"),
        ({"languages": []}, "is damaged"),
        ({"moses": {"odd": True}}, "is damaged"),
        ({"codes": "a"}, "'a' is not a pair of symbols"),
    ],
)
def test_a_damaged_file(change: dict[str, object], said: str) -> None:
    contents = json.loads(JOINED.to_json()) | change
    with pytest.raises(ModelFolderError, match=said) as refused:
        read_tokenizer(json.dumps(contents, separators=(",", ":")), "here")
    assert str(refused.value).startswith("here is damaged: ")
    del contents["languages"]
    with pytest.raises(ModelFolderError, match="import the model again"):
        read_tokenizer(json.dumps(contents, separators=(",", ":")))
