"""JSON lines and long texts: any number of lines in the same memory, and only texts change."""

import gc
import json
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from pathlib import Path

import pytest

from allyouneed.documents import json_lines, parts, recent_sentences, text
from allyouneed.documents.document import Document
from allyouneed.documents.formats import BY_NAME, documents_of, format_of
from allyouneed.documents.json_lines import read_json_lines
from allyouneed.documents.text import read_text
from allyouneed.documents.translating import DocumentTranslator
from allyouneed.errors import DataError
from allyouneed.translation.result import Translation

Read = Callable[[bytes], Document]
Through = Callable[[Read, bytes], bytes]

LINE = '{"id": "a-1 b", "n": 7, "url": "https://a.b/c d", "Title": "one", "text": "two {x}"}\n'


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART", 60)


def loud(texts: list[str], alignments: bool) -> Iterator[Translation]:
    for one in texts:
        links = tuple((n, n) for n in range(len(one.split())))
        yield Translation(
            source=one, text=one.upper(), tokens=(), token_log_probabilities=(), alignment=links
        )


def streamed(name: str, data: bytes) -> bytes:
    """The file said aloud, read part by part."""
    translator = DocumentTranslator(loud)
    written = []
    for document in BY_NAME[name].documents(BytesIO(data)):
        translator.translate(document)
        written.append(document.written())
    return b"".join(written)


def test_texts_change_and_all_else_stays(aloud: Through) -> None:
    expected = LINE.replace('"one"', '"ONE"').replace("two {x}", "TWO {x}")
    assert aloud(read_json_lines, LINE.encode()).decode() == expected


@pytest.mark.parametrize(
    ("line", "keys", "expected"),
    [
        ('{"a": {"b": "x y"}, "b": "z"}', ["a.b"], '{"a": {"b": "X Y"}, "b": "z"}'),
        ('{"a": {"b": "x y"}, "b": "z"}', ["b"], '{"a": {"b": "X Y"}, "b": "Z"}'),
        ('{"a": ["x", {"c": "y"}, "z"]}', ["a"], '{"a": ["X", {"c": "y"}, "Z"]}'),
        ('{"a": [[{"c": "y"}], "z"]}', ["a.c"], '{"a": [[{"c": "Y"}], "z"]}'),
        ('"just a text"', [], '"JUST A TEXT"'),
        ('{"text": "caf\\u00e9"}', [], '{"text": "CAF\\u00c9"}'),
        ('{"text": "café"}', [], '{"text": "CAFÉ"}'),
        ('{"title": "a b", "text": "fileName"}', [], '{"title": "A B", "text": "fileName"}'),
    ],
)
def test_keys(line: str, keys: list[str], expected: str) -> None:
    format = BY_NAME["jsonl"].with_keys(keys)
    for document in (format.read(line.encode()), *format.documents(BytesIO(line.encode()))):
        DocumentTranslator(loud).translate(document)
        assert document.written().decode() == expected


def test_keys_of_json(aloud: Through) -> None:
    found = aloud(BY_NAME["json"].with_keys(["b"]).read, b'{"a": "x", "b": ["y", {"b": "z"}]}')
    assert found == b'{"a": "x", "b": ["Y", {"b": "Z"}]}'


def test_keys_that_json_lacks_are_an_error() -> None:
    read = BY_NAME["json"].with_keys(["b"]).read
    with pytest.raises(DataError, match=r"no string has one of the keys b; .* the keys a, c\.d"):
        read(b'{"a": "x", "c": {"d": "y"}}')
    assert not read(b'{"a": 1}').passages


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_bad_lines_stay_and_are_told(end: bytes) -> None:
    lines = [LINE.encode().strip(), b'{"text": "a"', b"", b'{"text": "\xff"}', b'{"text": "last"}']
    every = [*BY_NAME["jsonl"].documents(BytesIO(end.join(lines)))]
    assert len(every) == 2
    assert b"".join(one.written() for one in every) == end.join(lines)
    notes = [note for one in every for note in one.notes]
    assert notes[0].startswith("strings of these keys stay as they are: id, url")
    assert [note.partition(":")[0] for note in notes[1:]] == [
        "line 2 stays as it is",
        "line 4 stays as it is",
    ]
    places = [passage.where for one in every for passage in one.passages]
    assert places == ["line 1, Title", "line 1, text", "line 5, text"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"A text.\nAnd another.\n", "not JSON lines: line 1"),
        (b'{"id": "a b", "payload": {"msg": "c"}}\n', "--keys id,payload.msg"),
        ('{"text": "a"}\n'.encode("utf-16"), "save it as UTF-8"),
        (b'{"text": "' + b"a" * 200, "line 1 is longer than"),
    ],
)
def test_files_without_a_text(monkeypatch: pytest.MonkeyPatch, data: bytes, said: str) -> None:
    monkeypatch.setattr(parts, "LONGEST", 100)
    with pytest.raises(DataError, match=said):
        read_json_lines(data)


PARAGRAPH = "A man rides a bike, and he\r\nrides it well.\r\n\r\n- one\r- two\n \n\nlast — ü\n"


@pytest.mark.usefixtures("small_parts")
def test_a_text_in_parts_is_the_text() -> None:
    data = (PARAGRAPH * 20).encode()
    whole = read_text(data)
    every = [*text.stream_text(BytesIO(data))]
    assert len(every) > 10
    assert b"".join(one.written() for one in every) == data
    places = [(one.where, one.text) for document in every for one in document.passages]
    assert places == [(one.where, one.text) for one in whole.passages]
    DocumentTranslator(loud).translate(whole)
    assert streamed("text", data) == whole.written()


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("codec", ["cp1252", "utf-16"])
def test_a_text_in_another_encoding_is_read_whole(codec: str) -> None:
    data = (PARAGRAPH * 20).encode(codec)
    [document] = text.stream_text(BytesIO(data))
    assert document.written() == data


def test_a_text_without_an_empty_line_ends_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART", 16)
    data = b"".join(b"Line %d.\n" % n for n in range(1000))
    assert len([*text.stream_text(BytesIO(data))]) > 20
    assert streamed("text", data) == data.upper()


def lines_of(count: int) -> Iterable[str]:
    for n in range(count):
        yield (
            json.dumps({"id": n, "text": f"The number {n} is a number. It is not {n + 1}."}) + "\n"
        )


def peak(path: Path, target: Path) -> int:
    """The most memory that is taken while the file is translated, in bytes."""
    translator = DocumentTranslator(loud)
    tracemalloc.start()
    with target.open("wb") as file:
        for document, _ in documents_of(path, format_of(path)):
            translator.translate(document)
            file.write(document.written())
            gc.collect()  # what is in cycles would count until it is collected
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


@pytest.mark.parametrize("ending", ["jsonl", "txt"])
def test_four_times_the_lines_take_the_same_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: str
) -> None:
    monkeypatch.setattr(parts, "PART", 4000)
    monkeypatch.setattr(recent_sentences, "MOST", 20)
    peaks = []
    for count in (150, 600):
        path = tmp_path / f"{count}.{ending}"
        path.write_text("\n".join(lines_of(count)))
        peaks.append(peak(path, tmp_path / "out"))
        target = (tmp_path / "out").read_text()
        assert target.count("IS A NUMBER") == count
    assert peaks[1] < 1.3 * peaks[0]


def test_the_default_keys_are_in_small_letters() -> None:
    assert {key.lower() for key in json_lines.TEXT_KEYS} == json_lines.TEXT_KEYS
