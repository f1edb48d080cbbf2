"""Sequence-level distillation (Kim & Rush 2016) and back-translation (Sennrich et al. 2016).

In distillation a teacher's translations replace the target sentences; in back-translation they
replace the source sentences. Several teachers translate as an ensemble.

CACHE/distilled-KEY/000007.jsonl    one part, whole or absent; a killed run continues after it
CACHE/distilled-KEY.jsonl           all parts; for back-translation translated-back-KEY.jsonl
"""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import torch

from allyouneed.data.collate import Side
from allyouneed.data.contents import content_key
from allyouneed.data.corpus import Corpus, Pair
from allyouneed.data.readers import read_pairs
from allyouneed.data.report import DataReport
from allyouneed.data.store import described
from allyouneed.data.store_writer import Progress
from allyouneed.decoding.length_penalty import Wu
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import DataError, RecipeError
from allyouneed.files import whole_file
from allyouneed.loading import load, load_ensemble
from allyouneed.model_folder.folder import CONFIG, TOKENIZER, WEIGHTS
from allyouneed.training.corpora import corpora_of
from allyouneed.training.preparation import Note
from allyouneed.training.recipe.data_sections import TrainCorpusSection
from allyouneed.training.recipe.schema import PairsRecipe
from allyouneed.training.starting_model import languages_of, start_from, translating
from allyouneed.training.workers import Workers
from allyouneed.translation.assembly import CUT_OFF
from allyouneed.translation.translator import Translator

SEARCH = BeamOptions(beam=5, length_penalty=Wu(1.0))  # with 0.6 the student would learn brevity
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
            lesson = _TaughtCorpus(recipe, section, folder / "cache", workers)
            lesson.learn(device, note, progress)
            found[number] = Corpus(source=lesson.path, weight=section.weight)
    return found


def teachers_of(section: TrainCorpusSection, languages: tuple[str, str]) -> list[Path]:
    """The folders of the models that write a side of the corpus. `languages` are those of the model
    to train, empty where unknown.

    Raises:
        ModelFolderError: a folder cannot be read; the message names the recipe's key.
        RecipeError: a model translates in the wrong direction.
    """
    key, other, there = "distill", "back_translate", languages
    if section.written == "source":
        key, other, there = other, key, (languages[1], languages[0])
    folders = [translating(name, key) for name in section.teachers]
    for folder in folders:
        if all(languages) and folder.languages == (there[1], there[0]) != there:
            raise RecipeError(
                f"{key}: {folder.path} translates {' to '.join(folder.languages)}, but this needs "
                f"{' to '.join(there)}; name a model for that, or use {other} instead"
            )
    return [folder.path for folder in folders]


class _TaughtCorpus:
    """One corpus and its teachers, who read one side of it and write the other."""

    def __init__(
        self, recipe: PairsRecipe, section: TrainCorpusSection, cache: Path, workers: Workers
    ) -> None:
        self._corpora = corpora_of(recipe, section)
        self._teachers = teachers_of(section, languages_of(recipe, start_from(recipe)))
        self._written = section.written
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
            },
        )
        return key[:16]

    def _names(self) -> str:
        """The names of the files that the teachers read."""
        back = self._written == "source"
        return " and ".join(str(c.target) if back and c.target else c.name for c in self._corpora)

    def _counted(self) -> DataReport:
        names = [corpus.name for corpus in self._corpora]
        report = DataReport(names, [0] * len(names))
        for number, corpus in enumerate(self._corpora):
            report.kept_by_corpus[number] = sum(1 for _ in read_pairs(corpus, report, number))
        return report

    def _pairs(self) -> Iterator[Pair]:
        report = DataReport([corpus.name for corpus in self._corpora])
        for number, corpus in enumerate(self._corpora):
            yield from read_pairs(corpus, report, number)

    def _translate(self, translator: Translator, total: int, progress: Progress) -> int:
        """Writes this worker's share of the parts. Returns the number of pairs it translated."""
        self._parts.mkdir(exist_ok=True)
        pairs, number, done, own = self._pairs(), 0, 0, 0
        while part := list(islice(pairs, PART)):
            place = self._parts / f"{number:06d}.jsonl"
            if number % self._workers.world == self._workers.rank and not place.exists():
                _write(place, translator, part, self._written)
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


def _write(place: Path, translator: Translator, pairs: Sequence[Pair], written: Side) -> None:
    """Writes one part of the translations."""
    read: Side = "source" if written == "target" else "target"
    texts = [getattr(pair, read) for pair in pairs]
    with whole_file(place) as beside, beside.open("w", encoding="utf-8") as file:
        for found in translator(texts, options=SEARCH):
            if CUT_OFF not in found.notes:
                pair = {read: found.source, written: found.text}
                file.write(json.dumps(pair, ensure_ascii=False) + "\n")
