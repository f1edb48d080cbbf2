"""CSV and TSV: the cells change, and nothing else."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from allyouneed.documents.cells import read_csv, read_tsv
from allyouneed.documents.formats import format_of
from allyouneed.errors import DataError, UsageError

GOODS = (
    "sku,name,description,price,link\r\n"
    'A-1,Red bike,"A bike, ""as new""",12.50,https://a.example/1\r\n'
    'B_2,Lamp,"Two\r\nlines",9,=SUM(D2:D3)\r\n'
)


def translated(data: str, **named: object) -> str:
    document = read_csv(data.encode(), **named)  # type: ignore[arg-type]
    for passage in document.passages:
        passage.target = tuple(
            node.upper() if isinstance(node, str) else node for node in passage.nodes
        )
    return document.written().decode()


def test_the_cells_with_words_are_translated() -> None:
    assert translated(GOODS) == (
        "sku,name,description,price,link\r\n"
        'A-1,RED BIKE,"A BIKE, ""AS NEW""",12.50,https://a.example/1\r\n'
        'B_2,LAMP,"TWO\r\nLINES",9,=SUM(D2:D3)\r\n'
    )


def test_named_columns_alone() -> None:
    found = translated(GOODS, keys=["description"])
    assert "Red bike" in found
    assert "TWO\r\nLINES" in found
    document = read_csv(GOODS.encode(), ["name"])
    assert [passage.where for passage in document.passages] == [
        "row 2, column 2",
        "row 3, column 2",
    ]
    assert "names the columns: sku, name, description, price, link" in document.notes[0]


def test_a_column_that_is_not_there_is_an_error() -> None:
    with pytest.raises(DataError, match="no column is called title; the columns are sku, name,"):
        read_csv(GOODS.encode(), ["title"])
    with pytest.raises(DataError, match="its first row names no columns"):
        read_csv(b"A dog barks.,Two\nA cat,Three\n", ["title"])


def test_a_first_row_of_sentences_is_translated() -> None:
    assert translated("A dog barks.;Yes.\nNo;Perhaps\n") == "A DOG BARKS.;YES.\nNO;PERHAPS\n"
    assert translated("\ufeffOne line that is by itself.\n").startswith("\ufeffONE LINE")


@pytest.mark.parametrize("sign", list(",;\t|"))
def test_the_separator_is_found(sign: str) -> None:
    lines = [["id", "text"], ["1", "a, b; c"], ["2", "d|e\tf"]]
    data = "\n".join(sign.join(f'"{cell}"' for cell in line) for line in lines)
    assert [passage.where for passage in read_csv(data.encode()).passages] == [
        "row 2, column 2",
        "row 3, column 2",
    ]


def test_a_cell_keeps_its_quotes() -> None:
    assert translated('id,text\n1,"dog"\n2,cat\n') == 'id,text\n1,"DOG"\n2,CAT\n'


def test_tabs_alone_separate_the_cells_of_tsv() -> None:
    found = read_tsv(b"id\ttext\n1\tone, two, three\n").passages
    assert [passage.text for passage in found] == ["one, two, three"]


def test_a_wanted_column_makes_names_of_the_first_row() -> None:
    data = "\ufeffsku,Which of all the colours do you like best?\n1,blue\n".encode()
    assert len(read_csv(data).passages) == 3
    assert read_csv(data, ["sku"]).passages == []


def test_a_translation_with_a_separator_gets_quotes() -> None:
    document = read_csv(b"id,text\n1,word\n")
    document.passages[0].target = ('one, "two"',)
    assert document.written() == b'id,text\n1,"one, ""two"""\n'


def test_a_quote_that_is_not_closed_is_a_sign_of_its_cell() -> None:
    assert translated('id,text\n1,5" wide\n2,done\n') == 'id,text\n1,5" WIDE\n2,DONE\n'
    assert translated('id,text\n1,"open\n2,done\n') == 'id,text\n1,"OPEN\n2,DONE\n'


def test_spaces_around_a_cell_in_quotes_stay() -> None:
    assert translated('id, text\n1, "a, b" , c\n') == 'id, text\n1, "A, B" , C\n'


@pytest.mark.parametrize(
    ("data", "texts", "said", "written"),
    [
        (r'"say \"hi\", or go"', ['say "hi", or go'], '"a" \\', r'"\"a\" \\"'),
        (r'"C:\" is a folder', [r'"C:\" is a folder'], "no", "no"),
        ('"the folder C:\\","a ""b"" c"', ["the folder C:\\", 'a "b" c'], 'x "', '"x """'),
    ],
    ids=["backslashes", "a bare cell", "doubled quotes"],
)
def test_how_quotes_inside_a_cell_are_written(
    data: str, texts: list[str], said: str, written: str
) -> None:
    document = read_csv(f"id,text,text\n1,{data}\n".encode())
    assert [one.text for one in document.passages] == texts
    document.passages[0].target = (said,)
    assert f"\n1,{written}" in document.written().decode()


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("id;text\n1;The dog, big.\n\n2;A cat\n", ["The dog, big.", "A cat"]),
        ("Report\nid;text\n1;one, two\n2;x, y\n", ["Report", "id", "text", "one, two", "x, y"]),
        ("Apfel, rot;1,50;2,50\nBirne, gelb;3,20;4,10\n", ["Apfel, rot", "Birne, gelb"]),
        (",text\n0,A dog runs.\n", ["A dog runs."]),
        ("id,text,\n1,dog,\n", ["dog"]),
        ("id,text,text\n1,dog,cat\n", ["dog", "cat"]),
        ("42,A short name\n43,Other\n", ["A short name", "Other"]),
        (
            "id,text\n1,<b>Hello</b>\n2,yes/no\n3,5th\n4,and/or\n",
            ["Hello", "yes/no", "5th", "and/or"],
        ),
        ("rot;1,50;2,50\ngelb;3,20;4,10\n", ["rot", "gelb"]),
        ("One.;b,c\ntwo;e,f,g\n", ["One.", "b,c", "two", "e,f,g"]),
        ("one.;a, b;c\ntwo;a, b, c;d\n", ["one.", "a, b", "c", "two", "a, b, c", "d"]),
        ("id,text\n1,=A1 and B1\n2,=SUM(a)\n3,dog\n", ["dog"]),
        ("id,text\n1,a/b/c\n2,a_b\n3,A-1\n4,x@y.org\n5,shot.png\n6,1.2.x\n", []),
        (f"id,text\n1,{'0' * 50_000} x\n2,{'a' * 50_000}\n", ["0" * 50_000 + " x"]),
    ],
)
def test_what_is_a_name_and_what_is_a_text(data: str, found: list[str]) -> None:
    passages = read_csv(data.encode()).passages
    assert [one.text for one in passages] == found


signs = st.characters(codec="utf-8", exclude_characters="\0")
of_cells = st.characters(codec="utf-8", exclude_characters="\0;\t|")  # no other separator


@settings(max_examples=300, deadline=None)
@given(
    rows=st.lists(st.lists(st.text(of_cells, max_size=8), min_size=2, max_size=3), max_size=4),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    said=st.text(signs, min_size=1, max_size=9),
)
@example(rows=[["", "|"], ["", "|"], ["", "", "0"]], quoting=csv.QUOTE_MINIMAL, said="0")
def test_the_table_keeps_its_shape(rows: list[list[str]], quoting: int, said: str) -> None:
    out = io.StringIO()
    csv.writer(out, quoting=quoting).writerows([["id", "first", "second"], *rows])  # type: ignore[arg-type]
    source = out.getvalue().encode()
    for read in (read_csv, read_tsv):
        assert read(source).written() == source
    document = read_csv(source)
    for passage in document.passages:
        passage.target = (said,)
    found = list(csv.reader(io.StringIO(document.written().decode(), newline="")))
    before = list(csv.reader(io.StringIO(source.decode(), newline="")))
    assert [len(row) for row in found] == [len(row) for row in before]


def test_older_formats_are_told_what_to_become() -> None:
    with pytest.raises(UsageError, match=r"no format has the ending \.doc; save it as \.docx, or"):
        format_of(Path("report.doc"))


@pytest.mark.parametrize(
    ("ending", "newer"), [("docm", "docx"), ("XLSM", "xlsx"), ("pptm", "pptx")]
)
def test_files_with_macros_are_told_what_to_become(ending: str, newer: str) -> None:
    said = rf"report\.{ending}: files with macros are not read; save it as \.{newer}$"
    with pytest.raises(UsageError, match=said):
        format_of(Path(f"report.{ending}"))
