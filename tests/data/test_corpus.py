from pathlib import Path

import pytest

from allyouneed.data.corpus import Corpus
from allyouneed.errors import DataError


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.tsv", "tsv"),
        ("a.tsv.gz", "tsv"),
        ("a.en-de.tsv.zst", "tsv"),
        ("a.jsonl.xz", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.parquet", "parquet"),
    ],
)
def test_the_suffix_names_the_format(name, format):
    assert Corpus(Path(name)).resolved_format == format


def test_two_files_are_plain_text():
    corpus = Corpus(Path("a.en.gz"), Path("a.de.gz"))
    assert corpus.resolved_format == "text"
    assert corpus.files == [Path("a.en.gz"), Path("a.de.gz")]


def test_a_given_format_beats_the_suffix():
    assert Corpus(Path("a.tsv"), Path("b.tsv"), format="text").resolved_format == "text"
    assert Corpus(Path("a.txt"), format="jsonl").resolved_format == "jsonl"


@pytest.mark.parametrize("name", ["europarl-v7.de-en", "shards", "part.1", "books.v2.EN"])
def test_what_is_not_there_may_be_a_folder_by_any_name_but_a_files(name):
    assert Corpus(Path(name)).resolved_format == "text"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ["has no source", "back_translate"]),
        ({"source": Path("a.tsv"), "made": "copy"}, ["a.tsv", "copy"]),
        ({"source": Path("a.txt")}, ["a.txt", "name a target file"]),
        ({"source": Path("a.en.gz")}, ["a.en.gz", "name a target file"]),
        ({"source": Path("a.TXT")}, ["a.TXT", "name a target file"]),
        ({"source": Path("a.tsv"), "target": Path("b")}, ["a.tsv", "tsv", 'format="text"']),
        ({"source": Path("a.tsv"), "weight": 0}, ["a.tsv", "weight=0"]),
        ({"source": Path("a.tsv"), "weight": float("nan")}, ["weight=nan"]),
        ({"source": Path("a.tsv"), "format": "xls"}, ["xls", "tsv, csv"]),
        ({"source": Path("a.tsv"), "source_field": "en"}, ["a.tsv", "'en'", 'counted from "1"']),
        ({"source": Path("a.tsv"), "source_field": "0", "target_field": "1"}, ["'0'"]),
        ({"made": "sort"}, ["sort", "is not one of copy, reverse"]),
        ({"made": "copy", "pairs": 0}, ["pairs=0"]),
        ({"made": "copy", "format": "tsv"}, ["need no target and no format"]),
    ],
)
def test_what_does_not_fit_is_named(arguments, words):
    with pytest.raises(DataError) as caught:
        Corpus(**arguments)
    for word in words:
        assert word in str(caught.value)
