"""`allyouneed translate FILE --to FILE`: translates files and folders of documents."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allyouneed.cli.bar import bar
from allyouneed.cli.document_place import matching
from allyouneed.cli.output import note
from allyouneed.cli.translate_options import Documents
from allyouneed.documents.bilingual import pairs_of, writer_for
from allyouneed.documents.formats import BY_ENDING, documents_of, format_of
from allyouneed.documents.memory import TranslationMemory, read_tmx, update_tmx
from allyouneed.documents.recent_sentences import TranslateMany
from allyouneed.documents.translating import DocumentReport, DocumentTranslator
from allyouneed.errors import AllYouNeedError, UsageError
from allyouneed.files import whole_file, write_whole
from allyouneed.text.language_names import code_of
from allyouneed.translation.markup.passage import Passage
from allyouneed.translation.markup.protected import Protection

if TYPE_CHECKING:
    from allyouneed.translation.pivot import Relay
    from allyouneed.translation.result import Translation
    from allyouneed.translation.translator import Translator

SHOWN = 20  # notes shown for one file; of the others only the number is shown
SAMPLED = 20  # texts of a document that tell its language
COMPARED = 2_000  # sentences of a run that are compared with the sentences of a memory


@dataclass(slots=True)
class _Run:
    """The state that all files of a call share."""

    translate: TranslateMany
    options: Documents
    protect: Sequence[str]
    memory: TranslationMemory | None
    languages: tuple[str, str]
    passages: list[Passage] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def translate_documents(
    given: Sequence[str],
    target: Path,
    opening: "Callable[[], Translator | Relay]",
    how: Mapping[str, Any],
    options: Documents,
    protect: Sequence[str] = (),
) -> None:
    """Translates files into the file or folder `target`. Each is written whole or not at all.

    Raises:
        UsageError: a file does not exist, `target` cannot hold its translation, or an option
            cannot be used.
        AllYouNeedError: at the end, if one of several files could not be translated.
    """
    _check(options, protect)
    jobs = list(_jobs(given, target, options.format))
    several = len(jobs) > 1
    if options.keys and not any(format_of(path, options.format).has_keys for path, _ in jobs):
        raise UsageError(f"--keys is for JSON, JSON lines, CSV and TSV; {jobs[0][0]} has no keys")
    translator = opening()
    if (terms := how.get("terms")) is not None:
        how = {**how, "terms": translator.glossary(terms, how.get("source"), how.get("target"))}
    codes = _codes(translator, how)
    memory = None
    if options.memory is not None:
        is_new = options.update_memory and not options.memory.exists()
        memory = TranslationMemory({}) if is_new else read_tmx(options.memory, *codes)

    def translate(texts: list[str], alignments: bool) -> "Iterator[Translation]":
        return translator.translate_lines(texts, alignments=alignments, **how)

    run = _Run(translate, options, protect, memory, codes)
    for source, place in jobs:
        if options.resume and _is_done(source, place):
            note(f"{place} exists and is newer than {source}")
            continue
        try:
            _one(run, source, place)
        except (AllYouNeedError, OSError) as error:
            if not several:
                raise
            run.failed.append(f"{source}: {error}")
            note(f"{source} was not translated: {error}")
    if options.bilingual is not None:
        title = target.name or str(target)
        write_whole(options.bilingual, writer_for(options.bilingual)(run.passages, *codes, title))
    if memory is not None:
        _tell_similar(run, memory)
        if options.update_memory and options.memory is not None:
            new = [(one.source, one.target) for one in pairs_of(run.passages) if one.translation]
            count = update_tmx(options.memory, memory, new, *codes)
            note(f"{options.memory}: {count:,} new sentences")
    if run.failed:
        raise AllYouNeedError(
            f"{len(run.failed)} of {len(jobs)} files were not translated: {'; '.join(run.failed)}"
        )


def _check(options: Documents, protect: Sequence[str]) -> None:
    Protection(protect)
    if options.update_memory and options.memory is None:
        raise UsageError("--update-memory needs --memory FILE, the file to update")
    if options.bilingual is not None:
        writer_for(options.bilingual)


def _one(run: _Run, source: Path, target: Path) -> None:
    format = format_of(source, run.options.format).with_keys(run.options.named_keys)
    parts = documents_of(source, format)
    first = list(islice(parts, 1))  # read before anything is written
    target.parent.mkdir(parents=True, exist_ok=True)
    translator = DocumentTranslator(
        run.translate, protect=run.protect, recall=run.memory, languages=run.languages
    )
    with bar(source.name) as show, whole_file(target) as place, place.open("wb") as file:
        begin = 0.0
        for document, end in chain(first, parts):

            def progress(done: int, total: int, begin: float = begin, end: float = end) -> None:
                share = begin + (end - begin) * done / max(total, 1)
                show(source.name, round(100 * share), 100)

            translator.translate(document, progress)
            file.write(document.written())
            begin = end
            if run.options.bilingual is not None or run.memory is not None:
                run.passages += document.passages
    _tell(source, target, translator.report)


def _tell(source: Path, target: Path, report: DocumentReport) -> None:
    known = f", {report.recalled:,} of them from the memory" if report.recalled else ""
    sentences = "1 sentence" if report.sentences == 1 else f"{report.sentences:,} sentences"
    note(f"{source} → {target}: {sentences}{known}")
    for text in report.notes[:SHOWN]:
        note(f"{source}, {text}")
    more = len(report.notes) - SHOWN + report.untold
    if more > 0:
        note(f"{source}: {more:,} more places like these")


def _tell_similar(run: _Run, memory: TranslationMemory) -> None:
    """Shows translations in the memory of sentences similar to the newly translated ones."""
    compared = [pair for pair in pairs_of(run.passages) if pair.translation][:COMPARED]
    if not memory.pairs:
        return
    for pair in compared:
        try:
            found = memory.like(pair.source)
        except UsageError as error:
            note(str(error))
            return
        if found is not None:
            share, source, target = found
            note(
                f"{pair.source!r} is {share:.0f} % similar to {source!r} in the memory: {target!r}"
            )


def first_texts(given: Sequence[str], format: str | None) -> Iterator[str]:
    """Some texts of the first document that has any, for the recognition of their language."""
    for name in given:
        for found in matching(name) or [Path(name)]:
            for path in sorted(found.rglob("*")) if found.is_dir() else [found]:
                try:
                    document, _ = next(documents_of(path, format_of(path, format)))
                except (AllYouNeedError, OSError, StopIteration):
                    continue  # the translation tells it
                if document.passages:
                    yield from (passage.text for passage in document.passages[:SAMPLED])
                    return


def _jobs(given: Sequence[str], target: Path, format: str | None) -> Iterator[tuple[Path, Path]]:
    """Each file with the path of its translation."""
    found: list[tuple[Path, Path]] = []  # a file, and its path within the target
    for name in given:
        path = Path(name)
        if path.is_dir():
            files = [one for one in sorted(path.rglob("*")) if one.is_file()]
            known = [one for one in files if format or one.suffix.lower().lstrip(".") in BY_ENDING]
            for one in files:
                if one not in known:
                    note(f"{one}: not translated, because its suffix is that of no known format")
            found += ((one, one.relative_to(path)) for one in known)
        elif path.is_file():
            format_of(path, format)
            found.append((path, Path(path.name)))
        elif matches := [one for one in matching(name) if one.is_file()]:
            base = Path(os.path.commonpath([one.parent for one in matches]))
            found += ((one, one.relative_to(base)) for one in matches)
        else:
            raise UsageError(f"{name}: no such file; without --to FILE it is translated as text")
    if not found:
        raise UsageError(f"{', '.join(given)}: there is no file of a known format")
    single = len(found) == 1 and not Path(given[0]).is_dir()
    into_folder = target.is_dir() or not single
    if into_folder and target.is_file():
        raise UsageError(f"{target} is a file; name a folder for several files")
    for path, inside in found:
        writes = format_of(path, format).writes
        place = target / inside if into_folder else target
        if writes and into_folder:
            place = place.with_suffix(f".{writes}")
        elif writes and place.suffix.lower() == path.suffix.lower():
            raise UsageError(
                f"the translation of {path} is written as {writes}; name "
                f"{place.with_suffix('.' + writes)}"
            )
        elif not (writes or into_folder or format):
            _check_ending(path, place)
        if place.resolve() == path.resolve():
            raise UsageError(f"the translation would overwrite {path}; name another file")
        yield path, place


def _is_done(source: Path, target: Path) -> bool:
    return target.is_file() and target.stat().st_mtime >= source.stat().st_mtime


def _codes(translator: "Translator | Relay", how: Mapping[str, Any]) -> tuple[str, str]:
    """The codes of the two languages; "und" (undetermined) if the model does not name them."""
    speaks, source, target = translator.speaks, how.get("source"), how.get("target")
    via = speaks.between(source, target)  # then both are named
    first = speaks.direction(source, via or target)
    last = speaks.direction(via, target) if via else first
    return code_of(first.source) or "und", code_of(last.target) or "und"


def _check_ending(path: Path, place: Path) -> None:
    """A translation has the format of its file, whatever it is called.

    Raises:
        UsageError: the ending of `place` names another format.
    """
    named = BY_ENDING.get(place.suffix.lower().lstrip("."))
    if named not in (None, format_of(path)):
        raise UsageError(
            f"{place} would not be {named.name}: the translation of {path} has the same format as "
            f"the file; name {place.with_suffix(path.suffix)}, or --format for {path}"
        )
