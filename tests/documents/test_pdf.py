"""PDF: its text becomes Markdown; what cannot be read is an error that says what to do."""

import io
import logging
import re
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.documents import pdf
from allyouneed.documents.document import Document
from allyouneed.documents.pdf import read_pdf
from allyouneed.documents.translating import translate_document
from allyouneed.errors import AllYouNeedError, DataError, UsageError
from allyouneed.translation.result import Translation

pypdf = pytest.importorskip("pypdf")
SECONDS = 5.0
SHEET = "/MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >>"


def made(pages: Sequence[Sequence[str]]) -> bytes:
    """A PDF with these lines on its pages."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for n, lines in enumerate(pages):
        shown = "".join(f"({line}) Tj T*\n" for line in lines)  # no brackets in these lines
        stream = f"BT /F1 11 Tf 14 TL 60 760 Td\n{shown}ET"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /Contents {5 + 2 * n} 0 R {SHEET} >>",
            f"<< /Length {len(stream.encode('cp1252'))} >>\nstream\n{stream}\nendstream",
        ]
    data = b"%PDF-1.4\n"
    places = []
    for number, one in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n{one}\nendobj\n".encode("cp1252")
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size "
    end += f"{len(places) + 1} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + end.encode()


PAGES = [
    [
        "A Report on Bicycles",
        "A man rides a bike through the old town of Berlin, because he is",
        "late for work. He does not see that the traffic light is red, and the",
        "police officer stops him near the rail-",
        "way station, which is a pity.",
        "• one thing",
        "• another thing that is so long that it needs a second line of text on",
        "this page",
        "1. first *star* <b>",
        "# no heading",
        "Many people like to read long reports about trains, bicycles, cars and",
        "1",
    ],
    ["2", "ships, which go on in the next page.", "The end — café."],
]
MARKDOWN = r"""A Report on Bicycles

A man rides a bike through the old town of Berlin, because he is late for work. He does not see that the traffic light is red, and the police officer stops him near the railway station, which is a pity.

- one thing

- another thing that is so long that it needs a second line of text on this page

1. first \*star\* \<b\>

\# no heading

Many people like to read long reports about trains, bicycles, cars and ships, which go on in the next page.

The end — café.

"""  # noqa: E501


def loud(texts: list[str], alignments: bool) -> list[Translation]:
    return [
        Translation(
            source=one, text=one.upper(), tokens=(), token_log_probabilities=(),
            alignment=tuple((n, n) for n in range(len(one.split()))),
        )
        for one in texts
    ]  # fmt: skip


def test_text_becomes_markdown() -> None:
    document = read_pdf(made(PAGES))
    assert document.written().decode() == MARKDOWN
    report = translate_document(document, loud)
    shown = r"\<b\>"  # a tag that the text shows is no text
    assert document.written().decode() == MARKDOWN.upper().replace(shown.upper(), shown)
    assert report.notes == [pdf.NOTE]


def test_pages_without_text_are_told() -> None:
    document = read_pdf(made([["One page."], [], []]))
    assert "2 of 3 pages have no text" in document.notes[-1]


def encrypted(password: str) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(made(PAGES)))
    writer.encrypt(password, owner_password="owner", algorithm="RC4-128")
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def test_a_pdf_that_anybody_may_open_is_read() -> None:
    assert read_pdf(encrypted("")).written().decode() == MARKDOWN


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (lambda: made([[], []]), "the pages are pictures. Recognise their text first"),
        (lambda: encrypted("secret"), "protected by a password; save it without one"),
        (lambda: b"no PDF at all", "is no PDF, or a damaged one"),
        (lambda: b"", "is no PDF, or a damaged one"),
        (lambda: made(PAGES)[:200], "is no PDF, or a damaged one"),
        (lambda: made([["a"]] * 30), "30 pages; at most 20 are read"),
        (lambda: made([["many words " * 50]] * 3), "more than 1,000 characters"),
    ],
)
def test_files_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, data: Callable[[], bytes], said: str
) -> None:
    monkeypatch.setattr(pdf, "MOST_PAGES", 20)
    monkeypatch.setattr(pdf, "MOST_CHARACTERS", 1000)
    with pytest.raises(DataError, match=re.escape(said)):
        read_pdf(data())


def test_without_the_library_the_error_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(UsageError, match=r"allyouneed\[documents\]"):
        read_pdf(made(PAGES))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 40))
def test_a_damaged_pdf_is_a_document_or_an_error(seed: int) -> None:
    random = Random(seed)
    data = bytearray(made(PAGES))
    for _ in range(random.randint(1, 6)):
        at, end = sorted(random.choices(range(len(data) + 1), k=2))
        some = random.choice([random.randbytes(4), b"<<", b"/Kids [2 0 R]", b"99999999999", b"("])
        if random.random() < 0.3:
            del data[at:end]
        else:
            data[at : at + len(some)] = some
    begin = time.process_time()
    document: Document | None = None
    with suppress(AllYouNeedError):
        document = read_pdf(bytes(data))
    if document is not None:
        translate_document(document, loud)
        document.written().decode()
    assert time.process_time() - begin < SECONDS


def test_pages_that_contain_themselves_end(caplog: pytest.LogCaptureFixture) -> None:
    data = made(PAGES).replace(b"/Kids [4 0 R", b"/Kids [2 0 R")
    begin = time.process_time()
    with (
        caplog.at_level(logging.WARNING),
        pytest.raises(DataError, match="the file is no PDF, or a damaged one"),
    ):
        read_pdf(data)
    assert time.process_time() - begin < SECONDS
