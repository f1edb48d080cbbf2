# ruff: noqa: E501 (files as programs write them)
"""Office files: text is translated wherever it stands, all else stays byte for byte."""

import io
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import at_least

from allyouneed.documents.document import Document
from allyouneed.documents.epub import read_epub
from allyouneed.documents.office import read_docx, read_pptx, read_xlsx
from allyouneed.documents.open_document import read_open_document
from allyouneed.errors import AllYouNeedError, DataError

Read = Callable[[bytes], Document]
Through = Callable[[Read, bytes], bytes]


# Small files, as programs write them: runs break anywhere

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
WP = 'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"'
WPS = 'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
TYPES = "application/vnd.openxmlformats-officedocument"

BODY = """
<w:p w:rsidR="00A1"><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>The first heading</w:t></w:r></w:p>
<w:p><w:r w:rsidR="1"><w:rPr><w:lang w:val="en-US"/></w:rPr><w:t xml:space="preserve">I li</w:t></w:r><w:proofErr w:type="spellStart"/><w:r w:rsidR="2"><w:t xml:space="preserve">ke </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>red</w:t></w:r><w:r><w:t xml:space="preserve"> apples &amp; </w:t></w:r><w:hyperlink r:id="rId9" w:tooltip="a list of pears"><w:r><w:rPr><w:rStyle w:val="Hyperlink"/></w:rPr><w:t>green pears</w:t></w:r></w:hyperlink><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:t>.</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">Page </w:t></w:r><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>7</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:tab/><w:t>of the book</w:t></w:r></w:p>
<w:p><w:sdt><w:sdtPr><w:alias w:val="a field"/></w:sdtPr><w:sdtContent><w:r><w:t>in a field</w:t></w:r></w:sdtContent></w:sdt></w:p>
<w:tbl><w:tblPr/><w:tr><w:tc><w:tcPr/><w:p><w:r><w:t>cell one</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>
<w:p><w:r><w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" descr="a small dog"/><wps:txbx><w:txbxContent><w:p><w:r><w:t>text in a box</w:t></w:r></w:p></w:txbxContent></wps:txbx></wp:inline></w:drawing></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">kept </w:t></w:r><w:del w:id="1" w:author="x"><w:r><w:delText>deleted text</w:delText></w:r></w:del><w:ins w:id="2" w:author="x"><w:r><w:t>inserted text</w:t></w:r></w:ins></w:p>
<w:sectPr><w:pgSz w:w="11906" w:h="16838"/></w:sectPr>"""


def packed(entries: Mapping[str, str]) -> bytes:
    """An archive of these entries."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in entries.items():
            file.writestr(
                zipfile.ZipInfo(name, (2020, 1, 2, 3, 4, 6)), content, zipfile.ZIP_DEFLATED
            )
    return target.getvalue()


def docx(body: str = BODY) -> bytes:
    """A Word file with a footnote."""
    part = f"{TYPES}.wordprocessingml"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    return packed(
        {
            "[Content_Types].xml": f'{HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/'
            '2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxml'
            'formats-package.relationships+xml"/><Default Extension="xml" ContentType="application/'
            f'xml"/><Override PartName="/word/document.xml" ContentType="{part}.document.main+xml"/>'
            f'<Override PartName="/word/footnotes.xml" ContentType="{part}.footnotes+xml"/></Types>',
            "_rels/.rels": f'{HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/'
            f'2006/relationships"><Relationship Id="rId1" Type="{relation}/officeDocument" '
            'Target="word/document.xml"/></Relationships>',
            "word/_rels/document.xml.rels": f'{HEAD}<Relationships xmlns="http://schemas.openxml'
            f'formats.org/package/2006/relationships"><Relationship Id="rId3" Type="{relation}/foot'
            f'notes" Target="footnotes.xml"/><Relationship Id="rId9" Type="{relation}/hyperlink" '
            'Target="http://a.b/" TargetMode="External"/></Relationships>',
            "word/document.xml": f"{HEAD}<w:document {W} {R} {A} {WP} {WPS}><w:body>{body}</w:body>"
            "</w:document>",
            "word/footnotes.xml": f'{HEAD}<w:footnotes {W}><w:footnote w:id="2"><w:p><w:r><w:foot'
            'noteRef/></w:r><w:r><w:t xml:space="preserve"> a note</w:t></w:r></w:p></w:footnote>'
            "</w:footnotes>",
        }
    )


def pptx() -> bytes:
    """A PowerPoint file with one slide and its notes; not whole enough for PowerPoint."""
    shape = "<p:sp><p:nvSpPr><p:cNvPr id='2' name='Title 1' descr='the title box'/></p:nvSpPr>"
    shape += (
        '<p:txBody><a:bodyPr/><a:p><a:pPr lvl="1"/><a:r><a:rPr lang="en-US" dirty="0"/><a:t>one '
    )
    shape += '</a:t></a:r><a:r><a:rPr lang="en-US" b="1"/><a:t>two</a:t></a:r><a:br/><a:r><a:rPr '
    shape += (
        'lang="de-DE"/><a:t>three</a:t></a:r><a:endParaRPr lang="en-US"/></a:p></p:txBody></p:sp>'
    )
    return packed(
        {
            "ppt/presentation.xml": f"{HEAD}<p:presentation {P}/>",
            "ppt/slides/slide1.xml": f"{HEAD}<p:sld {A} {P}>{shape}</p:sld>",
            "ppt/notesSlides/notesSlide1.xml": f"{HEAD}<p:notes {A} {P}><a:p><a:r><a:t>notes of it"
            "</a:t></a:r></a:p></p:notes>",
        }
    )


def xlsx() -> bytes:
    """An Excel file with plain and rich strings, and a table; not whole enough for Excel."""
    return packed(
        {
            "xl/workbook.xml": f'{HEAD}<workbook {S}><sheets><sheet name="One sheet"/></sheets></workbook>',
            "xl/sharedStrings.xml": f"{HEAD}<sst {S}><si><t>plain words</t></si><si><r><t>some </t></r>"
            '<r><rPr><b/></rPr><t>bold</t></r></si><si><t>Column</t></si><si><t xml:space="preserve"> 12 '
            "</t></si></sst>",
            "xl/worksheets/sheet1.xml": f'{HEAD}<worksheet {S}><sheetData><c r="A1" t="s"><v>0</v></c>'
            '<c r="A2" t="inlineStr"><is><t>in line</t></is></c><c><f>"a"&amp;B1</f><v>text</v></c>'
            '</sheetData><hyperlinks><hyperlink ref="A1" tooltip="see it"/></hyperlinks></worksheet>',
            "xl/tables/table1.xml": f'{HEAD}<table {S}><tableColumn id="1" name="Column"/></table>',
        }
    )


def entry(data: bytes, name: str) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return file.read(name).decode()


def test_docx(aloud: Through) -> None:
    data = docx()
    found = aloud(read_docx, data)
    text = entry(found, "word/document.xml")
    for part in (
        '<w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t xml:space="preserve">THE FIRST HEADING</w:t>',
        (
            '<w:t xml:space="preserve">I LIKE </w:t></w:r><w:r><w:rPr><w:b/></w:rPr>'
            '<w:t xml:space="preserve">RED</w:t></w:r>'
        ),
        "<w:footnoteReference",
        (
            '<w:hyperlink r:id="rId9" w:tooltip="A LIST OF PEARS"><w:r><w:rPr>'
            '<w:rStyle w:val="Hyperlink"/></w:rPr>'
            '<w:t xml:space="preserve">GREEN PEARS</w:t></w:r></w:hyperlink>'
            '<w:r><w:footnoteReference w:id="2"/></w:r>'
        ),
        " APPLES &amp; ",
        "<w:instrText> PAGE </w:instrText>",
        '<w:sdt><w:sdtPr><w:alias w:val="a field"/></w:sdtPr><w:sdtContent><w:r>',
        ">IN A FIELD<",
        ">CELL ONE<",
        'descr="A SMALL DOG"',
        ">TEXT IN A BOX<",
        (
            '<w:del w:id="1" w:author="x"><w:r><w:delText>deleted text</w:delText></w:r></w:del>'
            '<w:ins w:id="2" w:author="x">'
        ),
        ">INSERTED TEXT</w:t></w:r></w:ins>",
        "<w:tab/></w:r>",
        ">OF THE BOOK<",
    ):
        assert part in text
    assert "<w:footnoteRef/>" in entry(found, "word/footnotes.xml")
    assert "A NOTE</w:t>" in entry(found, "word/footnotes.xml")
    assert "deleted" in " ".join(read_docx(data).notes)
    for name in ("[Content_Types].xml", "word/_rels/document.xml.rels"):
        assert entry(found, name) == entry(data, name)


def test_subscripts_of_docx_stay_in_their_word(turned: Through) -> None:
    low = '<w:r><w:rPr><w:vertAlign w:val="subscript"/></w:rPr><w:t>2</w:t></w:r>'
    body = f"<w:p><w:r><w:t>It is H</w:t></w:r>{low}<w:r><w:t>O here.</w:t></w:r></w:p>"
    text = entry(turned(read_docx, docx(body)), "word/document.xml")
    written = re.sub(r'<w:t xml:space="preserve">|</?w:r>|</w:t>', "", text)
    assert 'here. H<w:rPr><w:vertAlign w:val="subscript"/></w:rPr>2O is It' in written


def test_superscripts_of_pptx_stay_in_their_word(turned: Through) -> None:
    body = "<a:p><a:r><a:t>on 5 m</a:t></a:r><a:r><a:rPr baseline='30000'/><a:t>2</a:t></a:r>"
    slide = f"{HEAD}<p:sld {A} {P}>{body}<a:r><a:t> of it</a:t></a:r></a:p></p:sld>"
    data = packed(
        {"ppt/presentation.xml": f"<p:presentation {P}/>", "ppt/slides/slide1.xml": slide}
    )
    text = entry(turned(read_pptx, data), "ppt/slides/slide1.xml")
    assert "5 m</a:t></a:r><a:r><a:rPr baseline='30000'/><a:t>2<" in text


def test_docx_keeps_a_sentence_whole_though_its_runs_break(turned: Through) -> None:
    text = entry(turned(read_docx, docx()), "word/document.xml")
    assert "apples" in text
    assert "pears. green" in re.sub("<[^>]*>", "", text)


def field(codes: str, result: str) -> str:
    """A field of Word."""
    marks = [
        f'<w:r><w:fldChar w:fldCharType="{one}"/></w:r>' for one in ("begin", "separate", "end")
    ]
    begin, separate, end = marks
    code = f"<w:r><w:instrText> {codes} </w:instrText></w:r>"
    return f"{begin}{code}{separate}<w:r><w:t>{result}</w:t></w:r>{end}"


def test_texts_of_word_that_stay_are_told() -> None:
    fields = field("REF a", "the house") + field("PAGE", "7") + field("REF b", "the garden")
    items = '<w:listItem w:displayText="red" w:value="1"/><w:listItem w:displayText="7"/>'
    shape = '<v:shape xmlns:v="v" alt="a dog"><v:textpath string="Hello"/></v:shape>'
    document = read_docx(
        docx(f"<w:p>{fields}<w:sdt><w:sdtPr>{items}</w:sdtPr></w:sdt>{shape}</w:p>")
    )
    assert [note.removeprefix("word/document.xml: ") for note in document.notes] == [
        "the texts of fields stay as they are, because a program fills them in: 2 of REF",
        "1 items of drop-down lists stay as they are",
        "1 alternative texts of old drawings stay as they are",
        "1 texts of WordArt stay as they are",
    ]
    assert not read_docx(docx()).notes[1:]  # tracked changes


def test_pptx(aloud: Through) -> None:
    found = aloud(read_pptx, pptx())
    text = entry(found, "ppt/slides/slide1.xml")
    assert '<a:pPr lvl="1"/><a:r><a:t>ONE </a:t></a:r><a:r><a:rPr b="1"/><a:t>TWO</a:t>' in text
    assert '</a:r><a:br/><a:r><a:t>THREE</a:t></a:r><a:endParaRPr lang="en-US"/></a:p>' in text
    assert "descr='THE TITLE BOX'" in text
    assert ">NOTES OF IT<" in entry(found, "ppt/notesSlides/notesSlide1.xml")


def test_texts_that_formulas_name_stay(aloud: Through) -> None:
    strings = ["open", "in work", "Low", "see it", "Red &amp; big", "12", "Done", "a note", "hello"]
    formulas = (
        'IF(A1="","",COUNTIF(A:A,"Open"))',
        'IF(B1="Red &amp; big","say ""so""","12")',
        'COUNTIF(A:A,"&lt;&gt;Done")&amp;"hello, a note"',
    )
    data = packed(
        {
            "xl/workbook.xml": f'{HEAD}<workbook {S}><sheets><sheet name="a"/></sheets></workbook>',
            "xl/sharedStrings.xml": f"{HEAD}<sst {S}>"
            + "".join(f"<si><t>{text}</t></si>" for text in strings)
            + "</sst>",
            "xl/worksheets/sheet1.xml": f"{HEAD}<worksheet {S}><sheetData>"
            + "".join(f'<c><f t="x">{one}</f><v>1</v></c>' for one in formulas)
            + '</sheetData><dataValidation type="list"><formula1>"in work, Low"</formula1>'
            "</dataValidation></worksheet>",
        }
    )
    document = read_xlsx(data)
    told = 'texts that formulas contain, too, stay as they are: "Done", "Low", "Open", "Red & big", "in work"'
    assert told in document.notes
    found = entry(aloud(read_xlsx, data), "xl/sharedStrings.xml")
    texts = re.findall("<t(?: [^>]*)?>([^<]*)", found)
    assert texts == [*strings[:3], "SEE IT", *strings[4:7], "A NOTE", "HELLO"]
    assert not any("formulas contain" in note for note in read_xlsx(xlsx()).notes)


def test_xlsx(aloud: Through) -> None:
    found = aloud(read_xlsx, xlsx())
    text = entry(found, "xl/sharedStrings.xml")
    assert '<si><t xml:space="preserve">PLAIN WORDS</t></si>' in text
    assert '<rPr><b/></rPr><t xml:space="preserve">BOLD</t></r></si><si><t>Column</t></si>' in text
    sheet = entry(found, "xl/worksheets/sheet1.xml")
    assert '<is><t xml:space="preserve">IN LINE</t></is>' in sheet
    assert '<f>"a"&amp;B1</f><v>text</v>' in sheet
    assert '<hyperlink ref="A1" tooltip="SEE IT"/>' in sheet


@pytest.mark.parametrize(
    ("string", "expected"),
    [
        ("<t>One here\nTwo here.\nthree</t>", "<t>here One\nhere. Two\nthree</t>"),
        ("<t>One here_x000D_\n\nTwo here</t>", "<t>here One_x000D_\n\nhere Two</t>"),
        (
            "<r><t>One here\nTwo </t></r><r><rPr><b/></rPr><t>big</t></r>",
            "<r><t>here One\n</t></r><r><rPr><b/></rPr><t>big</t></r><r><t> Two</t></r>",
        ),
        (
            "<r><t>It is longer than it.\n</t></r><r><rPr><b/></rPr><t>One here\nTwo here</t></r>",
            "<r><t>it. than longer is It\n</t></r><r><rPr><b/></rPr><t>here One\nhere Two</t></r>",
        ),
    ],
)
def test_lines_of_a_cell_stay_lines(string: str, expected: str, turned: Through) -> None:
    name, table = "xl/sharedStrings.xml", f"<sst {S}><si>{{}}</si></sst>"
    data = packed({"xl/workbook.xml": "<workbook/>", name: table.format(string)})
    found = entry(turned(read_xlsx, data), name)
    assert found.replace(' xml:space="preserve"', "") == table.format(expected)


def test_strings_of_excel_are_named_by_sheet_and_cell() -> None:
    relation = '<Relationship Id="{}" Target="{}"/>'
    document = read_xlsx(
        packed(
            {
                "xl/workbook.xml": f'<workbook {S} {R}><sheets><sheet name="One &amp; all" r:id="a"/>'
                "<sheet r:id='b' name='Two'/></sheets></workbook>",
                "xl/_rels/workbook.xml.rels": "<Relationships>"
                + relation.format("b", "worksheets/sheet1.xml")
                + relation.format("a", "/xl/worksheets/sheet2.xml")
                + "</Relationships>",
                "xl/sharedStrings.xml": f"<sst {S}><si><t>a</t></si><si><t>b</t></si><si><t>c</t></si></sst>",
                "xl/worksheets/sheet1.xml": f'<worksheet {S}><c r="A1" t="s"><v>1</v></c>'
                '<c r="B7" t="inlineStr"><is><t>d</t></is></c><c r="C1"><v>0</v></c></worksheet>',
                "xl/worksheets/sheet2.xml": f'<worksheet {S}><c r="D4" t="s"><v>0</v></c></worksheet>',
            }
        )
    )
    assert {one.text: one.where for one in document.passages} == {
        "a": "One & all, cell D4",
        "b": "Two, cell A1",
        "c": "xl/sharedStrings.xml, paragraph 1",
        "d": "Two, cell B7",
    }


def test_line_ends_within_a_text_of_word_are_spaces(turned: Through) -> None:
    body = "<w:p><w:r><w:t>One here\nTwo</w:t></w:r></w:p>"
    assert ">Two here One<" in entry(turned(read_docx, docx(body)), "word/document.xml")


# Parts of files, by the names that their programs give them

CHART = (
    '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" {A}><c:ser>'
    "<c:tx><c:strRef><c:f>Sheet1!$B$1</c:f><c:strCache><c:pt idx='0'><c:v>old sales</c:v></c:pt>"
    "</c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:f>Sheet1!$A$2</c:f><c:strCache>"
    "<c:pt idx='0'><c:v>first &amp; last</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val>"
    "<c:numRef><c:f>Sheet1!$B$2</c:f><c:numCache><c:formatCode>General</c:formatCode>"
    "<c:pt idx='0'><c:v>#N/A</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>"
    "{external}</c:chartSpace>"
)
EXTERNAL = f'<c:externalData r:id="rId1" {R}/>'
COMMENT = f"<comments {S}><comment><text><r><t>see here</t></r></text></comment></comments>"
THREAD = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"


@pytest.mark.parametrize(
    ("read", "whole", "name", "content", "told"),
    [
        (read_xlsx, xlsx(), "xl/comments1.xml", COMMENT, ">SEE HERE<"),
        (read_xlsx, xlsx(), "xl/comments/comment1.xml", COMMENT, ">SEE HERE<"),
        (
            read_xlsx,
            xlsx(),
            "xl/threadedComments/threadedComment1.xml",
            f'<ThreadedComments xmlns="{THREAD}"><text>see here</text></ThreadedComments>',
            ">SEE HERE<",
        ),
        (
            read_pptx,
            pptx(),
            "ppt/comments/comment1.xml",
            f"<p:cmLst {P}><p:cm><p:text>see here</p:text></p:cm></p:cmLst>",
            ">SEE HERE<",
        ),
        (
            read_pptx,
            pptx(),
            "ppt/comments/modernComment_100_0.xml",
            f"<c:cmLst xmlns:c='x' {A}><a:p><a:r><a:t>see here</a:t></a:r></a:p></c:cmLst>",
            ">SEE HERE<",
        ),
    ],
)
def test_comments(
    read: Read, whole: bytes, name: str, content: str, told: str, aloud: Through
) -> None:
    with zipfile.ZipFile(io.BytesIO(whole)) as file:
        entries = {one: file.read(one).decode() for one in file.namelist()}
    assert told in entry(aloud(read, packed({**entries, name: HEAD + content})), name)


@pytest.mark.parametrize(
    ("read", "whole", "name"),
    [
        (read_pptx, pptx(), "ppt/charts/chart3.xml"),
        (read_docx, docx(), "word/charts/chart1.xml"),
        (read_xlsx, xlsx(), "xl/charts/chart1.xml"),
    ],
)
def test_names_in_charts(read: Read, whole: bytes, name: str, aloud: Through) -> None:
    with zipfile.ZipFile(io.BytesIO(whole)) as file:
        entries = {one: file.read(one).decode() for one in file.namelist()}
    external = "" if read is read_xlsx else EXTERNAL
    data = packed({**entries, name: HEAD + CHART.format(A=A, external=external)})
    found = entry(aloud(read, data), name)
    assert found == entry(data, name).replace("old sales", "OLD SALES").replace(
        "first &amp; last", "FIRST &amp; LAST"
    )
    told = [note for note in read(data).notes if note.startswith(f"{name}: the workbook behind")]
    assert len(told) == bool(external)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("&amp;CPrice list", "&amp;Clist Price"),
        ("&amp;L&amp;&quot;Arial&quot;&amp;14one two&amp;Rx y", None),
        (
            '&amp;L&amp;"Arial,Bold"&amp;14one two&amp;Rx y',
            '&amp;L&amp;"Arial,Bold"&amp;14two one&amp;Ry x',
        ),
        ("&amp;Rpage &amp;P of &amp;N", "&amp;R&amp;N of &amp;P page"),
        ("&amp;LR &amp;&amp; D here", "&amp;Lhere D &amp;&amp; R"),
        ("&amp;P/&amp;N", None),
        ("&amp;LOne two\nThree four", "&amp;Ltwo One\nfour Three"),
    ],
)
def test_headers_of_sheets(header: str, expected: str | None, turned: Through) -> None:
    sheet = f"<worksheet {S}><headerFooter><oddFooter>{{}}</oddFooter></headerFooter></worksheet>"
    data = packed(
        {"xl/workbook.xml": "<workbook/>", "xl/worksheets/sheet1.xml": sheet.format(header)}
    )
    found = entry(turned(read_xlsx, data), "xl/worksheets/sheet1.xml")
    assert found == sheet.format(expected or header)


ODT = """<?xml version="1.0"?>
<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d" xmlns:svg="s">
<text:h>one <text:span text:style-name="T1">bold</text:span> head</text:h>
<text:p>a word<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>the note
</text:p></text:note-body></text:note> and<text:s text:c="2"/>more on page <text:page-number>3</text:page-number></text:p>
<table:table-cell table:formula="x"><text:p>computed</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>a cell</text:p></table:table-cell>
<draw:frame><svg:title>a picture</svg:title></draw:frame>
</office:document-content>"""


def test_subscripts_of_odt_stay_in_their_word(turned: Through) -> None:
    names = 'xmlns:office="o" xmlns:text="t" xmlns:style="s"'
    style = '<style:text-properties style:text-position="sub 58%"/>'
    content = f"""<c {names}><style:style style:name="T1">{style}</style:style>
    <text:p>It is H<text:span text:style-name="T1">2</text:span>O here.</text:p></c>"""
    text = entry(turned(read_open_document, packed({"content.xml": content})), "content.xml")
    assert '>here. H<text:span text:style-name="T1">2</text:span>O is It<' in text


PICTURES: list[tuple[Read, str, str]] = [
    (
        read_docx,
        "word/document.xml",
        f'<w:document {W} {WP}><wp:docPr id="1" name="a b" descr="a dog" title="my dog"/></w:document>',
    ),
    (
        read_pptx,
        "ppt/slides/slide1.xml",
        f'<p:sld {P}><p:cNvPr id="1" name="a b" descr="a dog" title="my dog"/></p:sld>',
    ),
    (
        read_xlsx,
        "xl/drawings/drawing1.xml",
        '<d:wsDr xmlns:d="d"><d:cNvPr id="1" name="a b" descr="a dog" title="my dog"/></d:wsDr>',
    ),
    (
        read_open_document,
        "content.xml",
        '<c xmlns:text="t" xmlns:d="d" xmlns:svg="s"><text:p><d:frame d:name="a b"><svg:title>my dog</svg:title><svg:desc>a dog</svg:desc></d:frame></text:p></c>',
    ),
    (
        read_epub,
        "page.xhtml",
        '<html><p id="a b">1 <img alt="a dog" title="my dog"/></p></html>',
    ),
]


@pytest.mark.parametrize(("read", "name", "page"), PICTURES)
def test_texts_of_pictures_are_translated(aloud: Through, read: Read, name: str, page: str) -> None:
    whole = {"mimetype": "application/epub+zip", "ppt/presentation.xml": "<p/>"}
    whole |= {"xl/workbook.xml": "<workbook/>", name: page}
    expected = page.replace("a dog", "A DOG").replace("my dog", "MY DOG")
    assert entry(aloud(read, packed(whole)), name) == expected


def test_odt(aloud: Through) -> None:
    data = packed({"mimetype": "application/x", "content.xml": ODT})
    text = entry(aloud(read_open_document, data), "content.xml")
    for part in (
        '<text:h>ONE <text:span text:style-name="T1">BOLD</text:span> HEAD</text:h>',
        "A WORD<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>THE NOTE ",
        'AND<text:s text:c="2"/>MORE ON PAGE <text:page-number>3</text:page-number>',
        ">computed<",
        ">A CELL<",
        "<svg:title>A PICTURE</svg:title>",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("value", "paragraphs", "expected"),
    [
        ("The cat", "<text:p>The cat</text:p>", "THE CAT"),
        ("a\n12\nb &lt; c", "<text:p>a</text:p><text:p>12</text:p><text:p>b &lt; c</text:p>", "A&#10;12&#10;B &lt; C"),
        ("12", "<text:p>12</text:p>", "12"),
    ],
)  # fmt: skip
def test_the_value_of_a_cell_is_what_it_shows(
    value: str, paragraphs: str, expected: str, aloud: Through
) -> None:
    cell = f'<table:table-cell office:value-type="string" office:string-value="{value}"/>'
    content = f'<c xmlns:office="o" xmlns:text="t" xmlns:table="b">{cell[:-2]}>{paragraphs}{{}}</c>'
    data = packed({"content.xml": content.format("</table:table-cell>")})
    text = entry(aloud(read_open_document, data), "content.xml")
    assert f'office:string-value="{expected}"' in text


def test_epub(aloud: Through) -> None:
    opf = '<?xml version="1.0"?><package xmlns:dc="d"><dc:title>A title</dc:title><dc:identifier>id'
    opf += "</dc:identifier><dc:creator>Anna</dc:creator></package>"
    data = packed(
        {
            "mimetype": "application/epub+zip",
            "OEBPS/content.opf": opf,
            "OEBPS/toc.ncx": '<ncx><navLabel><text>Chapter one</text></navLabel><meta content="x"/></ncx>',
            "OEBPS/one.xhtml": '<?xml version="1.0"?><html><body><p>one <br/>two <i>x</i></p></body></html>',
        }
    )
    assert [one.where for one in read_epub(data).passages][-1] == "OEBPS/one.xhtml, line 1"
    found = aloud(read_epub, data)
    assert "<dc:title>A TITLE</dc:title><dc:identifier>id<" in entry(found, "OEBPS/content.opf")
    assert "<text>CHAPTER ONE</text>" in entry(found, "OEBPS/toc.ncx")
    assert "<p>ONE <br/>TWO <i>X</i></p>" in entry(found, "OEBPS/one.xhtml")
    with zipfile.ZipFile(io.BytesIO(found)) as file:
        assert file.namelist()[0] == "mimetype"


# What is no such file

READERS = [read_docx, read_pptx, read_xlsx, read_open_document, read_epub]


def hostile(content: str) -> bytes:
    return packed({"word/document.xml": content})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no archive"),
        (b"PK\x03\x04 not really", "no archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old", "password"),
        (packed({"word/vbaProject.bin": "x"}), "macros"),
        (packed({"x": ""}), "another kind"),
        (hostile("<w:document><w:p></w:document>"), "no well-formed XML"),
        (hostile('<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'), "declares entities"),
        (hostile('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'), "entities"),
        (hostile("<x>" * 1000 + "</x>" * 1000), "within each other"),
        (packed({"word/document.xml": "a" * (17 << 20)}), "grows to"),
    ],
)
def test_hostile_files_are_errors(data: bytes, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_docx(data)


@at_least(150)
@given(st.binary(max_size=200), st.integers(0, 3000), st.sampled_from(READERS))
def test_any_bytes_are_a_document_or_an_error(noise: bytes, place: int, read: Read) -> None:
    for good in (docx(), pptx(), xlsx()):
        data = good[:place] + noise + good[place + len(noise) :]
        try:
            document = read(data)
        except AllYouNeedError:
            continue
        assert document.written() == data


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet='<>/"= wprt:a&;!-[]?', max_size=60))
def test_any_xml_is_a_document_or_an_error(text: str) -> None:
    data = hostile(f"<w:document {W}><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:document>")
    try:
        document = read_docx(data)
    except AllYouNeedError:
        return
    assert document.written() == data


# LibreOffice opens what comes out

OFFICE = shutil.which("soffice")


@pytest.mark.skipif(OFFICE is None, reason="needs LibreOffice")
@pytest.mark.slow
@pytest.mark.parametrize(("ending", "read"), [("docx", read_docx), ("odt", read_open_document)])
def test_libreoffice_reads_the_translation(
    aloud: Through, tmp_path: Path, ending: str, read: Read
) -> None:
    source = tmp_path / "source.docx"
    source.write_bytes(docx())
    if ending != "docx":
        convert(source, ending)
    translated = tmp_path / f"translated.{ending}"
    translated.write_bytes(aloud(read, source.with_suffix(f".{ending}").read_bytes()))
    convert(translated, "txt:Text")
    text = translated.with_suffix(".txt").read_text(encoding="utf-8-sig")
    assert "THE FIRST HEADING" in text
    assert "I LIKE RED APPLES & GREEN PEARS" in text
    assert "CELL ONE" in text


def convert(path: Path, kind: str) -> None:
    assert OFFICE is not None
    profile = f"-env:UserInstallation=file://{path.parent}/profile"
    command = [OFFICE, profile, "--headless", "--convert-to", kind, "--outdir", str(path.parent)]
    subprocess.run([*command, str(path)], check=True, capture_output=True, timeout=120)
