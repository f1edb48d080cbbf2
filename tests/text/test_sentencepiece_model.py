"""Pieces of a `.spm` file are those of the package that made it, whatever the text."""

import io
import random
import struct
from functools import cache
from typing import Any

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from allyouneed.text.sentencepiece_model import SentencePieceModel

TEXT = [
    "A man rides a bike past the café.",
    "Two women are talking to each other in the street.",
    "Ein Mann fährt Fahrrad, zwei Frauen reden ...",
    "Une femme est assise à côté d'un garçon.",
    "一人の男が自転車に乗る。",
    "ＷＩＤＥ letters, ﬁgures ① and ㍿, e\u0301.",
] * 3
KINDS: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "no rules for characters": {"normalization_rule_name": "identity"},
    "lower case": {"normalization_rule_name": "nmt_nfkc_cf"},
    "bytes": {"byte_fallback": True, "vocab_size": 330},
    "symbols of the user": {"user_defined_symbols": ["<sep>", "man"]},
    "no space ahead": {"add_dummy_prefix": False},
    "every space": {"remove_extra_whitespaces": False},
    "pairs": {"model_type": "bpe"},
    "pairs and bytes": {"model_type": "bpe", "byte_fallback": True, "vocab_size": 340},
    "pairs and symbols of the user": {
        "model_type": "bpe",
        "user_defined_symbols": ["<sep>", "man", "日本"],
        "control_symbols": ["<ctrl>"],
    },
    "pairs across spaces": {
        "model_type": "bpe",
        "split_by_whitespace": False,
        "remove_extra_whitespaces": False,
        "add_dummy_prefix": False,
        "vocab_size": 140,
    },
    "pairs, lower case": {"model_type": "bpe", "normalization_rule_name": "nmt_nfkc_cf"},
}
LETTERS = "aemnorst AEMZéüß.,'  \t\n\x00\x01\u00a0\u200b\u3000▁<s>/unk0xE6sep"
LETTERS += "①㍿ﬁＷﾊﾟが人日本語😀e\u0301\u0323ǅ"
HARD = [
    "",
    " ",
    "   ",
    "\n",
    "\x01",
    "<unk>",
    "</s> a",
    "<0xE6>",
    "man<sep>men  <sep> ",
    "日本語 日",
]


@cache
def trained(kind: str) -> bytes:
    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT),
        model_writer=file,
        num_threads=1,
        minloglevel=2,
        hard_vocab_limit=False,
        **{"vocab_size": 90, **KINDS[kind]},
    )
    return file.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_are_those_of_the_package(kind: str) -> None:
    theirs = sentencepiece.SentencePieceProcessor(model_proto=trained(kind))
    ours = SentencePieceModel(trained(kind))
    chance = random.Random(0)
    drawn = ["".join(chance.choices(LETTERS, k=chance.randrange(30))) for _ in range(500)]
    several = 0
    for text in TEXT + HARD + drawn:
        pieces = [piece.spelling for piece in ours.cut(text)]
        assert pieces == theirs.encode(text, out_type=str), repr(text)
        several += len(pieces) > 3
    assert several > 300


@given(st.text(max_size=40))
def test_spans_follow_each_other_and_hold_the_piece(text: str) -> None:
    model = SentencePieceModel(trained("no rules for characters"))
    pieces = model.cut(text)
    ends = [0]
    for piece in pieces:
        begin, end = piece.span
        assert ends[-1] <= begin <= end <= len(text)
        plain = piece.spelling.replace("▁", " ").strip()
        assert plain in text[begin:end].replace("▁", " ")
        ends.append(end)


def test_spans_of_what_was_written_in_another_way() -> None:
    pieces = SentencePieceModel(trained("as it comes")).cut("㍿ ＷＩ")
    touched = {"㍿ ＷＩ"[slice(*piece.span)].strip() for piece in pieces}
    assert touched == {"", "㍿", "Ｗ", "Ｉ"} or "㍿" in "".join(touched)
    assert "".join(piece.spelling for piece in pieces) == "▁株式会社▁WI"


def packed(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | 2, len(value)]) + value


PIECE = packed(1, packed(1, "▁a".encode()) + b"\x15" + struct.pack("<f", -1.0))


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (b"", "it has no pieces"),
        (PIECE[:-3], "cut short"),
        (
            PIECE + packed(2, b"\x18\x03"),
            "its model_type is word; only unigram and bpe are supported",
        ),
        (PIECE + packed(2, b"\x18\x09"), "its model_type is 9; only unigram and bpe are supported"),
        (PIECE + packed(2, b"\xc0\x01\x01"), "it has treat_whitespace_as_suffix"),
        (PIECE + packed(3, b"\x28\x00"), "it has escape_whitespaces=false"),
        (PIECE + packed(5, packed(2, b"xxxx")), "it has a denormalizer"),
        (
            PIECE + packed(3, packed(2, b"\x04\x00\x00\x00")),
            r"its table of characters \(4 bytes\) is damaged",
        ),
        (b"\x08\x01", "it has the value 1 in place of bytes|it has no pieces"),
        (packed(1, b"\x08\x01"), "it has the value 1 in place of bytes"),
        (packed(1, b"\x15" + struct.pack("<f", -1.0)), "not a .spm file"),
        (packed(1, packed(1, b"a") + b"\x18\x09"), "9 is not a valid Kind"),
    ],
)
def test_files_that_are_refused(file: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        SentencePieceModel(file)


def test_a_damaged_table_of_characters() -> None:
    units = struct.pack("<2I", 1 << 10 | 1, 0)
    table = struct.pack("<I", len(units)) + units + b"\x00"
    model = SentencePieceModel(PIECE + packed(3, packed(2, table)))
    with pytest.raises(ValueError, match="its table of characters is damaged"):
        model.cut("za")
