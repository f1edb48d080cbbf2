import copy
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertTokenizer

from allyouneed.errors import ModelFolderError, UsageError
from allyouneed.text.opening import encoder_tokenizer, open_tokenizer
from allyouneed.text.word_piece import WordPiece

WORDS = ["the", "man", "went", "to", "store", "##s", "##ing", "go", ".", ",", "é", "e", "日", "a"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY = {piece: id for id, piece in enumerate([*SPECIAL, *WORDS, "The", "[", "]", "mask"])}
TOKENIZER = WordPiece(VOCABULARY)
CASED = WordPiece(VOCABULARY, lowercase=False)


def pieces(text: str, tokenizer: WordPiece = TOKENIZER) -> list[str]:
    return tokenizer.encode(text).pieces


def test_words_are_cut_into_the_longest_pieces() -> None:
    expected = ["the", "man", "[UNK]", "go", "##ing", "to", "store", "##s", ".", "[SEP]"]
    assert pieces("The man' going to stores.") == expected
    assert pieces("The É日a", CASED) == ["The", "[UNK]", "日", "a", "[SEP]"]
    assert pieces("é") == ["e", "[SEP]"]
    assert (TOKENIZER.PAD, TOKENIZER.UNKNOWN, TOKENIZER.START, TOKENIZER.END) == (0, 1, 2, 3)


TEXTS = st.text(alphabet="Theman go.,é日[]MASKstore \t\n\u0301😀\x00", max_size=25)


@given(TEXTS)
def test_it_cuts_as_berts_own(text: str) -> None:
    for ours, lowercase in ((TOKENIZER, True), (CASED, False)):
        theirs = BertTokenizer(vocab=VOCABULARY, do_lower_case=lowercase)
        written = text.replace("[", "(")  # theirs takes "[MASK]" in a text for the mask
        expected = theirs(written, add_special_tokens=False)["input_ids"]
        assert ours.encode(written).ids == [*expected, 3]
        assert ours.encode_ids([written, "a"]) == [[*expected, 3], [VOCABULARY["a"], 3]]


@given(TEXTS)
def test_masks_are_theirs_too(text: str) -> None:
    theirs = BertTokenizer(vocab=VOCABULARY)
    masked = f"{text.replace('[', '(')}[MASK] to [MASK]s"
    assert TOKENIZER.encode_masked(masked) == [
        *theirs(masked, add_special_tokens=False)["input_ids"],
        3,
    ]
    assert 4 not in TOKENIZER.encode(masked).ids


def test_what_looks_special_is_text() -> None:
    assert pieces("[MASK]") == ["[", "mask", "]", "[SEP]"]


def test_spans_lie_where_the_pieces_do() -> None:
    text = " The  stores."
    encoding = TOKENIZER.encode(text)
    assert [text[begin:end] for begin, end in encoding.spans] == ["The", "store", "s", ".", ""]


def test_decoded_it_is_words_with_spaces() -> None:
    ids = TOKENIZER.encode("The stores,  going 😀").ids
    assert TOKENIZER.decode([2, *ids, 0]) == "the stores , going \ufffd"
    assert TOKENIZER.spans(ids)[:3] == [(0, 3), (3, 9), (9, 10)]
    with pytest.raises(UsageError, match="id 99 is outside this vocabulary of 23 pieces"):
        TOKENIZER.decode([99])


@pytest.mark.parametrize(
    ("piece", "before", "after", "filled"),
    [
        ("store", "to the ", ".", "to the store."),
        ("##s", "the store ", " go", "the stores go"),
        ("store", "", "", "store"),
        ("store", "the", "go", "the store go"),
    ],
)
def test_a_piece_in_the_place_of_a_mask(piece: str, before: str, after: str, filled: str) -> None:
    assert TOKENIZER.put(VOCABULARY[piece], before, after) == filled


def test_saved_and_opened_it_is_the_same(tmp_path: Path) -> None:
    for tokenizer in (
        TOKENIZER,
        CASED,
        WordPiece(VOCABULARY, strip_accents=False, chinese_characters=False),
    ):
        tokenizer.save(tmp_path / "tokenizer.json")
        again = open_tokenizer(tmp_path / "tokenizer.json")
        assert isinstance(again, WordPiece)
        assert again.fingerprint() == tokenizer.fingerprint()
        assert again.settings == tokenizer.settings
        assert again.encode("Thé 日a") == tokenizer.encode("Thé 日a")
        assert copy.deepcopy(tokenizer).to_json() == tokenizer.to_json()
    assert encoder_tokenizer(TOKENIZER, "this").MASK == 4
    assert TOKENIZER.target is TOKENIZER


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vocabulary": {"a": 0}}, r"its vocabulary lacks \[PAD\], for pad"),
        ({"vocabulary": VOCABULARY | {"a": 99}}, "its ids are not 0 to 22, each once"),
        ({"special": {}}, "its vocabulary lacks None, for pad"),
        ({"vocabulary": 3}, "damaged"),
    ],
)
def test_what_is_damaged_is_said(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "tokenizer.json"
    contents = json.loads(TOKENIZER.to_json()) | change
    path.write_text(json.dumps(contents, separators=(",", ":")))
    with pytest.raises(ModelFolderError, match=message):
        open_tokenizer(path)
