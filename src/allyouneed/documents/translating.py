"""A document's passages through a translator, and a report of how that went."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from allyouneed.documents.document import Document
from allyouneed.translation.markup.carrying import Carrier, Recall, Translate
from allyouneed.translation.markup.passage import Passage
from allyouneed.translation.markup.protected import Protection

TOGETHER = 400  # passages: enough for sentences of like length to meet in a batch


@dataclass(slots=True)
class Report:
    """How much was translated, and what a user should look at, each with its place."""

    passages: int = 0
    sentences: int = 0
    recalled: int = 0
    notes: list[str] = field(default_factory=list)


def translate_document(
    document: Document,
    translate: Translate,
    *,
    protect: Sequence[str] = (),
    recall: Recall | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Report:
    """Translates the passages of a document, which is then ready to be written.

    `protect` are regular expressions of text that is carried over as it is; `recall` gives
    translations that are known already; `progress` is told how many passages of how many are done.

    Raises:
        UsageError: an expression that is none.
        AllYouNeedError: as the translator.
    """
    carrier = Carrier(translate, Protection([*protect, *document.protect]), recall)
    report = Report(len(document.passages))
    for begin in range(0, len(document.passages), TOGETHER):
        progress(begin, report.passages)
        some = document.passages[begin : begin + TOGETHER]
        carried = carrier.carry([passage.nodes for passage in some])
        for passage, one in zip(some, carried, strict=True):
            passage.take(one)
            report.sentences += len(one.pairs)
            report.recalled += sum(pair.recalled for pair in one.pairs)
            report.notes += (_placed(passage, note) for note in one.notes)
    progress(report.passages, report.passages)
    report.notes += document.notes
    return report


def _placed(passage: Passage, note: str) -> str:
    return f"{passage.where}: {note}" if passage.where else note
