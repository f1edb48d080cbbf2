"""The files that a call of `translate` names, each with the place of its translation."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from allyouneed.cli.document_place import named_by
from allyouneed.cli.output import note
from allyouneed.documents.formats import BY_ENDING, documents_of, format_of
from allyouneed.errors import AllYouNeedError, UsageError

Job: TypeAlias = tuple[Path, Path]  # a file, and the path of its translation
LOCK = "~$"  # how the names begin that Office gives to the marks of open files
NOT_MEANT = (".", LOCK)
SAMPLED = 20  # texts of a document that tell its language


def document_jobs(given: Sequence[str], target: Path, format: str | None) -> list[Job]:
    """Each file with the path of its translation. Where `target` is a folder, the translations keep
    the tree that the files have below the folder common to all names in `given`.

    Raises:
        UsageError: a file does not exist or has no known format, or `target` cannot hold the
            translations: two would have one path, or one the path of a file to translate.
    """
    named = list(dict.fromkeys(path for name in given for path in _named(name)))
    found = dict.fromkeys(file for path in named for file in _files(path, target, format))
    files = [file for file in found if _is_meant(file, named)]
    if (count := len(found) - len(files)) > 0:
        names = "1 file or folder" if count == 1 else f"{count:,} files and folders"
        note(f"{names} not translated, because of a name that begins with . or {LOCK}")
    if not files:
        raise UsageError(f"{', '.join(given)}: there is no file of a known format")
    single = len(named) == 1 and not named[0].is_dir()
    into_folder = target.is_dir() or not single
    if into_folder and target.is_file():
        raise UsageError(f"{target} is a file; name a folder for several files")
    if into_folder:
        base = _common_folder(named)
        places = [_within(target, os.path.relpath(file, base), file, format) for file in files]
    else:
        _check_ending(files[0], target, format)
        places = [target]
    jobs = list(zip(files, places, strict=True))
    _check_overwriting(jobs)
    return jobs


def first_texts(jobs: Sequence[Job], format: str | None) -> Iterator[str]:
    """Some texts of the first document that has any, for the recognition of their language."""
    for path, _ in jobs:
        try:
            document, _ = next(documents_of(path, format_of(path, format)))
        except (AllYouNeedError, OSError, StopIteration):
            continue  # the translation tells it
        if document.passages:
            yield from (passage.text for passage in document.passages[:SAMPLED])
            return


def _named(name: str) -> list[Path]:
    """The file or folder of this name, or the files that it names as a pattern."""
    if Path(name).is_dir():
        return [Path(name)]
    found = [path for path in named_by(name) if path.is_file()]
    if not found:
        raise UsageError(f"{name}: no such file; without --to FILE it is translated as text")
    return found


def _files(path: Path, target: Path, format: str | None) -> Iterator[Path]:
    """The file `path`, or the files of a known format in the folder `path`, and what nobody means
    there."""
    if not path.is_dir():
        format_of(path, format)
        yield path
        return
    for one in sorted(_inside(path, target)):
        if one.name.startswith(NOT_MEANT):
            yield one
        elif not one.is_file():
            continue
        elif format or one.suffix.lower().lstrip(".") in BY_ENDING:
            yield one
        else:
            note(f"{one}: not translated, because its suffix is that of no known format")


def _inside(folder: Path, target: Path) -> Iterator[Path]:
    """The files in a folder and its subfolders. Of a subfolder that nobody means, the subfolder
    itself. The folder `target` is left out, where earlier translations lie."""
    for here, folders, names in os.walk(folder):
        for name in [*folders]:
            if name.startswith(NOT_MEANT):
                folders.remove(name)
                names.append(name)
            elif Path(here, name).resolve() == target.resolve():
                folders.remove(name)
                if any(target.iterdir()):
                    note(f"{target}: not translated, because the translations are written there")
        yield from (Path(here, name) for name in names)


def _is_meant(file: Path, named: Sequence[Path]) -> bool:
    """Whether a file is one to translate: no lock of Office, and hidden only if it is named."""
    return not file.name.startswith(NOT_MEANT) or (file in named and not file.name.startswith(LOCK))


def _common_folder(named: Sequence[Path]) -> str:
    """The deepest folder that all named folders and files are in; of one folder, the folder itself.

    Raises:
        UsageError: there is none, because the files are on several drives of Windows.
    """
    folders = [path if path.is_dir() else path.parent for path in named]
    try:
        return os.path.commonpath([os.path.abspath(folder) for folder in folders])  # noqa: PTH100
    except ValueError as error:
        raise UsageError("the files are on several drives; translate each drive's alone") from error


def _within(folder: Path, inside: str, file: Path, format: str | None) -> Path:
    """The path in `folder` of a file's translation, with the ending of the translation's format."""
    place = folder / inside
    writes = format_of(file, format).writes
    return place.with_suffix(f".{writes}") if writes else place


def _check_overwriting(jobs: Sequence[Job]) -> None:
    """Raises UsageError if a translation would overwrite a file to translate or another
    translation."""
    sources = {source.resolve() for source, _ in jobs}
    written: dict[Path, Path] = {}
    for source, place in jobs:
        if place.resolve() in sources:
            raise UsageError(
                f"the translation would overwrite {place}; name another file or folder"
            )
        other = written.setdefault(place, source)
        if other != source:
            raise UsageError(
                f"the translations of {other} and {source} would both be {place}; translate one of "
                "them by itself, and name another file for it"
            )


def _check_ending(path: Path, place: Path, format: str | None) -> None:
    """A translation has the format of its file, whatever it is called.

    Raises:
        UsageError: the ending of `place` names another format, or a new file would have none.
    """
    writes = format_of(path, format).writes
    ending = f".{writes}" if writes else path.suffix
    if ending and not place.suffix and not place.exists():
        raise UsageError(
            f"{place} has no ending; name {place}{ending}, or make the folder {place} first"
        )
    if writes and place.suffix.lower() == path.suffix.lower():
        raise UsageError(
            f"the translation of {path} is written as {writes}; name {place.with_suffix(ending)}"
        )
    named = BY_ENDING.get(place.suffix.lower().lstrip("."))
    if not (writes or format) and named not in (None, format_of(path)):
        better = place.with_suffix(path.suffix)
        if better.resolve() == path.resolve():
            better = place.with_suffix(f".translated{path.suffix}")
        raise UsageError(
            f"{place} would not be {named.name}: the translation of {path} has the same format as "
            f"the file; name {better}, or --format for {path}"
        )
