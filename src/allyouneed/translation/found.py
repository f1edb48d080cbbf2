"""What the search found for a segment of a text."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.links import Aligned
from allyouneed.model_folder.confidence import Calibration
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.translation.confidence import sureness


@dataclass(frozen=True, slots=True)
class Found:
    """What the search found for one segment.

    `alignment` belongs to the first hypothesis and counts words from 0 in the segment. `notes` say
    how the search ran. If `in_capitals`, the hypotheses translate the segment in small letters, and
    their text is shown in capitals. `calibration` gives the confidence in a hypothesis;
    the tokens of the source, `source_ids`, are among its signals. `faults` are what
    the first hypothesis has lost (`lost.lost`).
    """

    hypotheses: Sequence[Hypothesis]
    alignment: Aligned | None = None
    notes: tuple[str, ...] = ()
    in_capitals: bool = False
    source_ids: Sequence[int] = ()
    calibration: Calibration | None = None
    faults: tuple[str, ...] = ()

    def text(self, hypothesis: Hypothesis, tokenizer: AnyTokenizer, given: int) -> str:
        """The text of a hypothesis, without the `given` tokens at its beginning, such as the mark
        of a language."""
        text = tokenizer.target.decode(hypothesis.ids[given:]).strip()
        return text.upper() if self.in_capitals else text

    def sureness(
        self,
        hypothesis: Hypothesis,
        tokenizer: AnyTokenizer,
        given: int,
        source: str,
        target: str,
        terms: Collection[int] = (),
    ) -> tuple[float, tuple[float, ...]] | None:
        """The confidence in a hypothesis, as the translation `target` of `source`, and in each of
        its words; None without a calibration. `terms` are the words that a glossary demands
        (`confidence.sureness`)."""
        ids = hypothesis.ids[given:]
        if self.calibration is None or not ids:
            return None
        return sureness(
            self.calibration,
            hypothesis.token_log_probabilities[given:],
            [tokenizer.target.piece(id) for id in ids],
            self.source_ids,
            ids,
            source,
            target,
            terms,
            finished=hypothesis.finished,
        )
