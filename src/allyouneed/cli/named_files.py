"""Notes on texts that are names of files, because the user probably meant the files."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from allyouneed.cli.document_place import has_ending, is_there
from allyouneed.text.language_names import code_of

PLAIN = frozenset({".txt", ".text"})  # the endings of files whose lines are all text


def notes_on_files(texts: Sequence[str]) -> Iterator[str]:
    """A note for each text that is the name of a file, for a verb that reads lines."""
    for number, text in enumerate(texts, start=1):
        if _is_file(text):
            yield _of_lines(number, text)


def notes_on_documents(texts: Sequence[str], target: str | None) -> Iterator[str]:
    """A note for each text that is the name of a file or folder, for `translate`, which reads
    documents too.

    Where every text looks like the name of a document, a name without a file has a note, too. Among
    other texts it may well be a text, such as one string of a program.
    """
    all_names = all(map(_is_name, texts))
    several_there = len(texts) > 1 and all(map(is_there, texts))
    for number, text in enumerate(texts, start=1):
        if _is_file(text) and not has_ending(text) and Path(text).name == text:
            yield _of_lines(number, text)
        elif _is_file(text) or _is_folder(text):
            place = "FOLDER" if several_there else _place(text, target)
            first = "leave out the other texts and " if len(texts) > 1 and not several_there else ""
            yield _of_document(number, text, f"{first}add --output {place}")
        elif all_names and not is_there(text):
            yield f"there is no file {text}; it is translated as text"


def _of_lines(number: int, text: str) -> str:
    return f"{_as_text(number, text)}; {_lines_of(text)}"


def _of_document(number: int, text: str, advice: str) -> str:
    document = "its documents" if _is_folder(text) else "the document"
    lines = f"; {_lines_of(text)}" if Path(text).suffix.lower() in PLAIN else ""
    return f"{_as_text(number, text)}; to translate {document}, {advice}{lines}"


def _place(text: str, target: str | None) -> str:
    """A name for the translation of a file or folder, as a shell reads it."""
    from allyouneed.documents.formats import BY_ENDING  # slow to import, and seldom needed

    path = Path(text)
    language = code_of(target) if target else "translated"
    if path.is_dir():
        return shlex.quote(str(path.with_name(f"{path.name}-{language}")))
    format = BY_ENDING.get(path.suffix.lower().lstrip("."))
    ending = f".{format.writes}" if format and format.writes else path.suffix
    return shlex.quote(str(path.with_suffix(f".{language}{ending}")))


def _lines_of(text: str) -> str:
    return f"to use the lines of the file, write < {shlex.quote(text)}"


def _as_text(number: int, text: str) -> str:
    kind = "folder" if _is_folder(text) else "file"
    return f"text {number} is the name of a {kind}, but {text!r} itself is used as the text"


def _is_name(text: str) -> bool:
    """Whether a text is one word with the ending of a document, and no address of a page."""
    return has_ending(text) and len(text.split()) == 1 and "://" not in text


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or with a NUL in it
        return False


def _is_folder(text: str) -> bool:
    """Whether a text is the name of a folder; "." and ".." are punctuation, too, and are none."""
    try:
        return Path(text).is_dir() and bool(Path(text).name.strip("."))
    except (OSError, ValueError):  # as in _is_file
        return False
