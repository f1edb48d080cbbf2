"""The names and number formats of the measures of a validation, for the log, card and report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure apart from the loss: its `key` in the log's records, its name and its format."""

    key: str
    name: str
    form: str

    def written(self, value: float) -> str:
        """The value in the measure's format."""
        return self.form.format(value)


MEASURES = (
    Measure("bleu", "BLEU", "{:.1f}"),
    Measure("accuracy", "accuracy", "{:.1%}"),
    Measure("f1", "F1", "{:.1%}"),
    Measure("of_unigram", "loss / unigram", "{:.3f}"),
    Measure("next_sentence", "next sentence", "{:.1%}"),
    Measure("distinct_1", "distinct-1", "{:.3f}"),
    Measure("distinct_2", "distinct-2", "{:.3f}"),
)


def measures_of(records: Sequence[Mapping[str, Any]]) -> list[Measure]:
    """The measures that at least one of the records has."""
    return [one for one in MEASURES if any(r.get(one.key) is not None for r in records)]


def measured(record: Mapping[str, Any]) -> list[tuple[Measure, float]]:
    """The measures that a record has, with their values."""
    return [(one, record[one.key]) for one in MEASURES if record.get(one.key) is not None]
