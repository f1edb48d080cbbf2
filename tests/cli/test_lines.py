"""Lines of standard input: as they arrive, whole, and never lost."""

import io
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.cli import lines
from allyouneed.cli.lines import arriving_lines, given_or_arriving


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
