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
    """A note for each text that is the name of a file, for `translate`, which reads documents too.

    Where every text looks like the name of a document, a name without a file has a note, too. Among
    other texts it may well be a text, such as one string of a program.
    """
    all_names = all(map(_is_name, texts))
    for number, text in enumerate(texts, start=1):
        if _is_file(text):
            plain = not has_ending(text) or Path(text).suffix.lower() in PLAIN
            alone = len(texts) == 1
            yield _of_lines(number, text) if plain else _of_document(number, text, target, alone)
        elif all_names and not is_there(text):
            yield f"there is no file {text}; it is translated as text"


def _of_lines(number: int, text: str) -> str:
    name = shlex.quote(text)
    return f"{_as_text(number, text)}; to use the lines of the file, write < {name}"


def _of_document(number: int, text: str, target: str | None, alone: bool) -> str:
    from allyouneed.documents.formats import BY_ENDING  # slow to import, and seldom needed

    path = Path(text)
    ending = BY_ENDING[path.suffix.lower().lstrip(".")].writes or path.suffix.lstrip(".")
    language = code_of(target) if target else "translated"
    place = shlex.quote(str(path.with_suffix(f".{language}.{ending}")))
    first = "" if alone else "leave out the other texts and "
    return f"{_as_text(number, text)}; to translate the document, {first}add --output {place}"


def _as_text(number: int, text: str) -> str:
    return f"text {number} is the name of a file, but {text!r} itself is used as the text"


def _is_name(text: str) -> bool:
    """Whether a text is one word with the ending of a document, and no address of a page."""
    return has_ending(text) and len(text.split()) == 1 and "://" not in text


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or with a NUL in it
        return False
