"""Emphasis in plain text: the model sees no stars and no stressed words in capitals, and they come
back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import allyouneed
from allyouneed.translation.markup.emphasis import has_emphasis, in_loud_letters, nodes_of
from allyouneed.translation.markup.nodes import Around, Node, plain
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
    assert has_emphasis(line, "en")
    assert plain(nodes_of(line, "en")) == seen


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
    assert not has_emphasis(line, "en")
    assert plain(nodes_of(line, "en")) == line


@given(st.text("ab *`[]()\\", max_size=30))
def test_no_character_is_lost(line: str) -> None:
    assert escaped(nodes_of(line, "en"), str) == line


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
    assert has_emphasis(found.text, "de")
    assert found.alignment
    assert len(found.word_confidences) == len(found.text.split())


@pytest.mark.parametrize(
    ("line", "language", "seen"),
    [
        ("Do NOT open this.", "en", "Do not open this."),
        ("NOTE: DON’T wait. NEVER! (ALWAYS)", "en", "Note: Don’t wait. Never! (Always)"),
        ("NASA and the WHO help US IT with NOW().", "en", None),
        ("NEW YORK is NOT-FOR-profit: ALL_CAPS, ALL.txt, ALL 4 ONE, NO. 5", "en", None),
        ("DO NOT OPEN THIS", "en", None),
        ("WARNING!", "en", None),
        ("Das ist NICHT für JEDEN.", "de", "Das ist nicht für jeden."),
        ("Ce n'est PAS ÇA", "fr", None),
        ("Ce n'est PAS ça", "fr", "Ce n'est pas ça"),
        ("Do NOT open this.", "ja", None),
        ("**NOTE:** Do *NOT* wait.", "en", "Note: Do not wait."),
    ],
)
def test_stressed_words_are_read_in_small_letters(
    line: str, language: str, seen: str | None
) -> None:
    assert plain(nodes_of(line, language)) == (seen or line)
    assert has_emphasis(line, language) == (seen is not None)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("Do NOT open this door.", "NICHT"),
        ("WARNING: The surface is hot.", "WARNUNG:"),
        ("I have ALWAYS loved you.", "IMMER"),
        ("Please do NOT smoke here.", "NICHT"),
        ("I NEVER said that.", "NIE"),
    ],
)
def test_stressed_words_are_in_capitals_in_the_translation(line: str, word: str) -> None:
    found = allyouneed.load("en-de")(line)
    assert word in found.text.strip(".").split()
    assert len([one for one in found.text.split() if one.isupper()]) == 1
    assert not any("negation" in note for note in found.notes)


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        (["Das ", Around(("capitals",), ("ist nicht",), ("NOT",)), " gut."], "Das ist NICHT gut."),
        (["Rauche ", Around(("capitals",), ("hier",), ("NOT",)), " nicht."], "Rauche hier NICHT."),
        (["Nicht ", Around(("capitals",), ("da",), ("NOT",)), " und nie."], "NICHT da und nie."),
        (["Ein ", Around(("capitals",), ("großes",), ("BIG",)), " Haus."], "Ein GROSSES Haus."),
        (["Ein ", Around(("capitals",), ("Haus am",), ("BIG",)), " See."], "Ein Haus am See."),
        (["Hier ", Around(("capitals",), ("da",), ("NOT",)), "."], "Hier da."),
        (["Ein ", Around(("*",), ("Hund",), ("*",)), " und nicht"], "Ein *Hund* und nicht"),
    ],
)
def test_which_words_of_a_translation_are_in_capitals(nodes: list[Node], text: str) -> None:
    assert escaped(in_loud_letters(nodes, ("en", "de")), str) == text
