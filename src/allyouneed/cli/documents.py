"""`allyouneed translate FILE --to FILE`: translates files and folders of documents."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allyouneed.cli.bar import bar
from allyouneed.cli.document_jobs import Job
from allyouneed.cli.output import note
from allyouneed.cli.translate_options import Documents
from allyouneed.documents.bilingual import pairs_of, writer_for
from allyouneed.documents.formats import documents_of, format_of
from allyouneed.documents.memory import TranslationMemory, read_tmx, update_tmx
from allyouneed.documents.recent_sentences import TranslateMany
from allyouneed.documents.translating import DocumentReport, DocumentTranslator
from allyouneed.errors import AllYouNeedError, UsageError
from allyouneed.files import clear_unfinished, whole_file, write_whole
from allyouneed.text.language_names import code_of
from allyouneed.translation.markup.passage import Passage
from allyouneed.translation.markup.protected import Protection

if TYPE_CHECKING:
    from allyouneed.translation.pivot import Relay
    from allyouneed.translation.result import Translation
    from allyouneed.translation.translator import Translator

SHOWN = 20  # notes shown for one file; of the others only the number is shown
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
    jobs: Sequence[Job],
    target: Path,
    opening: "Callable[[], Translator | Relay]",
    how: Mapping[str, Any],
    options: Documents,
    protect: Sequence[str] = (),
) -> None:
    """Translates the files of `jobs`. Each is written whole or not at all. `target` is the file or
    folder of the translations, the title of a bilingual page.

    Raises:
        UsageError: an option cannot be used.
        AllYouNeedError: at the end, if one of several files could not be translated.
    """
    _check(options, protect)
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

    clear_unfinished(place for _, place in jobs)
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
    terms = _terms_told(report)
    for text in (*terms[:SHOWN], *report.notes[:SHOWN]):
        note(f"{source}, {text}")
    if (others := len(terms) - SHOWN) > 0:
        note(f"{source}: {others:,} more {'term' if others == 1 else 'terms'}")
    more = len(report.notes) - SHOWN + report.untold
    if more > 0:
        note(f"{source}: {more:,} more places like these")


def _terms_told(report: DocumentReport) -> list[str]:
    """A line for each term of the glossary in the document: how often each form stands for it."""
    forms: dict[str, list[str]] = {}
    for (term, form), count in report.terms.most_common():
        told = "not used" if form is None else repr(form)
        forms.setdefault(term, []).append(f"{told} {count:,} {'time' if count == 1 else 'times'}")
    return [f"the term {term!r}: {', '.join(some)}" for term, some in forms.items()]


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


def _is_done(source: Path, target: Path) -> bool:
    return target.is_file() and target.stat().st_mtime >= source.stat().st_mtime


def _codes(translator: "Translator | Relay", how: Mapping[str, Any]) -> tuple[str, str]:
    """The codes of the two languages; "und" (undetermined) if the model does not name them."""
    speaks, source, target = translator.speaks, how.get("source"), how.get("target")
    via = speaks.between(source, target)  # then both are named
    first = speaks.direction(source, via or target)
    last = speaks.direction(via, target) if via else first
    return code_of(first.source) or "und", code_of(last.target) or "und"
