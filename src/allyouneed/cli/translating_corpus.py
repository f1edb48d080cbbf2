"""Translates the sources of a test set or of a corpus, and sums up the notes at the end."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from allyouneed.cli.bar import bar
from allyouneed.cli.output import note

if TYPE_CHECKING:
    from allyouneed.decoding.options import BeamOptions
    from allyouneed.translation.translator import Translator


def translate_corpus(
    translator: "Translator",
    sources: Sequence[str],
    options: "BeamOptions",
    source: str | None = None,
    target: str | None = None,
) -> list[str]:
    """A translation of one line for each source. Shows the progress, and the notes at the end."""
    texts: list[str] = []
    notes: Counter[str] = Counter()
    first: dict[str, str] = {}  # of the notes that differ in their numbers only
    with bar("translating", len(sources)) as show:
        for translation in translator.translate_lines(
            sources, options=options, source=source, target=target
        ):
            texts.append(translation.text.replace("\n", " "))
            kinds = {re.sub(r"\d+", "N", text): text for text in translation.notes}
            first = kinds | first
            notes.update(kinds.keys())
            show("translating", len(texts), len(sources))
    for kind, count in notes.items():
        note(f"{count:,} of {len(texts):,} sentences: {first[kind]}")
    return texts
