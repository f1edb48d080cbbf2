"""F1 of spans in tags such as B-PER I-PER O (Tjong Kim Sang & De Meulder 2003)."""

from collections.abc import Iterable, Sequence


def spans(tags: Sequence[str]) -> set[tuple[int, int, str]]:
    """(first word, word after the last, kind) of each span. One begins at B-, and at an I- of
    another kind than what goes on before it."""
    found: set[tuple[int, int, str]] = set()
    begin, kind = 0, ""
    for place, tag in enumerate([*tags, "O"]):
        mark, _, this = tag.partition("-")
        if kind and (mark != "I" or this != kind):
            found.add((begin, place, kind))
            kind = ""
        if mark in ("B", "I") and this and not kind:
            begin, kind = place, this
    return found


def span_f1(told: Iterable[tuple[Sequence[str], Sequence[str]]]) -> float | None:
    """2 · right / (spans that are there + spans that were found), over (right, found) tags of all
    texts; None where no tag marks a span."""
    there = found = right = 0
    for reference, hypothesis in told:
        own, other = spans(reference), spans(hypothesis)
        there, found, right = there + len(own), found + len(other), right + len(own & other)
    return 2 * right / (there + found) if there else None
