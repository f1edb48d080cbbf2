"""A document's passages through a translator, and a report of how that went."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from allyouneed.documents.document import Document
from allyouneed.documents.recent_sentences import RecentSentences, TranslateMany
from allyouneed.translation.markup.carrying import Carrier, Recall
from allyouneed.translation.markup.passage import Passage
from allyouneed.translation.markup.protected import Protection

WINDOW = 200_000  # characters carried together: some 80 pages, so that batches are full
MOST_NOTES = 1000  # of a report, whose document may be larger than memory
Progress = Callable[[int, int], None]
"""progress(done, total): how many passages of a document are done."""


@dataclass(slots=True)
class DocumentReport:
    """The counts of a translated document, and notes for the user, each with its place.

    `terms` counts how often each term of the glossary was translated by which of its forms; the
    form None stands for a term that was not used.
    """

    passages: int = 0
    sentences: int = 0
    recalled: int = 0
    terms: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    untold: int = 0

    def add(self, notes: Iterable[str]) -> None:
        """Adds notes. Those beyond the first `MOST_NOTES` are counted as `untold`."""
        for note in notes:
            if len(self.notes) < MOST_NOTES:
                self.notes.append(note)
            else:
                self.untold += 1


class DocumentTranslator:
    """Translates documents, one after the other, and reports on all of them.

    A sentence that recurs is translated once, in whichever document it stands.
    """

    def __init__(
        self,
        translate: TranslateMany,
        *,
        protect: Sequence[str] = (),
        recall: Recall | None = None,
        languages: tuple[str, str] | None = None,
    ) -> None:
        """`protect` are regular expressions of text that is carried over as it is; `recall` gives
        translations that are known already. `languages` are the codes of source and target, which
        a document may name.

        Raises:
            UsageError: an expression that is none.
        """
        self.report = DocumentReport()
        self._recent = RecentSentences(translate)
        self._protect = protect
        self._recall = recall
        self._languages = languages

    def translate(self, document: Document, progress: Progress = lambda done, total: None) -> None:
        """Translates the passages of a document, which is then ready to be written.

        Raises:
            AllYouNeedError: as the translator.
        """
        languages = self._languages or ("", "")
        protection = Protection([*self._protect, *document.protect], language=languages[0])
        carrier = Carrier(self._recent, protection, self._recall, languages)
        done, total = 0, len(document.passages)
        for window in _windows(document.passages):
            self._recent.arrived = _share(window, done, total, progress)
            carried = carrier.carry([passage.nodes for passage in window])
            for passage, one in zip(window, carried, strict=True):
                passage.take(one)
                self.report.sentences += len(one.pairs)
                self.report.recalled += sum(pair.recalled for pair in one.pairs)
                made = (pair.translation for pair in one.pairs if pair.translation is not None)
                self.report.terms.update(
                    (use.term, use.form) for text in made for use in text.terms
                )
                self.report.add(_placed(passage, note) for note in one.notes)
            done += len(window)
            progress(done, total)
        if self._languages is not None:
            for code in document.codes:
                code.translated(*self._languages)
            self.report.add(code.note for code in document.codes if code.note)
        self.report.passages += total
        self.report.add((*document.notes, *document.check()))


def translate_document(
    document: Document,
    translate: TranslateMany,
    *,
    protect: Sequence[str] = (),
    recall: Recall | None = None,
    progress: Progress = lambda done, total: None,
) -> DocumentReport:
    """Translates one document and returns the report. The options are those of
    `DocumentTranslator`.

    Raises:
        UsageError: an expression that is none.
        AllYouNeedError: as the translator.
    """
    translator = DocumentTranslator(translate, protect=protect, recall=recall)
    translator.translate(document, progress)
    return translator.report


def _windows(passages: Iterable[Passage]) -> Iterator[list[Passage]]:
    """The passages in lists of about `WINDOW` characters."""
    window: list[Passage] = []
    characters = 0
    for passage in passages:
        window.append(passage)
        characters += len(passage.text)
        if characters >= WINDOW:
            yield window
            window, characters = [], 0
    if window:
        yield window


def _share(
    window: Sequence[Passage], done: int, total: int, progress: Progress
) -> Callable[[int], None]:
    """A function that reports progress inside a window. It takes the number of translated
    characters and converts their share of the window to a number of passages."""
    characters = sum(len(passage.text) for passage in window) or 1
    seen = 0

    def arrived(number: int) -> None:
        nonlocal seen
        seen = min(seen + number, characters)
        progress(done + len(window) * seen // characters, total)

    return arrived


def _placed(passage: Passage, note: str) -> str:
    return f"{passage.where}: {note}" if passage.where else note
