"""F1 of spans in tags such as B-PER I-PER O (Tjong Kim Sang & De Meulder 2003)."""

from collections.abc import Iterable, Sequence


def spans(tags: Sequence[str]) -> set[tuple[int, int, str]]:
    """(first word, word after the last, kind) of each span.

    A span begins at B-, or at an I- that does not continue a span of the same kind.
    """
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


def span_f1(texts: Iterable[tuple[Sequence[str], Sequence[str]]]) -> float | None:
    """F1 = 2 · correct / (reference spans + predicted spans), over all texts.

    `texts` are pairs (reference tags, predicted tags). None if the references have no span.
    """
    in_reference = in_prediction = correct = 0
    for reference, prediction in texts:
        expected, predicted = spans(reference), spans(prediction)
        in_reference += len(expected)
        in_prediction += len(predicted)
        correct += len(expected & predicted)
    return 2 * correct / (in_reference + in_prediction) if in_reference else None
