"""Documents through translators whose work can be foreseen."""

from collections.abc import Callable, Sequence

import pytest

from allyouneed.documents.document import Document
from allyouneed.translation.markup.carrying import Carrier
from allyouneed.translation.markup.protected import Protection
from allyouneed.translation.result import Translation

Read = Callable[[bytes], Document]
Through = Callable[[Read, bytes], bytes]


def said(text: str) -> str:
    """The words in upper case, but for names that stand in for literals."""
    return " ".join(
        word if "Tom" in word or "Berlin" in word else word.upper() for word in text.split()
    )


def loud(texts: list[str], alignments: bool) -> Sequence[Translation]:
    """A translator that says everything in upper case."""
    return [_made(text, said(text), reverse=False) for text in texts]


def backwards(texts: list[str], alignments: bool) -> Sequence[Translation]:
    """A translator that says the words from the last to the first."""
    return [_made(text, " ".join(reversed(text.split())), reverse=True) for text in texts]


def _made(text: str, target: str, reverse: bool) -> Translation:
    count = len(text.split())
    links = tuple((count - n - 1 if reverse else n, n) for n in range(count))
    return Translation(
        source=text,
        text=target,
        alignment=links,
        tokens=(),
        token_log_probabilities=(),
    )


def _through(translate: Callable[[list[str], bool], Sequence[Translation]]) -> Through:
    def run(read: Read, data: bytes) -> bytes:
        document = read(data)
        assert document.written() == data, "without translations the file is the same"
        carrier = Carrier(translate, Protection(document.protect))
        carried = carrier.carry([passage.nodes for passage in document.passages])
        for passage, one in zip(document.passages, carried, strict=True):
            passage.take(one)
        return document.written()

    return run


@pytest.fixture(scope="session")
def aloud() -> Through:
    """Reads, says all in upper case, writes."""
    return _through(loud)


@pytest.fixture(scope="session")
def turned() -> Through:
    """Reads, turns the words of every sentence round, writes."""
    return _through(backwards)
