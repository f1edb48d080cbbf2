"""Dictionaries as fairseq reads them."""

from pathlib import Path

import pytest

from allyouneed.errors import DataError
from allyouneed.interop.fairseq_dictionary import read_dictionary


def read(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "dict.en.txt"
    path.write_bytes(text.encode())
    return read_dictionary(path)


def test_ids_count_from_the_special_ones(tmp_path: Path) -> None:
    symbols = read(tmp_path, "the 10\nbl@@ 3\n&quot; 2\nmadeupword0000 0\n")
    assert symbols == ["<s>", "<pad>", "</s>", "<unk>", "the", "bl@@", "&quot;", "madeupword0000"]


def test_a_symbol_that_overwrites_takes_the_later_id(tmp_path: Path) -> None:
    symbols = read(tmp_path, "the 10\na 3\nthe 9 #fairseq:overwrite\n<unk> 1 #fairseq:overwrite\n")
    assert symbols[4:] == ["the", "a", "the", "<unk>"]


def test_odd_symbols(tmp_path: Path) -> None:
    assert read(tmp_path, "a\u00a0b 1\n\u2028 2\r\n# 3\n7 4\n")[4:] == [
        "a\u00a0b",
        "\u2028",
        "#",
        "7",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("the 10\nthe 9\n", "dict.en.txt:2: 'the' occurs twice"),
        ("</s> 10\n", "dict.en.txt:1: '</s>' occurs twice"),
        ("the\n", "dict.en.txt:1: 'the' is no symbol and count"),
        ("the 1\n\n", "dict.en.txt:2: '' is no symbol and count"),
        ("the many\n", "'the many' is no symbol and count"),
        ("#fairseq:overwrite\n", "is no symbol and count"),
    ],
)
def test_lines_that_are_none(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError) as refused:
        read(tmp_path, text)
    assert said in str(refused.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_dictionary(tmp_path / "dict.fr.txt")
    (tmp_path / "dict.fr.txt").write_bytes("für 1\n".encode("latin-1"))
    with pytest.raises(DataError, match="is not UTF-8"):
        read_dictionary(tmp_path / "dict.fr.txt")
