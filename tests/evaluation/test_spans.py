"""Spans of tags, as CoNLL counts them."""

import pytest

from allyouneed.evaluation.spans import span_f1, spans


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("O B-PER I-PER O", {(1, 3, "PER")}),
        ("B-PER B-PER", {(0, 1, "PER"), (1, 2, "PER")}),
        ("I-PER I-PER I-LOC", {(0, 2, "PER"), (2, 3, "LOC")}),
        ("B-PER I-LOC", {(0, 1, "PER"), (1, 2, "LOC")}),
        ("O O", set()),
        ("B I", set()),
    ],
)
def test_spans(tags: str, found: set[tuple[int, int, str]]) -> None:
    assert spans(tags.split()) == found


def test_f1_is_that_of_spans_over_all_texts() -> None:
    told = [
        (["B-PER", "I-PER", "O"], ["B-PER", "O", "O"]),  # half a span is none
        (["B-LOC", "O", "B-PER"], ["B-LOC", "B-LOC", "B-PER"]),
    ]
    assert span_f1(told) == pytest.approx(2 * 2 / (3 + 4))
    assert span_f1([(["NN", "VB"], ["NN", "NN"])]) is None
    assert span_f1([(["B-PER"], ["O"])]) == 0.0
