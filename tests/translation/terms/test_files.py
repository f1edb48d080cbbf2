"""Glossaries in files, good ones and bad ones."""

import pytest

from allyouneed.errors import DataError
from allyouneed.translation.terms.files import read_glossary

TBX = """<?xml version="1.0"?>
<martif type="TBX" xml:lang="en"><text><body>
<termEntry id="1">
  <langSet xml:lang="en"><tig><term>bike</term></tig>
    <ntig><termGrp><term>bicycle</term></termGrp></ntig></langSet>
  <langSet xml:lang="de-AT"><tig><term>Fahrrad</term></tig>
    <tig><term>Velo</term>
      <termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote></tig>
    <tig><term>R<hi>a</hi>d</term></tig></langSet>
  <langSet xml:lang="fr"><tig><term>vélo</term></tig></langSet>
</termEntry>
<termEntry><langSet xml:lang="en"><tig><term>bike</term></tig></langSet>
  <langSet xml:lang="de"><tig><term>Zweirad</term></tig></langSet></termEntry>
</body></text></martif>"""


def forms(path, *languages):
    return {term.source: term.forms for term in read_glossary(path, *languages).terms}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.tsv", "bike\tRad|Räder\n\nDocker\t\nnew  york\tNeu-York\tnote\n".encode()),
        (
            "a.txt",
            "source\ttarget\r\nbike\tRad|Räder\r\nDocker\tDocker\r\nnew york\tNeu-York".encode(),
        ),
        ("a.tsv", "bike\tRad|Räder\nDocker\t\nnew york\tNeu-York\n".encode("utf-16")),
        ("a.csv", '\ufeffbike,Rad|Räder\n"Docker",\n"new york","Neu-York"\n'.encode()),
        ("a.CSV", "bike;Rad|Räder\nDocker;\nnew york;Neu-York\n".encode()),
    ],
)
def test_tables(name, data, tmp_path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    wanted = {"bike": ("Rad", "Räder"), "Docker": (), "new york": ("Neu-York",)}
    assert forms(path) == wanted


def test_tbx_has_languages_synonyms_and_terms_out_of_use(tmp_path) -> None:
    path = tmp_path / "a.tbx"
    path.write_text(TBX)
    wanted = {"bike": ("Fahrrad", "Rad", "Zweirad"), "bicycle": ("Fahrrad", "Rad")}
    assert forms(path, "en", "de") == wanted
    assert forms(path, "English", "German") == wanted
    assert forms(path, "de", "fr")["Rad"] == ("vélo",)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.tsv", b"bike\tRad\nbike Rad\n", r"a\.tsv:2: no tab in 'bike Rad'; write source, tab"),
        ("a.tsv", b"\tRad\n", r"a\.tsv:1: no source before 'Rad'"),
        ("a.tsv", b"a\tb\nc\td\na\te\n", r"a\.tsv:3: 'a' is e here and b in line 1; leave out"),
        ("a.tsv", b"", r"no terms in it; write source"),
        ("a.tsv", b"a\tb\n\xff\xe4\tc", r"a\.tsv:2: byte 0xff is no UTF-8; save the file as UTF-8"),
        ("a.tsv", b"a\tb\nc\0\td", r"a\.tsv:2: a zero byte"),
        ("a.csv", b"a,b\nonly\n", r"a\.csv:2: one column only, 'only'"),
        ("a.csv", b'a,"b\n', r"a\.csv:\d: "),
        ("a.docx", b"PK", r"'\.docx' is no kind of glossary"),
        ("a.tbx", b"<a><b></a>", r"a\.tbx:1: no XML: mismatched tag"),
        ("a.tbx", b"<a/>", r"XML without a termEntry"),
        (
            "a.tbx",
            b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<a>&x;</a>',
            r"a\.tbx:1: it declares entities of its own",
        ),
        ("a.tbx", TBX.encode(), r"terms in en, de-AT, fr, de; name the two to take"),
    ],
)
def test_bad_files_name_the_line_and_a_remedy(name, data, message, tmp_path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DataError, match=message):
        read_glossary(path)


def test_a_language_that_a_file_does_not_have(tmp_path) -> None:
    path = tmp_path / "a.tbx"
    path.write_text(TBX)
    with pytest.raises(DataError, match=r"no terms in 'it'; it has en, de-AT, fr, de"):
        read_glossary(path, "en", "it")


def test_a_missing_file_and_a_huge_one(tmp_path) -> None:
    with pytest.raises(DataError, match=r"none\.tsv: No such file"):
        read_glossary(tmp_path / "none.tsv")
    huge = tmp_path / "huge.tsv"
    with huge.open("wb") as file:
        file.truncate(65 * 2**20)
    with pytest.raises(DataError, match=r"too many for a glossary"):
        read_glossary(huge)
