"""What is amiss with corpora is told before a vocabulary is learnt from them."""

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from allyouneed.data.corpus import Corpus
from allyouneed.data.inspection import inspect_corpora
from allyouneed.data.lines import count_lines, zstd
from allyouneed.errors import DataError

LINES = "".join(f"line {n} of a text\n" for n in range(1, 20_001)).encode()


def amiss(*corpora: Corpus) -> str:
    with pytest.raises(DataError) as ended:
        inspect_corpora(corpora, lambda note: None)
    return str(ended.value)


@pytest.fixture
def pair(tmp_path: Path) -> Callable[..., Corpus]:
    def make(source: bytes, target: bytes) -> Corpus:
        files = tmp_path / "a.en", tmp_path / "a.de"
        for file, content in zip(files, (source, target), strict=True):
            file.write_bytes(content)
        return Corpus(*files)

    return make


def test_sides_of_different_lengths(pair: Callable[..., Corpus]) -> None:
    told = amiss(Corpus(made="copy"), pair(b"a\nb\nc", b"a\n"))
    assert "a.en has 3 lines" in told
    assert "a.de has 1: line 2 is the first without a partner" in told


def test_empty_corpora(pair: Callable[..., Corpus], tmp_path: Path) -> None:
    assert "a.en holds no pair of sentences" in amiss(pair(b"", b""))
    (tmp_path / "a.tsv").write_bytes(b"")
    assert "a.tsv holds no pair" in amiss(Corpus(tmp_path / "a.tsv"))


def test_one_file_for_both_sides_is_noted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    notes: list[str] = []
    inspect_corpora([Corpus(tmp_path / "a.txt", tmp_path / "a.txt")], notes.append)
    (note,) = notes
    assert "a.txt is both source and target" in note


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [("gz", gzip.compress), ("xz", lzma.compress), ("zst", zstd.compress)],
)
def test_a_file_that_is_cut_short_is_told_with_its_last_whole_line(
    tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]
) -> None:
    file = tmp_path / f"a.txt.{suffix}"
    whole = compress(LINES)
    file.write_bytes(whole)
    assert count_lines(file) == 20_000
    file.write_bytes(whole[:-2])
    with pytest.raises(DataError, match=r"cut short after line (\d+) ") as ended:
        count_lines(file)
    number = int(str(ended.value).partition("after line ")[2].split()[0])
    assert 15_000 < number <= 20_000
    assert "cut short after line" in amiss(Corpus(file, file))


def test_members_of_gzip_one_behind_the_other(tmp_path: Path) -> None:
    file = tmp_path / "a.gz"
    file.write_bytes(gzip.compress(b"a\nb\n") + gzip.compress(b"c") + bytes(100))
    assert count_lines(file) == 3
