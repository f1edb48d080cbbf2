"""Emphasis and links of Markdown in plain text: the model does not see them, and they come back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import allyouneed
from allyouneed.translation.markup.emphasis import has_emphasis, nodes_of
from allyouneed.translation.markup.nodes import plain
from allyouneed.translation.markup.passage import escaped


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("This is *very* important.", "This is very important."),
        ("**Note:** See ***this***!", "Note: See this!"),
        ("Click [here](https://example.com/a_b) now.", "Click here now."),
        ("*All of it.*", "All of it."),
        ("Run `a *b* c` *now*.", "Run `a *b* c` now."),
    ],
)
def test_what_the_model_reads(line: str, seen: str) -> None:
    assert has_emphasis(line)
    assert plain(nodes_of(line)) == seen


@pytest.mark.parametrize(
    "line",
    [
        "* one * two",
        "2*3*4 and 2 * 3 * 4",
        "*.py and *.txt",
        "`*a*`",
        "/* a */",
        "**kwargs and *args",
        r"\*a\*",
        "[sic] (no link)",
        "f(x)[1](2)",
        "",
    ],
)
def test_other_stars(line: str) -> None:
    assert not has_emphasis(line)
    assert plain(nodes_of(line)) == line


@given(st.text("ab *`[]()\\", max_size=30))
def test_no_character_is_lost(line: str) -> None:
    assert escaped(nodes_of(line), str) == line


@pytest.mark.parametrize(
    ("line", "marks"),
    [
        ("The *little* dog **sleeps**.", ["*", "**"]),
        ("*The dog sleeps.*", ["*"]),
        ("The [dog](https://example.org/dog) *sleeps* now.", ["](https://example.org/dog)", "*"]),
    ],
)
def test_the_marks_come_back_around_words(line: str, marks: list[str]) -> None:
    found = allyouneed.load("en-de")(line, alignments=True)
    assert all(found.text.count(mark) == line.count(mark) for mark in marks), found.text
    assert has_emphasis(found.text)
    assert found.alignment
    assert len(found.word_confidences) == len(found.text.split())
