"""Random well-formed markup through a translator that does as it likes with the words."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from html.parser import HTMLParser
from random import Random
from xml.parsers import expat

from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import at_least

from allyouneed.decoding.links import Alignment
from allyouneed.translation.markup.marked_text import translate_marked
from allyouneed.translation.result import Translation

WORDS = [
    "cat",
    "dogs,",
    "(sun)",
    "Rain.",
    "end!",
    "x-ray",
    "Ça",
    "猫が好き",
    "12",
    "no:",
    "“so”",
    "e",
]
REFERENCES = ["&amp;", "&lt;b&gt;", "&gt;", "&quot;", "&#8364;", "&#233;", "&#35;", "&lt;/p&gt;"]
VALUES = ["x", "a b", "a > b", "1 &lt; 2", "&quot;q&quot; &amp;amp;", "http://a.b/?c=d&amp;e", ""]
TITLES = ["a dog", "1 &lt; 2 cats", "&quot;so&quot; it is"]
INLINE = ["b", "i", "a", "span", "em", "u-v"]
BLOCK = ["p", "li", "h1", "div", "td"]
TEXT_ATTRIBUTE = re.compile(r"\b(?:alt|title)=(?:\"[^\"]*\"|'[^']*')")
MARK = re.compile(
    r"<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[[\s\S]*?\]\]>|<script[\s\S]*?</script>"
    r"""|<[^<>"']*(?:"[^"]*"[^<>"']*|'[^']*'[^<>"']*)*>"""
)


@dataclass(frozen=True)
class Marked:
    """A text with markup, and what of it has to come back as it is, each once."""

    text: str
    kind: str
    whole: Sequence[str]


@st.composite
def marked(draw: st.DrawFn) -> Marked:
    """Well-formed markup. Every tag has a number, so no two are alike."""
    kind = draw(st.sampled_from(["html", "xml"]))
    numbers = iter(range(10_000))
    whole: list[str] = []

    def kept(raw: str) -> str:
        whole.append(raw)
        return raw

    def attributes(number: int) -> str:
        found = f' n="{number}"'
        for name in draw(st.lists(st.sampled_from(["href", "class", "data-x"]), max_size=2)):
            quote = draw(st.sampled_from("\"'"))
            if f" {name}=" not in found:
                found += f" {name}={quote}{draw(st.sampled_from(VALUES))}{quote}"
        if kind == "html" and draw(st.integers(0, 5)) == 0:
            found += f' title="{draw(st.sampled_from(TITLES))}"'
        return found

    def words() -> str:
        pieces = draw(st.lists(st.sampled_from(WORDS + REFERENCES), max_size=5))
        return draw(st.sampled_from(["", " ", "\n  "])).join(pieces)

    def piece(depth: int, in_block: bool) -> str:
        n = next(numbers)
        shapes = ["words", "words", "void", "comment", "skipped", "literal", "cdata"]
        shapes += ["inline", "inline", "block"] if depth < 4 else []
        shape = draw(st.sampled_from(shapes))
        match shape:
            case "words":
                return words() + draw(st.sampled_from(["", " ", ". "]))
            case "inline":
                name = draw(st.sampled_from(INLINE))
                return f"<{name}{attributes(n)}>{pieces(depth + 1, in_block)}</{name}>"
            case "block" if in_block:
                name = draw(st.sampled_from(BLOCK))
                return f"<{name}{attributes(n)}>{pieces(depth + 1, True)}</{name}>"
            case "void":
                name = draw(st.sampled_from(["br", "img", "wbr", "hr"]))
                return f"<{name}{attributes(n)}/>"
            case "comment":
                return kept(f"<!-- {n} a > b <i> & -->")
            case "skipped" if kind == "html":
                name = draw(st.sampled_from(["code", "kbd", "script"]))
                return kept(f'<{name} n="{n}">a {n} &lt; b</{name}>')
            case "skipped":
                return kept(f'<b n="{n}" translate="no">a {n} &lt; <i n="{n}i">b</i></b>')
            case "literal":
                literals = [f"{{name{n}}}", f"http://a.b/{n}c", f"%{n}$s"]
                return " " + kept(draw(st.sampled_from(literals)))
            case "cdata" if kind == "xml":
                return kept(f"<![CDATA[a {n} < b]]>")
        return " "

    def pieces(depth: int, in_block: bool) -> str:
        count = draw(st.integers(0, 4))
        return "".join(piece(depth, in_block) + draw(space) for _ in range(count))

    space = st.sampled_from(["", " ", " ", "\n"])
    return Marked(pieces(0, True), kind, tuple(whole))


@dataclass(frozen=True)
class Wild:
    """A translator whose words, order and alignment are random, the same for the same text."""

    seed: int
    drops: bool

    def __call__(self, texts: list[str], alignments: bool) -> Sequence[Translation]:
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> Translation:
        random = Random(f"{self.seed} {text}")
        words = text.split()
        random.shuffle(words)
        if self.drops:
            words = [word for word in words for _ in range(random.choice([0, 1, 1, 1, 2]))]
            made_up = ["<b>", "&amp;", "--", "]]>", "Neu", "a&b"]
            words += random.choices(made_up, k=random.choice([0, 2])) or ["so"]
        links: Alignment = tuple(
            (random.randrange(len(text.split())), random.randrange(len(words)))
            for _ in range(random.randrange(2 * len(words) + 1))
            if words
        )
        return Translation(
            source=text,
            text=" ".join(words),
            alignment=random.choice([links, (), tuple((n, n) for n in range(len(words)))]),
            tokens=(),
            token_log_probabilities=(),
        )


def through(case: Marked, translate: Wild) -> str:
    [found] = translate_marked(translate, [case.text], case.kind)
    return found.text


def marks(text: str) -> list[str]:
    """The tags, comments and so on, byte for byte but for attributes that are translated."""
    return [TEXT_ATTRIBUTE.sub("T", mark) for mark in MARK.findall(text)]


def above(text: str) -> dict[str, tuple[str, ...]]:
    """For each tag the tags that it is in; fails where tags cross or lack a partner."""
    found: dict[str, tuple[str, ...]] = {}
    open_tags: list[str] = []
    for mark in marks(text):
        if mark.startswith("</"):
            assert re.match(r"<[^\s>]+", open_tags.pop())[0][1:] == mark[2:-1]  # type: ignore[index]
            continue
        assert mark not in found, f"{mark} twice"
        found[mark] = tuple(open_tags)
        if mark[1] not in "!?" and not mark.endswith("/>") and not mark.startswith("<script"):
            open_tags.append(mark)
    assert not open_tags
    return found


def strange(case: Marked, text: str) -> Counter[str]:
    """What a parser that is not ours finds: elements, attributes, comments."""
    found: Counter[str] = Counter()
    if case.kind == "xml":
        parser = expat.ParserCreate()
        parser.StartElementHandler = lambda name, given: found.update([f"{name} {given}"])
        parser.CommentHandler = lambda said: found.update([said])
        parser.Parse(f"<root>{text}</root>", True)
        return found

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found[f"{tag} {[value for name, value in attrs if name != 'title']}"] += 1

        def handle_comment(self, data: str) -> None:
            found[data] += 1

    reader = Reader()
    reader.feed(text)
    reader.close()
    return found


@at_least(200)
@given(marked(), st.builds(Wild, st.integers(0, 1000), st.booleans()))
def test_markup_survives_whatever_the_translator_does(case: Marked, translate: Wild) -> None:
    found = through(case, translate)
    before, after = above(case.text), above(found)
    assert before.keys() == after.keys()
    for mark, tags in before.items():  # a tag that a block cuts in two may take neighbours in
        assert set(tags) <= set(after[mark]) if case.kind == "html" else tags == after[mark], mark
    assert strange(case, found) == strange(case, case.text)
    for literal in case.whole:
        assert found.count(literal) == 1, literal
    text = MARK.sub("", found)
    assert "<" not in text, "text became a tag"
    assert not re.search(r"&(?!#?\w+;)", text), "an escaped sign lost its escape"


@at_least(200)
@given(marked(), st.integers(0, 1000))
def test_words_and_references_survive_a_translator_that_keeps_the_words(
    case: Marked, seed: int
) -> None:
    found = through(case, Wild(seed, drops=False))
    assert references(found) == references(case.text)
    assert Counter(letters(found)) == Counter(letters(case.text))


def references(text: str) -> Counter[str]:
    return Counter(re.findall(r"&#?\w+;", MARK.sub("", text)))


def letters(text: str) -> str:
    return "".join(unescape(MARK.sub("", text)).split())
