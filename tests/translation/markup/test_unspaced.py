"""Tags and literals in scripts without spaces: characters are linked, not words."""

from collections.abc import Sequence

import pytest

from allyouneed.decoding.links import CharacterLinks
from allyouneed.translation.markup.marked_text import translate_marked
from allyouneed.translation.result import Translation


def linked(source: str, target: str, pairs: str) -> CharacterLinks:
    """Links of the pieces of two texts, given as "source=target", in any order."""
    found = []
    for pair in pairs.split():
        there, _, here = pair.replace("_", " ").partition("=")
        begin, place = source.index(there), target.index(here)
        found.append(((begin, begin + len(there)), (place, place + len(here))))
    return tuple(found)


def marked(source: str, seen: str, target: str, pairs: str) -> str:
    """The translation of a text with tags by a model that reads `seen` and says `target`."""

    def translate(texts: list[str], alignments: bool) -> Sequence[Translation]:
        assert set(texts) == {seen}
        links = linked(seen, target, pairs) if alignments else ()
        return [
            Translation(
                source=one,
                text=target,
                alignment=tuple((n, 0) for n in range(len(one.split()))) if alignments else None,
                character_links=links,
                tokens=(),
                token_log_probabilities=(),
            )
            for one in texts
        ]

    [found] = translate_marked(translate, [source], "html")
    assert not found.notes
    return found.text


ENGLISH = "I went to Paris last summer."
CHINESE = "我去年夏天去了巴黎。"
PIECES = "I=我 went=去了 Paris=巴黎 last=去年 summer=夏天"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("I went to <b>Paris</b> last summer.", "我去年夏天去了<b>巴黎</b>。"),
        ("I went to <b>Paris</b> <i>last summer</i>.", "我<i>去年夏天</i>去了<b>巴黎</b>。"),
        ("I <b>went to <i>Paris</i></b> last summer.", "我去年夏天<b>去了<i>巴黎</i></b>。"),
        ("<b>I</b> went to Paris last <a>summer</a>.", "<b>我</b>去年<a>夏天</a>去了巴黎。"),
        ("I went to Paris<sup>1</sup> last summer.", "我去年夏天去了巴黎<sup>1</sup>。"),
        ("I went to Paris last summer.<sup>1</sup>", "我去年夏天去了巴黎。<sup>1</sup>"),
    ],
)
def test_tags_hold_the_characters_that_come_from_their_words(source: str, expected: str) -> None:
    assert marked(source, ENGLISH, CHINESE, PIECES) == expected


def test_tags_of_a_japanese_source() -> None:
    pieces = "私=I は=I パリ=Paris へ=to 行き=went ました=went"
    source, seen = "私は<b>パリ</b>へ<i>行きました</i>。", "私はパリへ行きました。"
    assert marked(source, seen, "I went to Paris.", pieces) == "I <i>went</i> to <b>Paris</b>."


def test_literals_between_characters() -> None:
    found = marked("Say <b>{name}</b> now", "Say Tom now", "现在说Tom吧", "now=现在 Say=说 Tom=Tom")
    assert found == "现在说<b>{name}</b>吧"
    found = marked("说<b>{name}</b>吧", "说Tom吧", "Say Tom now", "说=Say 吧=now Tom=Tom")
    assert found == "Say <b>{name}</b> now"


def test_a_picture_between_characters_has_no_spaces() -> None:
    found = marked("go <img> on", "go on", "走吧", "go=走 on=吧")
    assert found == "走<img>吧"
