"""Tags on a translation: the tree of the source, every node once, where the alignment says."""

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.evaluation.alignment_error import GoldAlignment
from allyouneed.translation.markup.links import Link, diagonal, links_of_words
from allyouneed.translation.markup.nesting import Closing, Opening, Token, nested
from allyouneed.translation.markup.nodes import Around, Kept, Node, Nodes, Void, plain
from allyouneed.translation.markup.placement import placed
from allyouneed.translation.markup.transfer import Transfer


def tag(name: str, *inside: Node) -> Around:
    return Around((f"<{name}>",), tuple(inside), (f"</{name}>",))


def void(name: str, seen: str = "") -> Void:
    return Void((f"<{name}/>",), seen)


def written(nodes: Nodes) -> str:
    """The nodes as text: tags as they are, literals in brackets."""
    parts = []
    for node in nodes:
        match node:
            case str():
                parts.append(node)
            case Void(raw=raw):
                parts += [str(part) for part in raw]
            case Kept(text=text):
                parts.append(f"[{text}]")
            case Around(opening=opening, inside=inside, closing=closing):
                parts += [str(opening[0]), written(inside), str(closing[0])]
    return "".join(parts)


def carried(
    nodes: Nodes, target: str, pharaoh: str, literals: dict[Node, str] | None = None
) -> str:
    found = {node: find(target, text) for node, text in (literals or {}).items()}
    alignment = tuple(sorted(GoldAlignment.of(pharaoh).sure))
    links = tuple(links_of_words(plain(nodes), target, alignment))
    return written(placed(nodes, Transfer(target, links, found)))  # type: ignore[arg-type]


def find(text: str, part: str) -> tuple[int, int]:
    return text.index(part), text.index(part) + len(part)


@pytest.mark.parametrize(
    ("languages", "source", "target", "alignment", "expected"),
    [
        (
            ("en", "de"),
            ["Click ", tag("b", "Save"), "."],
            "Klicken Sie auf Speichern.",
            "0-0 1-1 1-2 1-3",
            "Klicken Sie auf <b>Speichern</b>.",
        ),
        (
            ("en", "de"),
            ["Select ", tag("b", "Profiles"), "."],
            "Wählen Sie Profile aus.",
            "0-0 1-2 1-3",
            "Wählen Sie <b>Profile</b> aus.",
        ),
        (
            ("en", "fr"),
            ["He read ", tag("i", "books"), "."],
            "Il a lu des livres.",
            "0-0 1-1 1-2 2-3 2-4",
            "Il a lu des <i>livres</i>.",
        ),
        (  # the tag has an article of its own
            ("en", "de"),
            ["He saw ", tag("b", "the dog"), "."],
            "Er sah den Hund.",
            "0-0 1-1 2-2 3-3",
            "Er sah <b>den Hund</b>.",
        ),
        (  # nothing but such words
            ("en", "de"),
            ["Look ", tag("b", "inside"), "."],
            "Sieh in es.",
            "0-0 1-1 1-2",
            "Sieh <b>in es</b>.",
        ),
        (  # without the languages nothing is known about the words
            ("", ""),
            ["Click ", tag("b", "Save"), "."],
            "Klicken Sie auf Speichern.",
            "0-0 1-1 1-2 1-3",
            "Klicken <b>Sie auf Speichern</b>.",
        ),
    ],
)
def test_a_tag_takes_no_article_or_preposition_in(
    languages: tuple[str, str], source: list[Node], target: str, alignment: str, expected: str
) -> None:
    links = links_of_words(plain(source), target, tuple(sorted(GoldAlignment.of(alignment).sure)))
    found = placed(source, Transfer(target, tuple(links), languages=languages))
    assert written(found) == expected


@pytest.mark.parametrize(
    ("source", "target", "alignment", "expected"),
    [
        (
            ["I went to ", tag("b", "Paris"), " last summer."],
            "Ich bin letzten Sommer nach Paris gefahren.",
            "0-0 1-1 3-2 4-3 2-4 2-5 1-6",  # wrong about Paris, which stands there as it is
            "Ich bin letzten Sommer nach <b>Paris</b> gefahren.",
        ),
        (
            ["The ", tag("b", "red house"), " is old."],
            "Das rote Haus ist alt.",
            "0-0 1-1 2-2 3-3 4-4",
            "Das <b>rote Haus</b> ist alt.",
        ),
        (  # the sign after the word stays outside the tag, as in the source
            ["He bought a ", tag("a", "house"), ", then a car."],
            "Er kaufte ein Haus, dann ein Auto.",
            "0-0 1-1 2-2 3-3 4-4 5-5 6-6",
            "Er kaufte ein <a>Haus</a>, dann ein Auto.",
        ),
        (  # and inside where it was inside
            ["He bought a ", tag("a", "house,"), " then a car."],
            "Er kaufte ein Haus, dann ein Auto.",
            "0-0 1-1 2-2 3-3 4-4 5-5 6-6",
            "Er kaufte ein <a>Haus,</a> dann ein Auto.",
        ),
        (  # words that part are held together by the best range, the tag is not doubled
            [tag("b", "Turn off"), " the light now."],
            "Schalten Sie jetzt das Licht aus.",
            "0-0 0-1 4-2 2-3 3-4 1-5",
            "<b>Schalten Sie</b> jetzt das Licht aus.",
        ),
        (
            [tag("b", "All of ", tag("i", "this"), " sentence.")],
            "Dieser ganze Satz.",
            "2-0 0-1 3-2",
            "<b><i>Dieser</i> ganze Satz.</b>",
        ),
        (  # a note's sign follows its word, white space around a picture stays
            ["See the end", void("note"), " of ", void("img"), " it."],
            "Sieh das Ende davon an.",
            "0-0 1-1 2-2 3-3 4-3",
            "Sieh das Ende<note/> <img/> davon an.",
        ),
        (["One", void("br", " "), "two"], "Eins zwei", "0-0 1-1", "Eins<br/>zwei"),
        (  # white space inside a tag stays inside
            [tag("b", "Click "), "here"],
            "Klicken hier",
            "0-0 1-1",
            "<b>Klicken </b>hier",
        ),
        (  # nothing comes from the link's word: the link holds one nevertheless
            ["It is ", tag("a", "there")],
            "Es gibt es dort",
            "0-0 1-1 0-2 0-3",
            "Es gibt es <a>dort</a>",
        ),
        (  # parts of a compound that is written as it was
            ["The ", tag("ph", "Salesforce"), " API"],
            "Die Salesforce-API",
            "0-0 2-1",
            "Die <ph>Salesforce</ph>-API",
        ),
        ([void("a"), "  One ", void("b")], "  Eins ", "0-0", "<a/>  Eins <b/>"),
    ],
)
def test_a_tag_holds_what_comes_from_its_words(
    source: Nodes, target: str, alignment: str, expected: str
) -> None:
    assert carried(source, target, alignment) == expected


def test_a_literal_takes_the_place_of_its_characters() -> None:
    link = Kept("a.b/c")
    nodes = ["See ", tag("b", link), " first."]
    assert carried(nodes, "Zuerst a.b/c ansehen.", "", {link: "a.b/c"}) == (
        "Zuerst <b>[a.b/c]</b> ansehen."
    )


def test_a_literal_that_the_translation_lacks_is_put_in_by_alignment() -> None:
    nodes = ["Hello ", Kept("{name}"), ", welcome!"]
    assert carried(nodes, "Hallo, willkommen!", "0-0 2-1") == "Hallo [{name}], willkommen!"


def test_a_literal_is_never_put_within_a_number() -> None:
    nodes = ["It costs ", Kept("{sum}"), " with tax"]
    assert carried(nodes, "1.250.000,50", "") == "1.250.000,50 [{sum}]"


def test_a_literal_touches_only_what_it_touches_in_the_source() -> None:
    nodes = [Kept("%KEY%"), "7 days"]
    assert carried(nodes, "7 Tage", "0-0 1-1") == "[%KEY%]7 Tage"
    assert carried(nodes, "Sieben Tage", "0-0 1-1") == "[%KEY%] Sieben Tage"


def test_literals_that_leave_their_tags_are_brought_back() -> None:
    one, two = Kept("X1"), Kept("X2")
    nodes = [tag("a", "first ", one), " and ", tag("b", "second ", two)]
    target = "erster X2 und zweiter X1"
    found = carried(nodes, target, "0-0 2-2 3-3", {one: "X1", two: "X2"})
    assert Counter(found)["["] == 2
    assert found.index("<a>") < found.index("[X1]") < found.index("</a>")
    assert found.index("<b>") < found.index("[X2]") < found.index("</b>")


# Whatever the tree and the links

words = st.lists(st.sampled_from(["one", "two,", "(three)", "x-y", "四五", "End."]), max_size=6)
texts = words.map(" ".join)
space = st.sampled_from(["", " ", "\n"])


@st.composite
def tokens(draw: st.DrawFn) -> list[Token]:
    found: list[Token] = []
    for number in range(draw(st.integers(0, 12))):
        name = draw(st.sampled_from("abc"))
        kind = draw(st.sampled_from(["text", "open", "close", "void", "break", "kept"]))
        match kind:
            case "text":
                found.append(draw(space) + draw(texts) + draw(space))
            case "open":
                found.append(Opening(name, (f"<{name} n={number}>",)))
            case "close":
                found.append(Closing(name, (f"</{name}>",)))
            case "void":
                found.append(Void((f"<v {number}/>",), draw(st.sampled_from(["", "Ctrl"]))))
            case "break":
                found.append(Void((f"<br {number}/>",), " "))
            case "kept":
                found.append(Kept(f"k{number}"))
    return found


def paths(nodes: Nodes, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Each node that is no text, with the tags that it is in."""
    for node in nodes:
        if isinstance(node, Around):
            here = (*above, "".join(map(str, node.opening)))
            yield here
            yield from paths(node.inside, here)
        elif not isinstance(node, str):
            yield (*above, node.text if isinstance(node, Kept) else str(node.raw))


@settings(max_examples=400, deadline=None)
@given(tokens(), texts, st.data())
def test_the_tree_comes_out_as_it_went_in(
    source_tokens: list[Token], target: str, data: st.DataObject
) -> None:
    source = nested(source_tokens)
    links = draw_links(data, plain(source), target)
    literals = {}
    for node in flat(source):
        if isinstance(node, Kept) and data.draw(st.booleans()):
            target += " " + node.text
            literals[node] = (len(target) - len(node.text), len(target))
    found = placed(source, Transfer(target, tuple(links), literals))
    assert Counter(paths(found)) == Counter(paths(source))
    bare = "".join(words_alone(found).split())
    kept = Counter(target.split()) - Counter(node.text for node in literals)
    assert Counter(bare) == Counter("".join(word * n for word, n in kept.items()))


def draw_links(data: st.DataObject, source: str, target: str) -> list[Link]:
    if data.draw(st.booleans()):
        return diagonal(source, target)
    numbers = st.integers(0, max(len(source.split()) - 1, 0))
    pairs = tuple((data.draw(numbers), j) for j in range(len(target.split())))
    return links_of_words(source, target, pairs) if source.split() else []


def flat(nodes: Nodes) -> Iterator[Node]:
    for node in nodes:
        yield node
        if isinstance(node, Around):
            yield from flat(node.inside)


def words_alone(nodes: Nodes) -> str:
    """The text of the nodes without literals."""
    return "".join(node for node in flat(nodes) if isinstance(node, str))
