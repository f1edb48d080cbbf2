import gzip
import json
from pathlib import Path

import pytest

from allyouneed.data.corpus import Corpus
from allyouneed.data.filters import Filters
from allyouneed.data.readers import read_pairs
from allyouneed.data.shards import shards
from allyouneed.data.store import build_store
from allyouneed.errors import DataError


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Three shards a side, written in another order than that of their names."""
    sides = tmp_path / "en", tmp_path / "de"
    for folder in sides:
        folder.mkdir()
    for name in ("10", "2", "1"):
        (sides[0] / f"{name}.en").write_text(f"{name} one\n{name} two\n")
        (sides[1] / f"part-{name}.gz").write_bytes(
            gzip.compress(f"{name} eins\n{name} zwei\n".encode())
        )
    return sides


def read(corpus: Corpus) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for part in shards(corpus) for pair in read_pairs(part)]


def test_a_file_is_its_own_only_shard(tmp_path):
    for corpus in (Corpus(tmp_path / "a.tsv"), Corpus(made="copy")):
        assert shards(corpus) == [corpus]


def test_two_folders_go_side_by_side_in_the_order_of_names(folders):
    parts = shards(Corpus(*folders, weight=2.0))
    assert [part.files[0].name for part in parts] == ["1.en", "10.en", "2.en"]
    assert {part.weight for part in parts} == {2.0}
    pairs = read(Corpus(*folders))
    assert pairs[0] == ("1 one", "1 eins")
    assert [source.split()[0] for source, _ in pairs] == ["1", "1", "10", "10", "2", "2"]
    assert all(source.split()[0] == target.split()[0] for source, target in pairs)


def test_files_with_both_sides_go_by_their_suffix_or_the_format(tmp_path):
    (tmp_path / "b.jsonl").write_text(json.dumps({"source": "c", "target": "d"}) + "\n")
    (tmp_path / "a.tsv").write_text("a\tb\n")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".DS_Store").write_text("")
    assert read(Corpus(tmp_path)) == [("a", "b"), ("c", "d")]
    (tmp_path / "b.jsonl").rename(tmp_path / "b")
    (tmp_path / "b").write_text("e\tf\n")
    assert read(Corpus(tmp_path, format="tsv")) == [("a", "b"), ("e", "f")]
    with pytest.raises(DataError, match=r"/b: the target sentences are missing"):
        shards(Corpus(tmp_path))


def test_parquet_shards(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    from pyarrow import parquet

    for name in "ba":
        parquet.write_table(
            pyarrow.table({"source": [name], "target": ["x"]}), tmp_path / f"{name}.parquet"
        )
    assert read(Corpus(tmp_path)) == [("a", "x"), ("b", "x")]


def test_a_line_too_many_is_named_by_file_and_line(folders):
    with (folders[0] / "10.en").open("a") as file:
        file.write("10 three\n")
    with pytest.raises(DataError, match=r"10\.en has 3 lines, .*part-10\.gz has 2: line 3"):
        read(Corpus(*folders))


def test_a_file_too_many_is_named(folders):
    (folders[1] / "part-3.gz").write_bytes(gzip.compress(b""))
    with pytest.raises(DataError, match=r"de has 4 files, .*en has 3: part-3\.gz is the first"):
        shards(Corpus(*folders))


def test_folders_that_cannot_be_read(folders, tmp_path):
    (folders[0] / "more").mkdir()
    with pytest.raises(DataError, match=r"en/more is not a file"):
        shards(Corpus(*folders))
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"de is a folder and .*/file is a file"):
        shards(Corpus(tmp_path / "file", folders[1]))
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match=r"none has no files"):
        shards(Corpus(tmp_path / "none"))


def test_what_is_called_like_a_folder_and_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"shards: no such file"):
        read(Corpus(tmp_path / "shards"))
    (tmp_path / "words").write_text("a\n")
    with pytest.raises(DataError, match=r"words: the target sentences are missing"):
        Corpus(tmp_path / "words")


def test_a_store_knows_the_file_of_each_pair(folders, tokenizer, tmp_path):
    (folders[0] / "2.en").write_text("2 one\n\n")
    corpora = shards(Corpus(*folders))
    store = build_store(corpora, tokenizer, Filters(), tmp_path / "cache")
    assert len(store) == 5
    assert store.line_of(4) == (str(folders[0] / "2.en"), 1)
    assert f"{folders[0] / '2.en'}:2 target: '2 zwei'" in str(store.report)
    (folders[0] / "3.en").write_text("3\n")
    (folders[1] / "part-3.gz").write_bytes(gzip.compress(b"3\n"))
    more = build_store(shards(Corpus(*folders)), tokenizer, Filters(), tmp_path / "cache")
    assert more.folder != store.folder


def test_a_report_of_many_shards_stays_short(tmp_path, tokenizer):
    for n in range(30):
        (tmp_path / f"{n:02}.tsv").write_text(f"{n}\t{n}\n")
    store = build_store(shards(Corpus(tmp_path)), tokenizer, Filters(), tmp_path / "cache")
    told = str(store.report).splitlines()
    assert told[0] == "kept 30 of 30 pairs"
    assert len(told) == 12
    assert told[-1] == "  and 20 more"
