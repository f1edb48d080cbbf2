"""What is asked is checked, and refused by its place with a remedy."""

from typing import Any

import pytest

from allyouneed.errors import UsageError
from allyouneed.widget.questions import QUESTIONS, Translate, ViewState, checked, read

WHOLE = {
    "text": "A man.",
    "beam": 2,
    "switchedOff": ["decoder.layers.0.cross_attention[1]"],
    "edits": [
        {"head": "decoder.layers.0.cross_attention[0]", "kind": "block", "cells": [[0, 1]]},
        {"head": "encoder.layers.0.self_attention[0]", "kind": "uniform"},
    ],
    "replaced": {"1": "dog"},
    "prefix": "Ein",
    "model": 0,
    "part": 0,
}


def test_a_state_is_read_and_written_as_the_view_has_it() -> None:
    asked = read("translate", {"state": WHOLE, "request": 7})
    assert isinstance(asked, Translate)
    assert asked.request == 7
    assert asked.state.to_json() == WHOLE
    assert asked.state.replaced == {1: "dog"}


def test_an_undisturbed_state_is_the_text_alone() -> None:
    state = checked(ViewState, WHOLE, "state")
    assert state.disturbed
    assert not state.undisturbed().disturbed
    assert state.undisturbed() == ViewState(text="A man.", beam=2)
    for key in ("switchedOff", "edits", "replaced", "prefix"):
        assert checked(ViewState, {"text": "A", key: WHOLE[key]}, "state").disturbed, key


def test_a_head_more_goes_off_in_order() -> None:
    state = ViewState(text="A", switched_off=("b[1]",)).without("a[0]")
    assert state.switched_off == ("a[0]", "b[1]")
    assert state.without("a[0]") == state


def test_lone_surrogates_are_replaced() -> None:
    assert checked(ViewState, {"text": "a\ud800b"}, "state").text == "a\ufffdb"


@pytest.mark.parametrize(
    ("kind", "payload", "words"),
    [
        ("tranlsate", {}, "did you mean translate"),
        ("xyzzy", {}, "the kinds are about, translate"),
        ("translate", {"state": {"text": 1}}, "translate.state.text = 1"),
        ("translate", {"state": {"text": "a", "beem": 1}}, "translate.state.beem is not known"),
        ("translate", {"state": {"text": "a", "beam": 0}}, "translate.state.beam = 0"),
        ("translate", {"state": {"text": "a" * 20_001}}, "at most 20000 characters"),
        ("translate", {"state": {}}, "translate.state.text: Field required"),
        ("translate", {"state": {"text": "a", "replaced": {"x": "y"}}}, "replaced.x"),
        (
            "translate",
            {"state": {"text": "a", "edits": [{"head": "h", "kind": "force"}]}},
            "block and force need cells",
        ),
        (
            "translate",
            {"state": {"text": "a", "edits": [{"head": "h", "kind": "block", "cells": [[-1, 0]]}]}},
            "edits.0.cells.0.0 = -1",
        ),
        ("translate", [], "translate = []"),
        ("attention", {"id": "x", "kind": "cross", "layer": 0, "lens": "blurred"}, "blurred"),
        ("calculator", {"id": "x", "module": "m", "head": -1, "query": 0}, "calculator.head = -1"),
        ("about", {"x": 1}, "about.x is not known; leave it out"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_place(kind: str, payload: Any, words: str) -> None:
    with pytest.raises(UsageError) as error:
        read(kind, payload)
    assert words in str(error.value)


def test_every_question_of_the_view_is_known() -> None:
    assert {*QUESTIONS} == {
        *("about", "translate", "attention", "maps", "metrics", "effects", "part"),
        *("lens", "calculator", "positions"),
    }
