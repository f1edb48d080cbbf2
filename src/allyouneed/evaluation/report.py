"""All metrics of one system over one test set."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from allyouneed.evaluation.metrics import METRICS, RESAMPLES, MetricScore, measure

TOKENISED_SHARE = 0.1  # if more than this share of texts ends in " .", the texts look tokenised


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The scores of `sentences` translations, and notes on what may be wrong with the input."""

    sentences: int
    scores: tuple[MetricScore, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All values as a dictionary, for JSON, with the scores by the metric's name."""
        return {
            "sentences": self.sentences,
            "scores": {score.metric: score.to_dict() for score in self.scores},
            "notes": list(self.notes),
        }


def evaluate(
    hypotheses: Sequence[str], references: Sequence[str], *, resamples: int = RESAMPLES
) -> Evaluation:
    """Cased and lower-cased BLEU and chrF, each with its 95 % interval.

    Raises:
        DataError: no sentences, or the numbers of lines differ.
    """
    scores = tuple(measure(name, hypotheses, references, resamples) for name in METRICS)
    return Evaluation(len(references), scores, tuple(tokenised_notes(hypotheses, references)))


def tokenised_notes(hypotheses: Sequence[str], references: Sequence[str]) -> list[str]:
    """A note for each side whose texts look tokenised: BLEU is not comparable on such texts."""
    notes = []
    for name, texts in (("hypotheses", hypotheses), ("references", references)):
        count = sum(text.endswith(" .") for text in texts)
        if count > TOKENISED_SHARE * len(texts):
            notes.append(
                f"{count:,} of {len(texts):,} {name} end in ' .' and look tokenised; "
                "BLEU is defined on plain text"
            )
    return notes
