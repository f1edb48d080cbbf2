"""Damaged and hostile files into every reader: an error or a document, soon, in little memory."""

import io
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import at_least

from allyouneed.documents import archive, xml_tree
from allyouneed.documents.archive import Archive
from allyouneed.documents.document import Document
from allyouneed.documents.formats import BY_NAME, FORMATS
from allyouneed.documents.html import read_html
from allyouneed.errors import AllYouNeedError, DataError

Through = Callable[[Callable[[bytes], Document], bytes], bytes]

XML = "<w:document xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'><w:p>"
XML += "<w:r><w:t>one &amp; two</w:t></w:r><!-- c --><w:r><w:rPr><w:b/></w:rPr><w:t>x</w:t></w:r>"
XML += "</w:p></w:document>"
ODF = "<o:c xmlns:o='o' xmlns:text='t'><text:p>one <text:span>two</text:span></text:p></o:c>"
PARTS = {
    "docx": {"word/document.xml": XML, "docProps/core.xml": "<c><title>a title</title></c>"},
    "pptx": {"ppt/presentation.xml": "<p/>", "ppt/slides/slide1.xml": XML.replace("word", "x")},
    "xlsx": {"xl/workbook.xml": "<w/>", "xl/sharedStrings.xml": "<sst><si><t>one</t></si></sst>"},
    "opendocument": {"content.xml": ODF, "styles.xml": "<a/>", "META-INF/manifest.xml": "<m/>"},
    "epub": {
        "mimetype": "application/epub+zip",
        "a.xhtml": "<p>one <b>two</b></p>",
        "c.opf": "<p/>",
    },
}
TEXTS = {
    "text": "Dear Anna,\n\n- one thing\n- another > thing\n",
    "markdown": "# One\n\ntwo *three* [four](x)\n\n| a | b |\n|---|---|\n| c | `d` |\n",
    "html": "<!doctype html><p title='a b'>one <b>two</b><!-- c --><br>three &amp; four</p>",
    "srt": "1\n00:00:01,000 --> 00:00:03,000\n<i>one</i> two\n\n2\n00:00:03,000 --> 0:0:4,0\n3 x\n",
    "vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Anna>one &amp; two</v>\n",
    "ass": "[Events]\nFormat: Layer, Text\nDialogue: 0,{\\i1}one\\Ntwo\n",
    "po": '#, fuzzy\nmsgid "a"\nmsgstr "b"\n\nmsgid "one %s"\nmsgid_plural "two"\nmsgstr[0] ""\n',
    "xliff": "<xliff><trans-unit><source>one <g>two</g></source></trans-unit></xliff>",
    "csv": 'id,text\r\n1,"one, ""two"""\r\n2,three\r\n',
    "tsv": "id\ttext\n1\tone two\n",
    "json": '{"a": ["one {x}", "tw\\u00f6", {"b": 1.5e3}], "c": null}',
    "jsonl": '{"id": "a1", "text": "one {x}"}\n{"text": {"a": ["tw\\u00f6"]}}\n\n"three"\n',
    "yaml": "en:  # c\n  a: &x one %{n}\n  b: |\n    two\n  c: ['d e', *x, 3]\n",
    "tmx": "<tmx><tu><tuv xml:lang='en'><seg>a</seg></tuv><tuv xml:lang='de'/></tu></tmx>",
    "arb": '{"@@locale": "en", "a": "one", "@a": {"description": "no"}}',
    "properties": "# c\na.b = one \\\n two\nc: it''s {0} \\u00fc\n",
    "strings": '/* c */ "key" = "one \\"two\\" %@";\n',
    "fluent": "hello = Hello, { $name }!\n    .title = a title\n",
    "android": "<resources><string name='a'>It\\'s <b>one</b></string></resources>",
    "resx": "<root><data name='a'><value>one &lt;b&gt;</value></data></root>",
    "ts": "<TS><context><message><source>one</source><translation/></message></context></TS>",
}
SECONDS = 2.0  # of the processor, for one small file; the usual is a hundredth of one


def packed(parts: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return target.getvalue()


def damaged(data: bytes, random: Random) -> bytes:
    """The bytes with one to four things done to them that happen to files."""
    for _ in range(random.randint(1, 4)):
        at, end = sorted(random.choices(range(len(data) + 1), k=2))
        some = random.choice(
            [random.randbytes(3), b"<", b'"', b"&", b"\n", b"\0", b"]]>", b"{", b"\xff"]
        )
        data = random.choice(
            [
                data[:at],
                data[:at] + some + data[at:],
                data[:at] + data[end:],
                data[:at] + data[at:end] * 3 + data[end:],
                data[:at] + some + data[at + len(some) :],
                data[end:] + data[:at],
            ]
        )
    return data


def test_all_formats_are_here() -> None:
    assert {*PARTS, *TEXTS, "pdf"} == set(BY_NAME)  # test_pdf.py damages PDFs


@at_least(300)
@given(
    st.sampled_from([one for one in FORMATS if one.name != "pdf"]),
    st.integers(0, 1 << 40),
    st.booleans(),
)
def test_a_damaged_file_is_a_document_or_an_error(
    aloud: Through, form: object, seed: int, outside: bool
) -> None:
    random = Random(seed)
    name = form.name  # type: ignore[attr-defined]
    if name in TEXTS:
        data = damaged(TEXTS[name].encode(), random)
    else:
        parts = {key: content.encode() for key, content in PARTS[name].items()}
        if not outside:
            hit = random.choice(sorted(parts))
            parts[hit] = damaged(parts[hit], random)
        data = damaged(packed(parts), random) if outside else packed(parts)
    begin = time.process_time()
    with suppress(AllYouNeedError):
        aloud(BY_NAME[name].read, data)
    assert time.process_time() - begin < SECONDS


HOSTILE = [
    "<",
    "<a ",
    "<a>",
    "</a>",
    "{",
    "{{",
    "[",
    "![",
    "*",
    "`",
    '"',
    "\\",
    "&",
    "- ",
    "> ",
    "\n",
]
HOSTILE += ["|", "a: ", "#", "[^", "](", "<!--", "<![CDATA[", "-->", "1\n00:00:01,0 --> 0:0:2,0\n"]
HOSTILE += [
    'msgid "',
    '""\n',
    "http://",
    "%",
    "a.",
    "_ ",
    "$",
    "\r",
    "\t",
    "a=\\\n",
    "Dialogue: ,\n",
]


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_no_repetition_takes_long(name: str) -> None:
    for sign in HOSTILE:
        data = (sign * (20_000 // len(sign))).encode()
        begin = time.process_time()
        with suppress(AllYouNeedError):
            BY_NAME[name].read(data)
        assert time.process_time() - begin < SECONDS, sign


def test_many_small_bombs_are_one_large() -> None:
    parts = {f"{n}.xml": b"a" * archive.LARGE for n in range(2)}
    with pytest.raises(DataError, match="times its size"):
        Archive(packed(parts))


def test_elements_without_number_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_tree, "MOST_ELEMENTS", 100)
    with pytest.raises(DataError, match="more than 100 elements"):
        BY_NAME["docx"].read(packed({"word/document.xml": b"<x>" + b"<a/>" * 101 + b"</x>"}))


def test_signs_that_an_encoding_lacks_are_references(aloud: Through) -> None:
    page = '<meta charset="iso-8859-1"><p>stra\u00dfe &#8364; 5</p>'
    found = aloud(read_html, page.encode("latin-1"))
    assert found == page.replace("stra\u00dfe", "STRASSE").encode("latin-1")
    document = read_html(b'<meta charset="iso-8859-1"><p>an em dash</p>')
    document.passages[0].target = ("ein \u2014 stra\u00dfe",)
    assert document.written().endswith(b"<p>ein &#8212; stra\xdfe</p>")
