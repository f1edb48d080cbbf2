"""The sentences that a document had lately, so that none of them is translated twice."""

from collections.abc import Callable, Iterable

from allyouneed.translation.result import Translation

MOST = 10_000  # sentences; about six kilobytes each

TranslateMany = Callable[[list[str], bool], Iterable[Translation]]
"""translate(texts, alignments): the translations in order, all at once or one after the other."""


class RecentSentences:
    """Calls a translator, and remembers the translations of the latest `MOST` sentences.

    The translator gets each new sentence once, the shortest first, so that its batches hold
    sentences of like length. `arrived` is told the number of characters of each asked sentence as
    soon as its translation is known.
    """

    def __init__(self, translate: TranslateMany) -> None:
        self.arrived: Callable[[int], None] = lambda characters: None
        self._translate = translate
        self._known: dict[tuple[str, bool], Translation] = {}  # the latest last

    def __call__(self, texts: list[str], alignments: bool) -> list[Translation]:
        """The translations of the texts, in order, with word alignments if `alignments` is set."""
        new = {text for text in texts if (text, alignments) not in self._known}
        for text in texts:
            if text not in new:
                self._renew(text, alignments)
        ordered = sorted(new, key=lambda text: (len(text), text))
        if ordered:
            made = self._translate(ordered, alignments)
            for text, translation in zip(ordered, made, strict=True):
                self._known[text, alignments] = translation
                self.arrived(len(text))
        found = [self._known[text, alignments] for text in texts]
        for key in list(self._known)[:-MOST]:
            del self._known[key]
        return found

    def _renew(self, text: str, alignments: bool) -> None:
        """Makes a known sentence the latest one."""
        self._known[text, alignments] = self._known.pop((text, alignments))
        self.arrived(len(text))
