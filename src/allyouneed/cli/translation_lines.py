"""Formats translations as lines of output: plain, in columns, or as JSON."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from allyouneed.cli.output import as_json, note
from allyouneed.cli.picture import attention_picture
from allyouneed.decoding.links import pharaoh
from allyouneed.errors import AllYouNeedError

if TYPE_CHECKING:
    from allyouneed.translation.pivot import Relay
    from allyouneed.translation.result import Translation
    from allyouneed.translation.translator import Translator


@dataclass(frozen=True, slots=True)
class Form:
    """The parts of a translation that are shown, and their format.

    `one_line` replaces newlines within a text by spaces, so that each text gives one line. `source`
    and `target` are the languages that a model of several needs for its attention.
    """

    ranks: bool = False
    scores: bool = False
    alignments: bool = False
    attention: bool = False
    json: bool = False
    one_line: bool = False
    source: str | None = None
    target: str | None = None

    def lines(
        self, translator: "Translator | Relay", translation: "Translation", number: int
    ) -> Iterator[str]:
        """The lines for the translation of text `number`, with its alternatives."""
        if self.json:
            values = {**translation.to_dict(), "engine": translator.engine.name}
            if self.attention:
                values["attention"] = self._attention(translator, translation, number)
            yield as_json(values)
            return
        for rank, one in enumerate([translation, *translation.alternatives[1:]], start=1):
            yield self._columns(one, number, rank)
        if self.attention and (seen := self._attention(translator, translation, number)):
            width = shutil.get_terminal_size((100, 24)).columns
            yield attention_picture(seen["source"], seen["target"], seen["weights"], width)

    def _columns(self, translation: "Translation", number: int, rank: int) -> str:
        columns = [str(number), str(rank)] if self.ranks else []
        if self.scores:
            columns.append(f"{translation.average_log_likelihood:.4f}")
            columns.append(f"{translation.probability:.4f}")
            if translation.confidence is not None:
                columns.append(f"{translation.confidence:.2f}")
        text = translation.text
        columns.append(text.replace("\n", " ") if self.one_line else text)
        if self.alignments:
            columns.append(pharaoh(translation.alignment or ()))
        return "\t".join(columns)

    def _attention(
        self, translator: "Translator | Relay", translation: "Translation", number: int
    ) -> dict[str, Any] | None:
        """The pieces of source and target, and the cross-attention between them as the mean of the
        heads. None, with a note, for a text that had to be translated in parts."""
        if not translation.text.strip():
            return None
        try:
            source, target, weights_TS = translator.attention(
                translation.source,
                translation.text,
                source_language=self.source,
                target_language=self.target,
            )
        except AllYouNeedError as error:
            note(f"text {number}: its attention cannot be shown: {error}")
            return None
        return {"source": source, "target": target, "weights": weights_TS.tolist()}
