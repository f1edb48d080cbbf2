"""Sequence-level distillation (Kim & Rush 2016) and back-translation (Sennrich et al. 2016).

In distillation a teacher's translations replace the target sentences; in back-translation they
replace the source sentences. Several teachers translate as an ensemble.

CACHE/distilled-KEY/000007.jsonl    one part, whole or absent; a killed run continues after it
CACHE/distilled-KEY.jsonl           all parts; for back-translation translated-back-KEY.jsonl
"""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from allyouneed.data.contents import ContentHashes, content_key
from allyouneed.data.corpus import Corpus, Pair, Side
from allyouneed.data.readers import read_pairs
from allyouneed.data.report import DataReport
from allyouneed.data.store import described
from allyouneed.data.store_writer import Progress
from allyouneed.decoding.length_penalty import Wu
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import DataError, RecipeError, UsageError
from allyouneed.files import whole_file
from allyouneed.loading import load, load_ensemble
from allyouneed.model_folder.folder import CONFIG, TOKENIZER, WEIGHTS, open_model_folder
from allyouneed.training.corpora import corpora_of, sides_above
from allyouneed.training.preparation import Note
from allyouneed.training.recipe.data_sections import TrainCorpusSection
from allyouneed.training.recipe.schema import PairsRecipe
from allyouneed.training.starting_model import languages_of, start_from, translating
from allyouneed.training.workers import Workers
from allyouneed.translation.assembly import CUT_OFF
from allyouneed.translation.result import Translation
from allyouneed.translation.translator import Translator

SEARCH = BeamOptions(beam=5, length_penalty=Wu(1.0))  # with 0.6 the student would learn brevity
KNOWN = "known from a corpus above, or twice"
PART = 1024  # pairs that are translated together; a killed run loses at most these


def distil(
    recipe: PairsRecipe,
    folder: Path,
    device: torch.device,
    workers: Workers,
    note: Note,
    progress: Progress,
) -> dict[int, Corpus]:
    """The corpora that replace the training corpora with a teacher, by the corpus' number.

    Such a corpus pairs the sources with the teacher's best translations by beam search. In
    back-translation it pairs translations of the targets with the targets.

    All workers together make the translations once, with the fastest engine for the device. The
    cache in the run's folder keeps them under a name computed from the teacher, the corpus and the
    search. Pairs whose translation had to be cut off are left out, with a note.

    Raises:
        ModelFolderError, RecipeError: see `teachers_of`.
        DataError: a corpus cannot be read or is empty, or the cache cannot be written.
    """
    found = {}
    for number, section in enumerate(recipe.data.train):
        if section.teachers:
            lesson = _TaughtCorpus(recipe, number, folder / "cache", workers)
            lesson.learn(device, note, progress)
            found[number] = Corpus(source=lesson.path, weight=section.weight)
    return found


def teachers_of(section: TrainCorpusSection, languages: tuple[str, str]) -> list[Path]:
    """The folders of the models that write a side of the corpus. `languages` are those of the model
    to train, empty where unknown.

    Raises:
        ModelFolderError: a folder cannot be read; the message names the recipe's key.
        RecipeError: a model translates in the wrong direction, or has several directions and
            `languages` does not say which.
    """
    key, other = "distill", "back_translate"
    if section.written == "source":
        key, other = other, key
    there = _read_and_written(section, languages)
    folders = [translating(name, key) for name in section.teachers]
    for folder in folders:
        if folder.multilingual is not None:
            try:
                folder.speaks.direction(*there)
            except UsageError as error:
                raise RecipeError(
                    f"{key}: {folder.path}: {error}; the recipe's source_language and "
                    "target_language say what it is to translate"
                ) from error
        elif all(languages) and folder.languages == (there[1], there[0]) != there:
            raise RecipeError(
                f"{key}: {folder.path} translates {' to '.join(folder.languages)}, but this needs "
                f"{' to '.join(there)}; name a model for that, or use {other} instead"
            )
    return [folder.path for folder in folders]


def _read_and_written(section: TrainCorpusSection, languages: tuple[str, str]) -> tuple[str, str]:
    """The languages that the teachers of a corpus read and write."""
    source, target = languages
    return (target, source) if section.written == "source" else (source, target)


class _TaughtCorpus:
    """One corpus and its teachers, who read one side of it and write the other."""

    def __init__(self, recipe: PairsRecipe, number: int, cache: Path, workers: Workers) -> None:
        section = recipe.data.train[number]
        self._corpora = corpora_of(recipe, section)
        languages = languages_of(recipe, start_from(recipe))
        self._teachers = teachers_of(section, languages)
        self._languages = _read_and_written(section, languages)
        self._written = section.written
        self._read = _opposite(section.written)
        self._only_new = section.only_new
        self._above = sides_above(recipe, number, self._read) if section.only_new else []
        self._done = "distilled" if section.written == "target" else "translated back"
        self._workers = workers
        key = workers.from_first(lambda: self._key(cache))
        self._parts = cache / f"{self._done.replace(' ', '-')}-{key}"
        self.path = self._parts.with_suffix(".jsonl")

    def learn(self, device: torch.device, note: Note, progress: Progress) -> None:
        """Writes the file of all translations, unless it exists already."""
        if self._workers.from_first(self.path.exists):
            return
        threads = torch.get_num_threads()  # of this worker alone
        translator = (
            load_ensemble(self._teachers, device=str(device), threads=threads)
            if len(self._teachers) > 1
            else load(self._teachers[0], device=str(device), threads=threads, kind=Translator)
        )
        read = self._counted()
        if read.left_out or read.notes:
            note(f"to be {self._done}: {read}")
        total = read.kept
        if not total:
            raise DataError(f"{self._names()}: no sentence to translate; {read.summary()}")
        own = self._in_words(lambda: self._translate(translator, total, progress))
        for told in translator.notes:
            note(told)
        (made,) = self._workers.sum([own])  # waits for all workers: then all parts are there
        kept = self._workers.from_first(lambda: self._in_words(self._join))
        cut = f"; {total - kept:,} are left out, cut off at their longest" if kept < total else ""
        note(
            f"{self._done}: {total:,} sentences of {self._names()} translated by "
            f"{' with '.join(map(str, self._teachers))} (beam {SEARCH.beam}, "
            f"{translator.engine.description}), {int(made):,} of them now{cut}"
        )

    def _key(self, cache: Path) -> str:
        """A digest of everything that the translations depend on."""
        cache.mkdir(parents=True, exist_ok=True)
        files = [t / name for t in self._teachers for name in (CONFIG, WEIGHTS, TOKENIZER)]
        key = content_key(
            cache,
            lambda content: {
                "teachers": [content(path) for path in files],
                "corpora": described(self._corpora, content),
                "written": self._written,
                "search": repr(SEARCH),
                **({"above": self._described_above(content)} if self._only_new else {}),
                **({"languages": self._languages} if self._is_multilingual() else {}),
            },
        )
        return key[:16]

    def _is_multilingual(self) -> bool:
        """Whether the teachers have to be told the languages."""
        return any(open_model_folder(one).multilingual is not None for one in self._teachers)

    def _names(self) -> str:
        """The names of the files that the teachers read."""
        back = self._written == "source"
        return " and ".join(str(c.target) if back and c.target else c.name for c in self._corpora)

    def _described_above(self, content: ContentHashes) -> list[Any]:
        corpora = described([corpus for corpus, _ in self._above], content)
        return [*zip(corpora, (side for _, side in self._above), strict=True)]

    def _report(self) -> DataReport:
        return DataReport([corpus.name for corpus in self._corpora], [0] * len(self._corpora))

    def _counted(self) -> DataReport:
        """The report of reading the corpora once."""
        report = self._report()
        for _ in self._pairs(report):
            pass
        return report

    def _pairs(self, report: DataReport) -> Iterator[Pair]:
        """The pairs of the corpora that are translated; the report counts them and the others."""
        known = _texts(self._above)
        for number, corpus in enumerate(self._corpora):
            for pair in read_pairs(corpus, report, number):
                text = getattr(pair, self._read)
                if text in known:
                    report.leave_out(KNOWN, number, pair.line, "")
                    continue
                if self._only_new:
                    known.add(text)
                report.kept_by_corpus[number] += 1
                yield pair

    def _translate(self, translator: Translator, total: int, progress: Progress) -> int:
        """Writes this worker's share of the parts. Returns the number of pairs it translated."""
        self._parts.mkdir(exist_ok=True)
        pairs, number, done, own = self._pairs(self._report()), 0, 0, 0
        source, target = self._languages if self._is_multilingual() else (None, None)

        def ask(texts: list[str], options: BeamOptions) -> list[Translation]:
            return translator(texts, options=options, source=source, target=target)

        progress("translating", 0, total)  # a large teacher needs minutes for its first part
        while part := list(islice(pairs, PART)):
            place = self._parts / f"{number:06d}.jsonl"
            if number % self._workers.world == self._workers.rank and not place.exists():
                _write(place, ask, part, self._written)
                own += len(part)
            number, done = number + 1, done + len(part)
            progress("translating", done, total)
        return own

    def _join(self) -> int:
        """Joins the parts into one file. Returns the number of pairs in it."""
        kept = 0
        with whole_file(self.path) as beside, beside.open("wb") as file:
            for part in sorted(self._parts.glob("*.jsonl")):
                content = part.read_bytes()
                kept += content.count(b"\n")
                file.write(content)
        shutil.rmtree(self._parts)
        return kept

    def _in_words(self, write: Callable[[], int]) -> int:
        try:
            return write()
        except OSError as error:
            raise DataError(
                f"{self._parts}: the teacher's translations cannot be written there: {error}; free "
                "some space, then start again: finished parts are kept"
            ) from error


def _texts(sides: Iterable[tuple[Corpus, Side]]) -> set[str]:
    """All texts of some sides of corpora."""
    return {
        getattr(pair, side)
        for corpus, side in sides
        for pair in read_pairs(corpus, DataReport([corpus.name]))
    }


def _opposite(side: Side) -> Side:
    return "source" if side == "target" else "target"


def _write(
    place: Path,
    ask: Callable[[list[str], BeamOptions], list[Translation]],
    pairs: Sequence[Pair],
    written: Side,
) -> None:
    """Writes one part of the translations, which the translator `ask` makes."""
    read = _opposite(written)
    texts = [getattr(pair, read) for pair in pairs]
    with whole_file(place) as beside, beside.open("w", encoding="utf-8") as file:
        for found in ask(texts, SEARCH):
            if CUT_OFF not in found.notes:
                pair = {read: found.source, written: found.text}
                file.write(json.dumps(pair, ensure_ascii=False) + "\n")
