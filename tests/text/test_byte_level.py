"""Two roads, one answer: `ByteLevel` and the library `tokenizers` cut every text alike."""

import json
import random
import unicodedata
from functools import cache

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.model_folder.folder import open_model_folder
from allyouneed.text.byte_level import ByteLevel, words
from allyouneed.text.clean import clean
from allyouneed.text.tokenizer import Tokenizer

BUNDLED = ("en-de", "de-en")


@cache
def ours(name: str) -> Tokenizer:
    tokenizer = open_model_folder(name).tokenizer
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer


@cache
def theirs(name: str) -> tokenizers.Tokenizer:
    library = tokenizers.Tokenizer.from_str(ours(name).to_json())
    library.encode_special_tokens = True
    return library


def equal(name: str, text: str) -> bool:
    text, _ = clean(text)
    return ours(name).encode(text).ids == theirs(name).encode(text).ids


def assigned(character: str) -> bool:
    """Whether this Python's version of Unicode knows the character. Letters of a newer one are
    letters to the library alone."""
    return unicodedata.category(character) not in ("Cn", "Cs", "Co")


def awkward_lines(count: int) -> list[str]:
    """Lines that mix words, contractions, digits, signs, white space and rare characters."""
    chance = random.Random(7)
    parts = "a man's don't I'LL we've 1st 2,5 ½ Ⅷ fährt ÄÖÜß  \t \u00a0 \u3000 日本 語 一二 ١٢ é"
    known = [
        *parts.split(" "),
        " ",
        "'",
        "'s",
        "''",
        "</s>",
        "<unk>",
        "😀",
        "\r\n",
        "\x1c",
        "\x85",
        "e\u0301",
    ]
    lines = []
    for _ in range(count):
        rare = chance.choice([chr(chance.randrange(0x3000)), chr(chance.randrange(0x20000))])
        rare = rare if assigned(rare) else "?"
        some = chance.choices([*known, rare], k=chance.randrange(12))
        lines.append(chance.choice(["", " ", " "]).join(some))
    return lines


def test_awkward_lines_are_cut_as_by_the_library() -> None:
    assert [line for line in awkward_lines(20_000) if not equal("en-de", line)] == []


@pytest.mark.parametrize("name", BUNDLED)
@given(st.text(st.characters().filter(assigned), max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text_is_cut_as_by_the_library(name: str, text: str) -> None:
    assert equal(name, text)


def test_each_character_is_of_the_librarys_kind() -> None:
    """Whether a character is a letter, a digit, a space or a sign decides where words end."""
    pre = theirs("en-de").pre_tokenizer
    known = filter(assigned, map(chr, range(0x110000)))
    text = "".join(f"a{one}1{one}.{one} {one}{one}\n" for one in known)
    assert words(text) == [text[begin:end] for _, (begin, end) in pre.pre_tokenize_str(text)]


def test_of_equal_pairs_the_first_is_merged_first() -> None:
    tokenizer = ours("en-de")
    pieces = [*json.loads(tokenizer.to_json())["model"]["vocab"], "aa", "aaa"]
    ids = {piece: n for n, piece in enumerate(dict.fromkeys(pieces))}
    cut = ByteLevel(ids, [("a", "a"), ("aa", "a")])
    assert cut.ids("aaa") == [ids["aaa"]]
    assert cut.ids("aaaa") == [ids["aa"], ids["aa"]]


def test_a_huge_word_takes_little_time() -> None:
    huge = "ab" * 100_000
    assert equal("en-de", huge)
