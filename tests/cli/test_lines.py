"""Lines of standard input: as they arrive, whole, and never lost."""

import codecs
import io
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.cli import lines
from allyouneed.cli.lines import arriving_lines, given_or_arriving
from allyouneed.cli.named_files import notes_on_documents


def read(content: bytes, portion: int = lines.READ_BYTES) -> tuple[list[str], list[str]]:
    """All lines, and all notes, when so many bytes arrive at a time."""

    class Slow(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            assert size == lines.READ_BYTES
            return super().read1(portion)

    notes: list[str] = []
    chunks = list(arriving_lines(Slow(content), notes.append))
    assert all(chunks)
    return [line for chunk in chunks for line in chunk], notes


@given(
    texts=st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\ufeff"))
    ),
    portion=st.integers(1, 50),
    ended=st.booleans(),
)
@settings(max_examples=50, deadline=None)
def test_lines_come_back_whatever_arrives_when(texts: list[str], portion: int, ended: bool) -> None:
    content = "\n".join(texts) + ("\n" if ended else "")
    expected = content.split("\n")[:-1] if content.endswith("\n") else content.split("\n")
    assert read(content.encode(), portion) == (expected if content else [], [])


def test_lines_end_at_newlines_alone() -> None:
    text = "a\rb\x0bc\x0cd\x1ce\x85f\u2028g"
    assert read(f"{text}\n{text}".encode()) == ([text, text], [])


def test_bytes_that_are_no_utf8_are_replaced_and_noted() -> None:
    found, notes = read(b"good\nb\xffd\n\xed\xa0\x80\n")
    assert found == ["good", "b\ufffdd", "\ufffd\ufffd\ufffd"]
    assert [note.split(":")[0] for note in notes] == ["line 2", "line 3"]
    assert "byte 2 (0xFF)" in notes[0]


def test_a_byte_order_mark_is_taken_off_the_first_line_alone() -> None:
    found, notes = read(b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n")
    assert found == ["a", "\ufeffb"]
    assert notes == ["line 1: byte order mark removed"]


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
@pytest.mark.parametrize("portion", [1, 3, 50])
def test_utf16_with_its_mark_is_read(mark: bytes, portion: int) -> None:
    codec = "utf-16-le" if mark == codecs.BOM_UTF16_LE else "utf-16-be"
    text = "Grüße 😀\r\n\n\u0a0a, \ufeff\nlast"
    found, notes = read(mark + text.encode(codec), portion)
    assert found == text.split("\n")
    assert notes == ["standard input is UTF-16; the results are UTF-8"]


def test_utf16_that_is_damaged_loses_no_line() -> None:
    found, notes = read(codecs.BOM_UTF16_LE + b"a\0\x00\xd8\n\0b\0c")
    assert found == ["a\ud800", "b\ufffd"]  # a verb tells of lone surrogates
    assert "ends within a character of UTF-16" in notes[1]


@pytest.mark.parametrize("content", [b"", b"\xff", b"\xffa\n", b"\xfe"])
def test_half_a_mark_of_utf16_is_none(content: bytes) -> None:
    expected = [content.decode(errors="replace").removesuffix("\n")] if content else []
    assert read(content, 1)[0] == expected


def test_the_end_of_an_empty_stream_is_read_once() -> None:
    """At a terminal, Ctrl-D must end the input at once."""
    ends: list[bytes] = []

    class Empty(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            ends.append(b"")
            return b""

    assert list(arriving_lines(Empty(), lambda note: None)) == []
    assert len(ends) == 1


def test_a_line_is_given_out_before_the_next_one_comes() -> None:
    outlet, inlet = os.pipe()
    with os.fdopen(outlet, "rb") as stream:
        arriving = arriving_lines(stream, lambda note: None)
        for line in ("one", "two"):
            os.write(inlet, f"{line}\n".encode())
            assert next(arriving) == [line]
        os.close(inlet)
        assert list(arriving) == []


def test_a_text_that_is_the_name_of_a_file_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("input.txt").write_text("Hello.\n")
    notes: list[str] = []
    texts = ["Hello.", "input.txt", "x" * 5000, "a\0b", "."]
    assert list(given_or_arriving(texts, notes.append)) == [texts]
    (note,) = notes
    assert note.startswith(
        "text 2 is the name of a file, but 'input.txt' itself is used as the text"
    )


@pytest.mark.parametrize(
    ("texts", "target", "said"),
    [
        (["d.docx"], "fr", ["to translate the document, add --output d.fr.docx"]),
        (["d.docx"], "French", ["add --output d.fr.docx"]),
        (["d.docx"], None, ["add --output d.translated.docx"]),
        (["a b.PDF"], "fr", ["add --output 'a b.fr.md'"]),
        (["d.docx", "Hello."], "fr", ["leave out the other texts and add --output d.fr.docx"]),
        (["d.txt"], "fr", ["to use the lines of the file, write < d.txt"]),
        (["d.txt"], "fr", ["to translate the document, add --output d.fr.txt; to use the lines"]),
        (["hb/a.txt"], "fr", ["to translate the document, add --output hb/a.fr.txt; to use the"]),
        (["hb/old"], "fr", ["to translate the document, add --output hb/old.fr"]),
        (["old"], "fr", ["to use the lines of the file, write < old"]),
        (["hb"], "fr", ["a folder, but 'hb' itself is used as the text; to translate its docu"]),
        (["hb/"], "fr", ["to translate its documents, add --output hb-fr"]),
        (["."], "fr", []),
        (["d.txt", "hb"], "fr", ["the document, add --output FOLDER", "add --output FOLDER"]),
        (["no.docx"], "fr", ["there is no file no.docx; it is translated as text"]),
        (["no.docx", "d.docx"], "fr", ["there is no file no.docx", "text 2 is the name of a"]),
        (["no.docx", "Hello."], "fr", []),
        (["Open no.docx"], "fr", []),
        (["https://example.org/no.html"], "fr", []),
        (["Hello."], "fr", []),
        (["a\0.txt"], "fr", ["there is no file"]),
    ],
)
def test_names_of_documents(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    texts: list[str],
    target: str | None,
    said: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hb").mkdir()
    for name in ("d.docx", "a b.PDF", "d.txt", "old", "hb/a.txt", "hb/old"):
        Path(name).touch()
    notes = list(notes_on_documents(texts, target))
    for note, part in zip(notes, said, strict=True):
        assert part in note
