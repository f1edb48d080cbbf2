"""Subscripts and superscripts: of a word, of a formula, or the mark of a note."""

from collections.abc import Sequence

import pytest

from allyouneed.translation.markup.links import Link
from allyouneed.translation.markup.marked_text import translate_marked
from allyouneed.translation.markup.nodes import Around
from allyouneed.translation.markup.placement import placed
from allyouneed.translation.markup.scripts import bound
from allyouneed.translation.markup.transfer import Transfer
from allyouneed.translation.result import Translation


def backwards(asked: list[str]) -> object:
    """A translator that says the words from the last to the first, and keeps `asked` of them."""

    def translate(texts: list[str], alignments: bool) -> Sequence[Translation]:
        asked.extend(texts)
        return [turned(text) for text in texts]

    return translate


def turned(text: str) -> Translation:
    words = text.removesuffix(".").split()
    last = len(words) - 1
    return Translation(
        source=text,
        text=" ".join(reversed(words)) + "." * text.endswith("."),
        alignment=tuple((last - n, n) for n in range(len(words))),
        tokens=(),
        token_log_probabilities=(),
    )


@pytest.mark.parametrize(
    ("source", "sentences", "expected"),
    [
        ("It is H<sub>2</sub>O.", ["It is H2O."], "H<sub>2</sub>O is It."),
        ("The H<sub>2</sub>SO<sub>4</sub>", ["The H2SO4"], "H<sub>2</sub>SO<sub>4</sub> The"),
        ("the <i>H</i><sub>2</sub><i>O</i>", ["the H2O"], "<i>H</i><sub>2</sub><i>O</i> the"),
        ("on 5 m<sup>2</sup> here", ["on 5 m2 here"], "here 5 m<sup>2</sup> on"),
        ("so E=mc<sup>2</sup> is", ["so Tom is"], "is E=mc<sup>2</sup> so"),
        ("of <sup>13</sup>C here", ["of 13C here"], "here <sup>13</sup>C of"),
        ("old Acme<sup>TM</sup> ones", ["old Tom ones"], "ones Acme<sup>TM</sup> old"),
        ("some<sup>1</sup> old ones", ["some old ones"], "ones old some<sup>1</sup>"),
        ("at rest.<sup>1</sup> It is.", ["at rest.", "It is."], "rest at.<sup>1</sup> is It."),
        ("at rest. <sup>1</sup> It is.", ["at rest.", "It is."], "rest at. <sup>1</sup> is It."),
        (
            "at rest.<a><sup>1, 2</sup></a> It is.",
            ["at rest.", "It is."],
            "rest at.<a><sup>1, 2</sup></a> is It.",
        ),
        (
            "at rest.<a epub:type='noteref'>1</a> It is.",
            ["at rest.", "It is."],
            "rest at.<a epub:type='noteref'>1</a> is It.",
        ),
        ("at rest.<a>[12]</a> It is.", ["at rest.", "It is."], "rest at.<a>[12]</a> is It."),
        ("press <b>[1]</b> now", ["press [1] now"], "now <b>[1]</b> press"),
        ("go <sup>right</sup> on", ["go right on"], "on <sup>right</sup> go"),
    ],
)
def test_what_the_model_sees(source: str, sentences: list[str], expected: str) -> None:
    asked: list[str] = []
    [found] = translate_marked(backwards(asked), [source], "html")  # type: ignore[arg-type]
    assert asked[: len(sentences)] == sentences
    assert found.text == expected


def test_the_raised_letters_of_an_ordinal_hold_its_full_stop() -> None:
    letters = Around(("<sup>",), ("st",), ("</sup>",), script="super")
    nodes = bound(["the 1", letters, " of May"])
    assert isinstance(nodes[1], Around), "the letters are text"
    links = (Link((4, 7), (4, 6)), Link((11, 14), (7, 10)))
    found = placed(nodes, Transfer("der 1. Mai", links))
    assert [one.inside if isinstance(one, Around) else one for one in found] == [
        "der 1",
        (".",),
        " Mai",
    ]
