"""Pages of office documents before and after translation, as LibreOffice lays them out.

LibreOffice (headless) makes docx, odt, pptx, odp, xlsx and ods files from real sentences, with
headings, bold and linked words, lists, tables, footnotes, page headers, notes and formulas; each
has other sentences and another length. The bundled model translates them, and LibreOffice converts
both versions to PDF. Prints the pages of each and fails if a document has gained or lost more than
one page, or cannot be opened any more.

    python benchmarks/pages.py [--documents 40] [--paragraphs 60] [--keep FOLDER]

`--paragraphs` are those of the longest document. `--keep` leaves all files in a folder, to be
looked at (`pdftoppm -r 50 -png 00-report.docx.pdf page`).
Needs `soffice` (apt-get install libreoffice-writer-nogui libreoffice-impress-nogui
libreoffice-calc-nogui), pypdf, and $ALLYOUNEED_DATA or ../shared/data. Takes a few minutes.
"""

import argparse
import gzip
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pypdf

import allyouneed
from allyouneed.documents.formats import format_of
from allyouneed.documents.translating import translate_document
from allyouneed.documents.xml_tree import escape
from allyouneed.translation.result import Translation

DATA = Path(os.environ.get("ALLYOUNEED_DATA", "../shared/data"))
CORPUS = DATA / "parallel" / "en-de.msdocs-business.tsv.gz"
SECONDS = 300  # for one call of LibreOffice
MADE_FROM = {
    "docx": "fodt",
    "odt": "fodt",
    "pptx": "fodp",
    "odp": "fodp",
    "xlsx": "fods",
    "ods": "xlsx",  # LibreOffice 7.4 writes no ods of a flat sheet that has links
}
OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
NAMES = {
    name: f"{OASIS}{name}:1.0" for name in ("office", "style", "text", "table", "presentation")
}
NAMES |= {
    "draw": f"{OASIS}drawing:1.0",
    "fo": f"{OASIS}xsl-fo-compatible:1.0",
    "svg": f"{OASIS}svg-compatible:1.0",
    "of": f"{OASIS}of:1.2",
    "xlink": "http://www.w3.org/1999/xlink",
}
HEAD = '<?xml version="1.0" encoding="UTF-8"?><office:document {} office:version="1.2" {}>'
BOLD = '<style:style style:name="B" style:family="text"><style:text-properties '
BOLD += 'fo:font-weight="bold"/></style:style>'


def main() -> int:
    """Prints a line a document; 1 if the pages of one changed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=40)
    parser.add_argument("--paragraphs", type=int, default=60)
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    if shutil.which("soffice") is None:
        print("LibreOffice (soffice) is not installed; nothing was checked", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = asked.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        return 0 if check(folder, asked.documents, asked.paragraphs) else 1


def check(folder: Path, documents: int, paragraphs: int) -> bool:
    """Whether every document has as many pages as before, within one."""
    befores = made(folder, documents, paragraphs)
    translator = allyouneed.load("en-de", threads=1)

    def translate(texts: list[str], alignments: bool) -> Iterator[Translation]:
        return translator.translate_lines(texts, alignments=alignments, protect=False)

    afters, counts = [], []
    for before in befores:
        document = format_of(before).read(before.read_bytes())
        counts.append(translate_document(document, translate).sentences)
        afters.append(before.with_name(f"{before.stem}.de{before.suffix}"))
        afters[-1].write_bytes(document.written())
    pages = pages_of([*befores, *afters], folder)
    good = True
    for before, after, count in zip(befores, afters, counts, strict=True):
        fits = min(pages[before], pages[after]) > 0 and abs(pages[before] - pages[after]) <= 1
        good &= fits
        verdict = "" if fits else "  PAGES DIFFER"
        print(f"{before.name}: {count} sentences, pages {pages[before]} → {pages[after]}{verdict}")
    return good


def made(folder: Path, documents: int, paragraphs: int) -> list[Path]:
    """Documents of all formats in turn, the first the longest."""
    sentences = sentences_of(CORPUS)
    makers = {"fodt": report, "fodp": slides, "fods": sheet}
    by_ending: dict[str, list[Path]] = {ending: [] for ending in MADE_FROM}
    found = []
    for number in range(documents):
        ending = list(MADE_FROM)[number % len(MADE_FROM)]
        kind = MADE_FROM[ending]
        flat = folder / f"{number:02}-report.{MADE_FROM.get(kind, kind)}"
        length = max(paragraphs * (documents - number) // documents, 5)
        flat.write_text(makers[flat.suffix[1:]](sentences, length), encoding="utf-8")
        by_ending[kind if kind in MADE_FROM else ending].append(flat)
        found.append(flat.with_suffix(f".{ending}"))
    for ending, flats in by_ending.items():
        converted(flats, ending, folder)
    for ending, kind in MADE_FROM.items():
        if kind in MADE_FROM:
            some = [path for path in found if path.suffix == f".{ending}"]
            converted([path.with_suffix(f".{kind}") for path in some], ending, folder)
    return found


def pages_of(paths: Sequence[Path], folder: Path) -> dict[Path, int]:
    """The pages of each document as a PDF, which is kept in the folder; 0 if LibreOffice cannot
    open it."""
    pages = dict.fromkeys(paths, 0)
    for ending in {path.suffix for path in paths}:  # PDFs are named without it
        some = [path for path in paths if path.suffix == ending]
        with tempfile.TemporaryDirectory() as name:
            converted(some, "pdf", Path(name))
            for path in some:
                pdf = Path(name) / f"{path.stem}.pdf"
                if pdf.exists():
                    kept = shutil.copy(pdf, folder / f"{path.name}.pdf")
                    pages[path] = len(pypdf.PdfReader(kept).pages)
    return pages


def converted(paths: Sequence[Path], ending: str, folder: Path) -> None:
    """Converts files with LibreOffice, with a profile of its own."""
    if not paths:
        return
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            ["soffice", f"-env:UserInstallation=file://{profile}", "--headless", "--convert-to",
             ending, "--outdir", str(folder), *map(str, paths)],
            check=True, capture_output=True, timeout=SECONDS,
        )  # fmt: skip


def sentences_of(corpus: Path) -> Iterator[str]:
    """English sentences, as XML writes them, one word of some in bold."""
    generator = random.Random(0)
    with gzip.open(corpus, "rt", encoding="utf-8") as file:
        for line in file:
            words = escape(line.partition("\t")[0]).split()
            if len(words) < 4:
                continue
            chosen = generator.randrange(len(words))
            if generator.random() < 0.3:
                words[chosen] = f'<text:span text:style-name="B">{words[chosen]}</text:span>'
            if generator.random() < 0.1:
                link = '<text:a xlink:type="simple" xlink:href="http://example.org/">'
                words[chosen] = f"{link}{words[chosen]}</text:a>"
            yield " ".join(words)


def whole(kind: str, styles: str, master: str, body: str) -> str:
    """A flat OpenDocument file."""
    spaces = " ".join(f'xmlns:{prefix}="{name}"' for prefix, name in NAMES.items())
    mime = f'office:mimetype="application/vnd.oasis.opendocument.{kind}"'
    tag = f"office:{kind}"
    return (
        f"{HEAD.format(spaces, mime)}<office:automatic-styles>{BOLD}{styles}"
        f"</office:automatic-styles>{master}<office:body><{tag}>{body}</{tag}></office:body>"
        "</office:document>"
    )


def report(sentences: Iterator[str], paragraphs: int) -> str:
    """A text with headings, lists, a table, footnotes and a page header."""
    page = '<style:page-layout style:name="L"><style:page-layout-properties fo:page-width="21cm" '
    page += 'fo:page-height="29.7cm" fo:margin="2cm"/><style:header-style/></style:page-layout>'
    header = f"<text:p>{next(sentences)}</text:p>"
    master = '<office:master-styles><style:master-page style:name="Standard" '
    master += f'style:page-layout-name="L"><style:header>{header}</style:header>'
    master += "</style:master-page></office:master-styles>"
    body = []
    for number in range(paragraphs):
        if number % 6 == 0:
            body.append(f'<text:h text:outline-level="2">{next(sentences)}</text:h>')
        note = ""
        if number % 7 == 3:
            note = f'<text:note text:id="f{number}" text:note-class="footnote"><text:note-citation>'
            note += f"{number}</text:note-citation><text:note-body><text:p>{next(sentences)}"
            note += "</text:p></text:note-body></text:note>"
        body.append(f"<text:p>{' '.join(islice(sentences, 5))}{note}</text:p>")
        if number % 10 == 4:
            items = "".join(
                f"<text:list-item><text:p>{one}</text:p></text:list-item>"
                for one in islice(sentences, 4)
            )
            body.append(f"<text:list>{items}</text:list>")
        if number % 15 == 8:
            body.append(f"<table:table>{rows(sentences, 3, 2)}</table:table><text:p/>")
    return whole("text", page, master, "".join(body))


def rows(sentences: Iterator[str], count: int, columns: int) -> str:
    """Rows of a table."""
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    found = f'<table:table-column table:number-columns-repeated="{columns}"/>'
    for _ in range(count):
        cells = "".join(cell.format(one) for one in islice(sentences, columns))
        found += f"<table:table-row>{cells}</table:table-row>"
    return found


def slides(sentences: Iterator[str], paragraphs: int) -> str:
    """Slides with a title, a list and notes."""
    page = '<style:page-layout style:name="L"><style:page-layout-properties fo:page-width="28cm" '
    page += 'fo:page-height="21cm"/></style:page-layout>'
    master = '<office:master-styles><style:master-page style:name="M" style:page-layout-name="L"/>'
    master += "</office:master-styles>"
    box = '<draw:frame svg:width="25cm" svg:height="{}cm" svg:x="1cm" svg:y="{}cm"><draw:text-box>'
    end = "</draw:text-box></draw:frame>"
    body = []
    for number in range(max(paragraphs // 6, 2)):
        title = f"{box.format(2, 1)}<text:p>{next(sentences)}</text:p>{end}"
        items = "".join(
            f"<text:list-item><text:p>{one}</text:p></text:list-item>"
            for one in islice(sentences, 4)
        )
        notes = f"<presentation:notes>{box.format(10, 10)}<text:p>{next(sentences)}</text:p>{end}"
        body.append(
            f'<draw:page draw:name="page{number}" draw:master-page-name="M">{title}'
            f"{box.format(12, 5)}<text:list>{items}</text:list>{end}{notes}</presentation:notes>"
            "</draw:page>"
        )
    return whole("presentation", page, master, "".join(body))


def sheet(sentences: Iterator[str], paragraphs: int) -> str:
    """A sheet with texts, numbers and formulas."""
    number = '<table:table-cell office:value-type="float" office:value="{0}"><text:p>{0}</text:p>'
    number += "</table:table-cell>"
    formula = '<table:table-cell table:formula="of:=[.B{0}]*2" office:value-type="float" '
    formula += 'office:value="{1}"/>'
    body = ""
    for n in range(1, paragraphs + 1):
        text = rows(sentences, 1, 1).partition("<table:table-row>")[2]
        body += f"<table:table-row>{text.removesuffix('</table:table-row>')}"
        body += f"{number.format(n)}{formula.format(n, 2 * n)}</table:table-row>"
    column = (
        '<style:style style:name="C" style:family="table-column"><style:table-column-properties '
    )
    column += 'style:column-width="12cm"/></style:style>'
    columns = '<table:table-column table:style-name="C"/>'
    return whole(
        "spreadsheet", column, "", f'<table:table table:name="One">{columns}{body}</table:table>'
    )


if __name__ == "__main__":
    sys.exit(main())
