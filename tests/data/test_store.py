import hashlib
import json
import os
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allyouneed.data import duplicates, store_writer
from allyouneed.data.corpus import Corpus
from allyouneed.data.filters import Filters
from allyouneed.data.report import DataReport
from allyouneed.data.root import data_root
from allyouneed.data.store import TokenStore, build_store
from allyouneed.errors import DataError
from allyouneed.pipeline import at_work
from allyouneed.text.tokenizer import Tokenizer

# Another process: builds a store of made pairs in folder argv[1] with a tokenizer that says on
# standard output when it is asked, and does argv[2] then.
ANOTHER_PROCESS = """
import os, resource, signal, sys, time
from pathlib import Path
from allyouneed.data import store_writer
from allyouneed.data.corpus import Corpus
from allyouneed.data.filters import Filters
from allyouneed.data.store import build_store
from allyouneed.errors import DataError

store_writer.CHUNK_PAIRS = 100

class Bytes:
    calls = 0
    def encode_ids(self, texts):
        self.calls += 1
        if self.calls == 1:
            print("tokenising", flush=True)
        if self.calls == 4 and sys.argv[2] == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if sys.argv[2] == "linger":
            time.sleep(0.05)
        return [[4 + byte for byte in text.encode()] + [2] for text in texts]
    def fingerprint(self):
        return "bytes"
    def __len__(self):
        return 260

if sys.argv[2] == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
try:
    store = build_store([Corpus(made="copy", pairs=600)], Bytes(), Filters(), Path(sys.argv[1]))
    print(len(store))
except DataError as error:
    print(error)
"""


def another_process(cache: Path, deed: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", ANOTHER_PROCESS, str(cache), deed]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def folders(cache: Path) -> list[Path]:
    return [path for path in cache.iterdir() if path.is_dir()]


def write(path: Path, text: str, age_s: float = 60) -> Path:
    """A file that was last changed a while ago, so that its hash is remembered."""
    path.write_text(text, newline="")
    changed = path.stat().st_mtime_ns - int(age_s * 1e9)
    os.utime(path, ns=(changed, changed))
    return path


def test_what_is_kept_and_what_is_not(tmp_path, tokenizer):
    first = write(tmp_path / "a.tsv", "a\tb\n \tx\nno tab\na\tb\nc\td\n")
    second = write(tmp_path / "b.tsv", f"c\td\n{'x' * 40}\t{'y' * 40}\nx\t{'y' * 20}\ne\tf\n\t\n")
    filters = Filters(max_tokens=30, max_ratio=2, ratio_slack=3)
    store = build_store([Corpus(first), Corpus(second)], tokenizer, filters, tmp_path / "cache")
    assert [store.line_of(n) for n in range(len(store))] == [
        (str(first), 1),
        (str(first), 5),
        (str(second), 4),
    ]
    assert [store.corpus_of(n) for n in range(3)] == [0, 0, 1]
    report = store.report
    assert {reason: tally.count for reason, tally in report.left_out.items()} == {
        "empty source": 2,
        "malformed": 1,
        "duplicate": 2,
        "too long": 1,
        "length ratio": 1,
    }
    assert (report.read, report.kept, report.kept_by_corpus) == (10, 3, [2, 1])
    assert f"{second}:3 2 and 21 tokens, max_ratio=2" in str(report)
    assert "kept 3 of 10 pairs" in str(report)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    pairs=st.lists(
        st.tuples(*[st.text(st.characters(exclude_characters="\t\n\r\ufeff", codec="utf-8"))] * 2),
        min_size=1,
        max_size=12,
    )
)
def test_a_store_holds_what_the_tokenizer_says(store_of, tokenizer, pairs):
    store = store_of(pairs)
    assert len(store) == len(pairs)
    for number, texts in enumerate(pairs):
        ids = [side.tolist() for side in store.pair(number)]
        assert ids == tokenizer.encode_ids(texts)
        assert [tokenizer.decode(side) for side in ids] == list(texts)
    lengths = [[len(ids) for ids in tokenizer.encode_ids(texts)] for texts in pairs]
    assert np.stack(store.lengths(), axis=1).tolist() == lengths


def test_the_real_tokenizer(tmp_path):
    corpus = Corpus(made="reverse", pairs=200)
    tokenizer = Tokenizer.train(["a b c d e f g h i j k l m n o p"], 300)
    store = build_store([corpus], tokenizer, Filters(), tmp_path)
    source, target = store.pair(0)
    assert tokenizer.decode(source.tolist()) == "m g e i g m e"
    assert tokenizer.decode(target.tolist()) == "e m g i e g m"
    assert source[-1] == target[-1] == Tokenizer.END


@pytest.mark.parametrize(("vocabulary", "size"), [(65_536, 2), (65_537, 4)])
def test_ids_take_two_bytes_while_they_fit(tmp_path, make_tokenizer, vocabulary, size):
    store = build_store(
        [Corpus(made="copy", pairs=9)], make_tokenizer(vocabulary), Filters(), tmp_path
    )
    assert store.pair(0)[0].dtype.itemsize == size


def test_pairs_outside_are_an_error_and_ids_cannot_be_changed(store_of):
    store = store_of([("a", "b")])
    for index in (-1, 1):
        with pytest.raises(IndexError, match=f"pair {index} of a store of 1"):
            store.pair(index)
    with pytest.raises(ValueError, match="read-only"):
        store.pair(0)[0][0] = 5


def test_a_second_start_reads_nothing(tmp_path, tokenizer, monkeypatch):
    path = write(tmp_path / "a.tsv", "a\tb\n\tx\n")
    cache = tmp_path / "cache"
    first = build_store([Corpus(path)], tokenizer, Filters(), cache)
    calls = tokenizer.calls
    monkeypatch.setattr(hashlib, "file_digest", None)
    again = build_store([Corpus(path, weight=2)], tokenizer, Filters(), cache)
    assert tokenizer.calls == calls
    assert again.folder == first.folder
    assert again.report == first.report


def test_a_copy_elsewhere_is_the_same_store_under_its_own_name(tmp_path, tokenizer):
    build_store([Corpus(write(tmp_path / "a.tsv", "a\tb\n"))], tokenizer, Filters(), tmp_path)
    moved = Corpus(write(tmp_path / "moved.tsv", "a\tb\n"))
    store = build_store([moved], tokenizer, Filters(), tmp_path)
    assert len(folders(tmp_path)) == 1
    assert store.line_of(0) == (str(tmp_path / "moved.tsv"), 1)


def test_whatever_decides_the_content_decides_the_folder(tmp_path, make_tokenizer):
    path = write(tmp_path / "a.tsv", "a\tb\n")
    cache = tmp_path / "cache"

    def folder(corpus=None, tokenizer=None, filters=None) -> Path:
        corpora = [corpus or Corpus(path)]
        return build_store(
            corpora, tokenizer or make_tokenizer(), filters or Filters(), cache
        ).folder

    seen = [folder(), folder(tokenizer=make_tokenizer(name="other"))]
    seen.append(folder(filters=Filters(max_tokens=9)))
    seen.append(folder(Corpus(path, source_field="2", target_field="1")))
    seen.append(folder(Corpus(path, path, format="text")))
    seen.append(folder(Corpus(made="copy")))
    either = write(tmp_path / "either", '{"source": "a",\t"target": "b"}\n')
    seen += [folder(Corpus(either, format="tsv")), folder(Corpus(either, format="jsonl"))]
    seen.append(folder(Corpus(made="copy", seed=1)))
    write(path, "a\tc\n", age_s=50)  # same size
    seen.append(folder())
    assert len(set(seen)) == len(seen) == len(folders(cache))


def test_a_file_changed_just_now_is_read_again(tmp_path, tokenizer):
    path = tmp_path / "a.tsv"
    state = None
    targets = []
    for target in "bc":
        write(path, f"a\t{target}\n", age_s=0)
        if state is not None:
            os.utime(path, ns=state)  # same size, same time: too new to trust
        state = (path.stat().st_mtime_ns,) * 2
        store = build_store([Corpus(path)], tokenizer, Filters(), tmp_path / "cache")
        targets.append(tokenizer.decode(store.pair(0)[1]))
    assert targets == ["b", "c"]


@pytest.mark.parametrize("spoilt", ["{", "[]", '{"x": 1}', "\udcff"])
def test_spoilt_hashes_are_forgotten(tmp_path, tokenizer, spoilt):
    path = write(tmp_path / "a.tsv", "a\tb\n")
    (tmp_path / "hashes.json").write_bytes(spoilt.encode("utf-8", "surrogateescape"))
    assert len(build_store([Corpus(path)], tokenizer, Filters(), tmp_path)) == 1
    assert str(path) in json.loads((tmp_path / "hashes.json").read_text())


@pytest.mark.parametrize(
    "name", ["source_ids", "target_offsets", "lines", "report.json", "store.json"]
)
@pytest.mark.parametrize("missing", [True, False], ids=["missing", "short"])
def test_a_damaged_store_is_made_anew_with_a_remark(tmp_path, tokenizer, name, missing):
    corpora = [Corpus(made="copy", pairs=30)]
    first = build_store(corpora, tokenizer, Filters(), tmp_path)
    wanted = [side.tolist() for side in first.pair(7)]
    damaged = first.folder / name
    if missing:
        damaged.unlink()
    else:
        damaged.write_bytes(damaged.read_bytes()[:-3])
    with pytest.raises(DataError, match="damaged"):
        TokenStore(first.folder)
    store = build_store(corpora, tokenizer, Filters(), tmp_path)
    assert [side.tolist() for side in store.pair(7)] == wanted
    [remark] = store.report.remarks
    assert "made again" in remark
    assert name in remark
    assert build_store(corpora, tokenizer, Filters(), tmp_path).report.remarks == []


def test_nothing_left_is_an_error_with_the_reasons(tmp_path, tokenizer):
    path = write(tmp_path / "a.tsv", "x\ty\tz\n\tb\n")
    with pytest.raises(DataError) as caught:
        build_store([Corpus(path)], tokenizer, Filters(), tmp_path / "cache")
    message = str(caught.value)
    assert "\n" not in message
    assert "read 2 pairs" in message
    assert f"malformed: 1 ({path}:1 has 3 columns" in message
    assert folders(tmp_path / "cache") == []


def test_an_error_in_the_corpus_leaves_nothing_half_there(tmp_path, tokenizer):
    path = tmp_path / "a.tsv"
    path.write_bytes(b"a\tb\n\xff\tb\n")
    with pytest.raises(DataError, match=r"a\.tsv:2: byte 1"):
        build_store([Corpus(path)], tokenizer, Filters(), tmp_path / "cache")
    assert folders(tmp_path / "cache") == []
    with pytest.raises(DataError, match=r"missing\.tsv: no such file"):
        build_store([Corpus(tmp_path / "missing.tsv")], tokenizer, Filters(), tmp_path / "cache")
    os.mkfifo(tmp_path / "pipe.tsv")
    with pytest.raises(DataError, match=r"pipe\.tsv is a folder or a pipe"):
        build_store([Corpus(tmp_path / "pipe.tsv")], tokenizer, Filters(), tmp_path / "cache")
    with pytest.raises(DataError, match="no corpus"):
        build_store([], tokenizer, Filters(), tmp_path / "cache")


@pytest.mark.parametrize("change", ["c\td\n" * 3, "c\td\n"], ids=["longer", "other"])
def test_a_file_that_changes_while_it_is_read(tmp_path, tokenizer, change):
    path = write(tmp_path / "a.tsv", "a\tb\nc\td\n")

    def meddle(stage: str, done: int, total: int | None) -> None:
        write(path, change, age_s=30)

    corpora = [Corpus(made="copy", pairs=9), Corpus(path)]
    with pytest.raises(DataError, match=r"a\.tsv: (changed|grew) while it was read"):
        build_store(corpora, tokenizer, Filters(), tmp_path / "cache", meddle)
    assert folders(tmp_path / "cache") == []


def test_a_cache_folder_that_cannot_be_written(tmp_path, tokenizer):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(DataError, match="cache: the token store cannot be written there"):
        build_store([Corpus(made="copy")], tokenizer, Filters(), tmp_path / "cache")


@pytest.mark.parametrize("wrong", ["text", "tokenizer", "progress"])
def test_an_error_on_the_way_leaves_no_stage_at_work(tmp_path, tokenizer, monkeypatch, wrong):
    monkeypatch.setattr(store_writer, "CHUNK_PAIRS", 10)
    path = write(tmp_path / "a.tsv", "a\tb\n" * 200)
    told = []

    def encode(texts):
        if wrong == "tokenizer":
            raise ValueError("no tokens today")
        return [[2] for _ in texts]

    def progress(stage: str, done: int, total: int | None) -> None:
        told.append(stage)
        if wrong == "text" and len(told) == 15:
            path.write_bytes(b"\xff\n")
        if wrong == "progress" and stage == "tokenising":
            raise ValueError("nobody looks")

    tokenizer.encode_ids = encode
    filters = Filters(drop_duplicates=False)
    corpora = [Corpus(made="copy", pairs=100), Corpus(path)]
    with pytest.raises((DataError, ValueError)):
        build_store(corpora, tokenizer, filters, tmp_path / "cache", progress)
    assert not at_work()
    assert folders(tmp_path / "cache") == []


def test_progress_is_told(tmp_path, tokenizer, monkeypatch):
    monkeypatch.setattr(store_writer, "CHUNK_PAIRS", 10)
    told: list[tuple[str, int, int | None]] = []
    corpora = [Corpus(made="copy", pairs=25)]
    build_store(corpora, tokenizer, Filters(), tmp_path, lambda *news: told.append(news))
    assert told[:2] == [("reading", 10, None), ("reading", 20, None)]
    assert told[2:] == [("tokenising", done, 25) for done in (10, 20, 25)]


def test_a_full_disk_leaves_nothing_half_there(tmp_path):
    process = another_process(tmp_path, "full")
    out, err = process.communicate(timeout=60)
    assert "the token store cannot be written there" in out, err
    assert "free some space" in out
    assert folders(tmp_path) == []


def test_a_killed_build_leaves_no_store_and_no_lock(tmp_path, tokenizer):
    process = another_process(tmp_path, "die")
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    [half] = folders(tmp_path)
    assert half.suffix == ".partial"
    store = build_store([Corpus(made="copy", pairs=600)], tokenizer, Filters(), tmp_path)
    assert len(store) > 590
    assert folders(tmp_path) == [store.folder]


def test_two_processes_at_once_build_once(tmp_path):
    first = another_process(tmp_path, "linger")
    assert first.stdout is not None
    assert first.stdout.readline() == "tokenising\n"
    second = another_process(tmp_path, "linger")
    waiting_out, err = second.communicate(timeout=60)
    built_out, _ = first.communicate(timeout=60)
    assert waiting_out == built_out, err  # the count alone: the second tokenised nothing
    assert int(waiting_out) > 590


def test_memory_does_not_grow_with_the_corpus(tmp_path, tokenizer, monkeypatch):
    monkeypatch.setattr(store_writer, "CHUNK_PAIRS", 100)
    monkeypatch.setattr(duplicates, "CHUNK", 100)

    def peak(pairs: int) -> int:
        tracemalloc.start()
        build_store([Corpus(made="copy", pairs=pairs)], tokenizer, Filters(), tmp_path)
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    peak(100)  # whatever is imported or cached on first use
    assert peak(6000) < 1.2 * peak(600)


def test_a_report_survives_json(store_of):
    report = store_of([("a", "b"), ("", "c\r")]).report
    report.leave_out("duplicate", 0, 3, "")
    assert DataReport.from_dict(json.loads(json.dumps(report.to_dict()))) == report


def test_real_text(tmp_path, tokenizer):
    root = data_root()
    if root is None:
        pytest.skip("no data folder: set ALLYOUNEED_DATA")
    files = [root / "multi30k" / f"val.{side}.gz" for side in ("en", "de")]
    store = build_store([Corpus(*files)], tokenizer, Filters(max_tokens=500), tmp_path)
    assert len(store) == 1014
    assert store.report.left_out == {}
    assert tokenizer.decode(store.pair(0)[0]).startswith("A group of men are loading cotton")


def test_lines_in_another_script_are_counted_or_left_out(tmp_path, tokenizer):
    path = write(tmp_path / "a.tsv", "Where?\tWo?\nГде?\tWo?\n12\t12\n")
    corpus = Corpus(path)
    filters = Filters(languages=("en", "de"))
    kept = build_store([corpus], tokenizer, filters, tmp_path / "cache")
    assert len(kept) == 3
    [[what, tally]] = kept.report.notes.items()
    assert (what, tally.count) == ("source not in the script of en", 1)
    assert tally.examples == [(0, 2, "Cyrillic letters: 'Где?'")]
    dropping = Filters(languages=("en", "de"), drop_other_scripts=True)
    clean = build_store([corpus], tokenizer, dropping, tmp_path / "cache")
    assert len(clean) == 2
    assert clean.report.left_out["source not in the script of en"].count == 1
    assert not clean.report.notes
