"""The report of reading corpora: counts and examples of the pairs that were kept and left out."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

EXAMPLES = 3
CORPORA = 20  # with more corpora, a report shows only half this number


@dataclass
class Tally:
    """A count, and the first places where it occurred: (corpus, line, detail)."""

    count: int = 0
    examples: list[tuple[int, int, str]] = field(default_factory=list)

    def add(self, corpus: int, line: int, detail: str) -> None:
        self.count += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append((corpus, line, detail))


@dataclass
class DataReport:
    """The pairs kept of each corpus, the pairs left out by reason, and notes on changes made while
    reading. `unit` names the items that are counted, if they are not pairs."""

    corpora: list[str]
    kept_by_corpus: list[int] = field(default_factory=list)
    left_out: dict[str, Tally] = field(default_factory=dict)
    notes: dict[str, Tally] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    unit: str = "pairs"

    @property
    def kept(self) -> int:
        return sum(self.kept_by_corpus)

    @property
    def read(self) -> int:
        """The number of pairs read: those kept and those left out."""
        return self.kept + sum(tally.count for tally in self.left_out.values())

    def leave_out(self, reason: str, corpus: int, line: int, detail: str) -> None:
        self.left_out.setdefault(reason, Tally()).add(corpus, line, detail)

    def note(self, what: str, corpus: int, line: int, detail: str) -> None:
        self.notes.setdefault(what, Tally()).add(corpus, line, detail)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values; `from_dict` is the inverse."""
        return {"read": self.read, "kept": self.kept, **asdict(self)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "DataReport":
        return cls(
            corpora=list(values["corpora"]),
            kept_by_corpus=list(values["kept_by_corpus"]),
            left_out=_tallies(values["left_out"]),
            notes=_tallies(values["notes"]),
            remarks=list(values["remarks"]),
            unit=values.get("unit", "pairs"),
        )

    def summary(self) -> str:
        """The pairs left out, on one line, with the first place for each reason."""
        reasons = [
            f"{reason}: {tally.count:,} ({' '.join(self._places(tally)[:1])})"
            for reason, tally in sorted(self.left_out.items())
        ]
        return f"read {self.read:,} {self.unit}" + "".join(f"; {reason}" for reason in reasons)

    def _places(self, tally: Tally) -> list[str]:
        return [
            f"{self.corpora[corpus]}:{line} {detail}".rstrip()
            for corpus, line, detail in tally.examples
        ]

    def __str__(self) -> str:
        lines = [f"kept {self.kept:,} of {self.read:,} {self.unit}"]
        if len(self.corpora) > 1:
            counts = zip(self.corpora, self.kept_by_corpus, strict=True)
            rows = [f"  {name}: {kept:,}" for name, kept in counts]
            more = len(rows) - CORPORA // 2 if len(rows) > CORPORA else 0
            lines += rows[: len(rows) - more] + ([f"  and {more:,} more"] if more else [])
        for title, tallies in (("left out", self.left_out), ("notes", self.notes)):
            if tallies:
                lines += [title, *self._rows(tallies)]
        return "\n".join(lines + self.remarks)

    def _rows(self, tallies: dict[str, Tally]) -> Iterable[str]:
        for what, tally in sorted(tallies.items(), key=lambda item: -item[1].count):
            yield f"  {what}: {tally.count:,}"
            yield from (f"    {place}" for place in self._places(tally))


def _tallies(values: dict[str, Any]) -> dict[str, Tally]:
    return {
        name: Tally(tally["count"], [(c, n, detail) for c, n, detail in tally["examples"]])
        for name, tally in values.items()
    }
