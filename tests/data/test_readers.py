import builtins
import gzip
import json
import lzma

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allyouneed.data.corpus import Corpus, Pair
from allyouneed.data.lines import zstd
from allyouneed.data.readers import read_pairs
from allyouneed.data.report import DataReport
from allyouneed.errors import DataError

COMPRESS = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstd.compress,
}


def two_files(folder, source: bytes, target: bytes, suffix: str = "") -> Corpus:
    paths = [folder / f"text.en{suffix}", folder / f"text.de{suffix}"]
    for path, content in zip(paths, (source, target), strict=True):
        path.write_bytes(COMPRESS[suffix](content))
    return Corpus(*paths)


def report_for(corpus: Corpus) -> DataReport:
    return DataReport([corpus.name])


@pytest.mark.parametrize("suffix", COMPRESS)
def test_every_compression_reads_the_same(tmp_path, suffix):
    corpus = two_files(tmp_path, "one\ntwö\n".encode(), b"eins\nzwei", suffix)
    assert list(read_pairs(corpus)) == [Pair("one", "eins", 1), Pair("twö", "zwei", 2)]


@pytest.mark.parametrize("suffix", [".tsv.gz", ".jsonl.xz", ".jsonl.zst", ".tsv"])
def test_one_file_with_both_sides(tmp_path, suffix):
    pairs = [("a b", "c"), ("ü\u2028", "\x85 d")]
    if suffix.startswith(".tsv"):
        text = "".join(f"{s}\t{t}\n" for s, t in pairs)
    else:
        text = "".join(json.dumps({"target": t, "n": 1, "source": s}) + "\n" for s, t in pairs)
    path = tmp_path / f"text{suffix}"
    path.write_bytes(COMPRESS[suffix[suffix.rindex(".") :].replace(".tsv", "")](text.encode()))
    assert [(p.source, p.target) for p in read_pairs(Corpus(path))] == pairs


LINE = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=20)


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(lines=st.lists(LINE, min_size=1), suffix=st.sampled_from(sorted(COMPRESS)))
def test_lines_end_at_newline_alone_and_come_back_exactly(tmp_path, lines, suffix):
    content = "".join(line + "\n" for line in lines).encode()
    corpus = two_files(tmp_path, content, content, suffix)
    report = report_for(corpus)
    read = [pair.source for pair in read_pairs(corpus, report)]
    expected = [line.removesuffix("\r") for line in lines]
    expected[0] = lines[0].removeprefix("\ufeff").removesuffix("\r")
    assert read == expected
    changed = sum(line.endswith("\r") for line in lines)
    marks = lines[0].startswith("\ufeff")
    assert sum(tally.count for tally in report.notes.values()) == 2 * (changed + marks)


def test_zst_of_several_frames(tmp_path):
    path = tmp_path / "a.tsv.zst"
    compress = zstd.compress
    path.write_bytes(compress(b"a\tb\nc") + compress(b"\td\n") + compress(b""))
    assert [pair.source for pair in read_pairs(Corpus(path))] == ["a", "c"]


def test_empty_files_hold_no_pair(tmp_path):
    for suffix in COMPRESS:
        assert list(read_pairs(two_files(tmp_path, b"", b"", suffix))) == []


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_a_file_cut_short_is_an_error_at_every_length(tmp_path, suffix):
    path = tmp_path / f"a.tsv{suffix}"
    whole = COMPRESS[suffix](b"".join(b"%d\t%d\n" % (n, n * n) for n in range(300)))
    for length in range(1, len(whole), 37):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError, match=r"a\.tsv.*damaged or cut short after line \d+"):
            list(read_pairs(Corpus(path)))


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_a_flipped_bit_is_an_error(tmp_path, suffix):
    path = tmp_path / f"a.tsv{suffix}"
    whole = COMPRESS[suffix](b"".join(b"%d\t%d\n" % (n, n * n) for n in range(300)))
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 16]) + whole[middle + 1 :])
    with pytest.raises(DataError, match=r"a\.tsv"):
        list(read_pairs(Corpus(path)))


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_a_file_that_is_not_compressed_at_all(tmp_path, suffix):
    path = tmp_path / f"a.tsv{suffix}"
    path.write_bytes(b"a\tb\n")
    with pytest.raises(DataError, match=f"a.tsv{suffix}"):
        list(read_pairs(Corpus(path)))


@pytest.mark.parametrize(("left", "right", "first"), [(5, 3, 4), (3, 5, 4), (0, 2, 1)])
def test_different_line_counts(tmp_path, left, right, first):
    corpus = two_files(tmp_path, b"x\n" * left, b"y\n" * right)
    with pytest.raises(DataError) as caught:
        list(read_pairs(corpus))
    message = str(caught.value)
    assert f"line {first}" in message
    assert f"has {max(left, right)} lines" in message
    assert f"has {min(left, right)}:" in message
    assert message.index("text.en" if left > right else "text.de") == message.index("text.")


def test_suffixes_may_be_in_capitals(tmp_path):
    path = tmp_path / "PAIRS.TSV.GZ"
    path.write_bytes(gzip.compress(b"hi\thello\n"))
    assert list(read_pairs(Corpus(path))) == [Pair("hi", "hello", 1)]


def test_utf16_is_told_from_others(tmp_path):
    with pytest.raises(DataError, match="iconv -f UTF-16 -t UTF-8"):
        list(read_pairs(two_files(tmp_path, b".\n", "wie\n".encode("utf-16"))))


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"fine\nna\xefve\n", r"text\.de:2: byte 3 of the line \(0xEF\)"),
        (b"\xef\xbb\xbf\xff\n.\n", r"text\.de:1: byte 4 of the line \(0xFF\)"),
        (b"\xff\xfea\x00\n.\n", r"text\.de:1: byte 1 of the line \(0xFF\)"),
        (b".\ncut \xc3", r"text\.de:2: byte 5 of the line \(0xC3\)"),
        (b".\n\xed\xa0\x80", r"text\.de:2: byte 1 of the line \(0xED\)"),
    ],
)
def test_not_utf8_names_file_line_and_byte(tmp_path, content, place):
    corpus = two_files(tmp_path, b".\n.\n", content)
    with pytest.raises(DataError, match=place + r".*iconv"):
        list(read_pairs(corpus))


@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl.gz", "a.tsv.xz", "a.tsv.zst", "a.parquet"])
def test_a_missing_file_names_the_remedy(tmp_path, name):
    with pytest.raises(DataError, match=rf"{name}: no such file.*ALLYOUNEED_DATA"):
        list(read_pairs(Corpus(tmp_path / name)))


def test_a_folder_is_no_corpus(tmp_path):
    (tmp_path / "a.tsv").mkdir()
    with pytest.raises(DataError, match=r"a\.tsv is a folder; name a file in it"):
        list(read_pairs(Corpus(tmp_path / "a.tsv")))


def test_marks_and_carriage_returns_are_noted(tmp_path):
    corpus = two_files(tmp_path, b"\xef\xbb\xbfa\r\nb\rc\r\r\n", b"\xef\xbb\xbfd\n\xef\xbb\xbf\r")
    report = report_for(corpus)
    assert list(read_pairs(corpus, report)) == [Pair("a", "d", 1), Pair("b\rc\r", "\ufeff", 2)]
    counts = {what: tally.count for what, tally in report.notes.items()}
    assert counts == {
        "byte order mark removed": 2,
        "carriage return before the line end removed": 3,
    }
    assert "text.de" in str(report)


def test_nul_bytes_and_long_lines_pass(tmp_path):
    long = "x" * 100_000
    corpus = two_files(tmp_path, f"a\0b\n{long}\n".encode(), b"\0\n.\n")
    assert list(read_pairs(corpus)) == [Pair("a\0b", "\0", 1), Pair(long, ".", 2)]


def test_tsv_lines_without_two_columns(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_bytes(b"a\tb\nalone\nx\ty\tz\n\nc\td\n")
    report = report_for(Corpus(path))
    assert [pair.line for pair in read_pairs(Corpus(path), report)] == [1, 5]
    assert report.left_out["malformed"].examples == [
        (0, 2, "has 1 columns, not the 2 of source<TAB>target"),
        (0, 3, "has 3 columns, not the 2 of source<TAB>target"),
        (0, 4, "has 1 columns, not the 2 of source<TAB>target"),
    ]
    with pytest.raises(DataError, match=r"a\.tsv:2: has 1 columns"):
        list(read_pairs(Corpus(path)))


def test_quotes_of_a_spreadsheet_are_noted_and_read_if_the_corpus_says_so(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text('He said "no".\t"Il dit ""non""."\n"a" and "b"\t"c"\n""\t"\n')
    report = report_for(Corpus(path))
    assert next(read_pairs(Corpus(path))).target == '"Il dit ""non""."'
    assert len(list(read_pairs(Corpus(path), report))) == 3
    assert "quoted = true" in str(report)
    assert [(pair.source, pair.target) for pair in read_pairs(Corpus(path, quoted=True))] == [
        ('He said "no".', 'Il dit "non".'),
        ('"a" and "b"', '"c"'),
        ('""', '"'),
    ]
    with pytest.raises(DataError, match="quoted=True is for pairs in TSV, but these are csv"):
        Corpus(tmp_path / "a.csv", quoted=True)
    with pytest.raises(DataError, match="but these are turns of dialogues"):
        Corpus(path, quoted=True, turn_fields=("1", "2", "3"))
    with pytest.raises(DataError, match="but these are made"):
        Corpus(made="copy", quoted=True)


def test_tsv_columns_by_number(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_bytes(b"1\tcat\tKatze\n2\tdog\n")
    corpus = Corpus(path, source_field="3", target_field="2")
    report = report_for(corpus)
    assert list(read_pairs(corpus, report)) == [Pair("Katze", "cat", 1)]
    assert report.left_out["malformed"].examples == [(0, 2, "has 2 columns, not 3 or more")]


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        ("{", "is not JSON"),
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1]", "is not a JSON object"),
        ('{"sorce": "a", "target": "b"}', 'did you mean "sorce"'),
        ('{"en": "a", "de": "b"}', "it has en, de"),
        ('{"source": null, "target": "b"}', "holds NoneType"),
        ('{"source": "a", "target": 5}', '"target" holds int'),
    ],
)
def test_json_lines_that_hold_no_pair(tmp_path, line, detail):
    path = tmp_path / "a.jsonl"
    path.write_text(line + '\n{"source": "a", "target": "b"}\n')
    report = report_for(Corpus(path))
    assert list(read_pairs(Corpus(path), report)) == [Pair("a", "b", 2)]
    [(_, number, told)] = report.left_out["malformed"].examples
    assert number == 1
    assert detail in told
    with pytest.raises(DataError, match=r"a\.jsonl:1"):
        list(read_pairs(Corpus(path)))


def test_lone_surrogates_in_json_are_replaced_and_noted(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"source": "a\\ud800", "target": "\\ud83d\\ude00"}\n')
    report = report_for(Corpus(path))
    assert list(read_pairs(Corpus(path), report)) == [Pair("a\ufffd", "😀", 1)]
    assert report.notes["lone surrogates replaced by U+FFFD"].count == 1


def write_parquet(path, **columns):
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), path)
    return path


def test_parquet(tmp_path):
    path = write_parquet(tmp_path / "a.parquet", en=["a\nb", None], x=[1, 2], de=["c", "d"])
    corpus = Corpus(path, source_field="en", target_field="de")
    report = report_for(corpus)
    assert list(read_pairs(corpus, report)) == [Pair("a\nb", "c", 1)]
    assert report.left_out["malformed"].count == 1
    with pytest.raises(DataError, match=r'no column "source"; it has en, x, de'):
        list(read_pairs(Corpus(path)))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"a\.parquet cannot be read as Parquet after row 0"):
        list(read_pairs(corpus))


def test_parquet_without_pyarrow_names_the_command(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **named):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DataError, match=r'pip install "allyouneed\[parquet\]"'):
        list(read_pairs(Corpus(tmp_path / "a.parquet")))


def test_made_pairs_come_without_a_file():
    reverse = list(read_pairs(Corpus(made="reverse", pairs=50, seed=3)))
    copy = list(read_pairs(Corpus(made="copy", pairs=50, seed=3)))
    assert [pair.line for pair in reverse] == list(range(1, 51))
    assert all(pair.target == pair.source[::-1] for pair in reverse)
    assert all(pair.target == pair.source for pair in copy)
    assert reverse == list(read_pairs(Corpus(made="reverse", pairs=90, seed=3)))[:50]
    assert reverse != list(read_pairs(Corpus(made="reverse", pairs=50, seed=4)))


def test_made_pairs_are_a_promise():
    first = next(read_pairs(Corpus(made="reverse", pairs=1, seed=0)))
    assert first == Pair("m g e i g m e", "e m g i e g m", 1)


def test_csv_is_read_by_the_names_of_its_first_line(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text('in,out,more\nhi,"hello, there",1\n"a\nb",c,2\nshort,row\n', encoding="utf-8")
    report = DataReport(["pairs"])
    corpus = Corpus(path, source_field="in", target_field="out")
    assert list(read_pairs(corpus, report)) == [Pair("hi", "hello, there", 2), Pair("a\nb", "c", 3)]
    assert report.left_out["malformed"].examples == [(0, 5, "has 2 columns, not 3")]


def test_csv_without_the_column_says_which_there_are(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("in,out\nhi,hello\n", encoding="utf-8")
    with pytest.raises(DataError, match='no column "source"; it has in, out'):
        list(read_pairs(Corpus(path)))
    path.write_text("source;target\na;b\n")
    with pytest.raises(
        DataError, match='no column "source"; its columns are separated by semicolons'
    ):
        list(read_pairs(Corpus(path)))


def test_a_row_that_is_no_csv_is_left_out(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text('source,target\n"a"b,c\nd,e\n', encoding="utf-8")
    report = DataReport(["pairs"])
    assert list(read_pairs(Corpus(path), report)) == [Pair("d", "e", 3)]
    assert "is not CSV" in report.left_out["malformed"].examples[0][2]


def test_a_quote_too_many_says_which_lines_it_swallowed(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text('source,target\na,"b\nb"\nc,"d\n' + "e,f\n" * 9, encoding="utf-8")
    report = DataReport(["pairs"])
    assert list(read_pairs(Corpus(path), report)) == [Pair("a", "b\nb", 2)]
    assert report.left_out["malformed"].count == 10  # all that it swallowed
    (_, line, said), *_ = report.left_out["malformed"].examples
    assert line == 4
    assert said.startswith("to line 13 is not CSV")
