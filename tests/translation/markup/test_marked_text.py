"""Marked-up text through a translator: tags come back as they were, text stays text."""

import re
from collections import Counter
from collections.abc import Sequence
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import allyouneed
from allyouneed.decoding.links import Alignment
from allyouneed.documents.html import read_html
from allyouneed.documents.translating import DocumentTranslator
from allyouneed.errors import UsageError
from allyouneed.serving.marked import _translated
from allyouneed.translation.markup.html import VOID
from allyouneed.translation.markup.marked_text import rules_of, translate_marked
from allyouneed.translation.markup.nodes import joined
from allyouneed.translation.markup.passage import passages
from allyouneed.translation.markup.reading import read_markup
from allyouneed.translation.result import Translation

TAG = re.compile(r"<[^<>]*>")


def backwards(texts: list[str], alignments: bool) -> Sequence[Translation]:
    """A translator that says the words in upper case, from the last to the first."""
    found = []
    for text in texts:
        words = text.split()
        last = len(words) - 1
        links = tuple((last - n, n) for n in range(len(words)))
        said = " ".join(word if word.isdigit() else word.upper() for word in reversed(words))
        found.append(made(text, said, links if alignments else None))
    return found


def forgetful(texts: list[str], alignments: bool) -> Sequence[Translation]:
    """A translator that carries nothing over."""
    return [
        made(text, "nichts davon <b> & \"so'", ((0, 0),) if alignments else None) for text in texts
    ]


def made(source: str, text: str, alignment: Alignment | None) -> Translation:
    return Translation(
        source=source,
        text=text,
        alignment=alignment,
        tokens=(text,),
        token_log_probabilities=(0.0,),
    )


def marked(text: str, markup: str = "html", **options: Sequence[str]) -> str:
    [found] = translate_marked(backwards, [text], markup, **options)
    return found.text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("I am <b>here</b>", "<b>HERE</b> AM I"),
        (
            "<p>One two</p>\n <p>three <i>four</i></p> ",
            "<p>TWO ONE</p>\n <p><i>FOUR</i> THREE</p> ",
        ),
        ("one two<br>three four", "TWO ONE<br>FOUR THREE"),
        ('<img alt="a dog" src=x> <a title=sea>', '<img alt="DOG A" src=x> <a title="SEA">'),
        ("a &lt;b&gt; &amp; c", "C &amp; &lt;b&gt; A"),
        ('<p>a &lt;img src="x y"&gt; c</p>', '<p>C &lt;img src="x y"&gt; A</p>'),
        ("caf&eacute; au lait", "LAIT AU CAFÉ"),
        ("&eacute; est", "EST É"),
        ("say&nbsp;it &copy; me", "ME &copy; IT&nbsp;SAY"),
        ("one&nbsp;two <b>in&nbsp;a&#8239;box</b>", "<b>BOX&#8239;A&nbsp;IN</b> TWO&nbsp;ONE"),
        ("one two&nbsp;<br>", "TWO ONE&nbsp;<br>"),
        ("a &#123;&#123;x&#125;&#125; b", "B &#123;&#123;x&#125;&#125; A"),
        ("a {x} &#123; b", "B { {x} A"),
        ("<!-- no --> yes sir <!-- no -->", "<!-- no --> SIR YES <!-- no -->"),
        ("<script>if (a < b) c();</script> go on", "<script>if (a < b) c();</script> ON GO"),
        ("press <code>Ctrl + C</code> now", "NOW <code>Ctrl + C</code> PRESS"),
        ('<p translate="no">go <b>on</b></p> do it', '<p translate="no">go <b>on</b></p> IT DO'),
        ('go <b class="notranslate">on</b> now', 'NOW <b class="notranslate">on</b> GO'),
        ("it is 5 < 6 here", "HERE 6 &lt; 5 IS IT"),
        ("all <b>of it", "<b>IT OF ALL"),
        ("a stray</b> end", "END STRAY A</b>"),
        ("<ul><li>one two<li>three four</ul>", "<ul><li>TWO ONE<li>FOUR THREE</ul>"),
        ("<input type=submit value='go on'>", "<input type=submit value='ON GO'>"),
        ('<meta name="description" content="a b">', '<meta name="description" content="B A">'),
        ('<meta name="viewport" content="a b">', '<meta name="viewport" content="a b">'),
        ("12 <b>34</b>", "12 <b>34</b>"),
        ("<a>2</a> They go on", "ON GO THEY <a>2</a>"),
        ("<b>T</b>hey go <i>on</i>", "<b>O</b><i>N</i> GO THEY"),
        ("<b>T</b> go on", "ON GO <b>T</b>"),
        (
            "<ruby>a sign<rp>(</rp><rt>kanji</rt><rp>)</rp></ruby> is",
            "IS <ruby>SIGN A<rp>(</rp><rt>kanji</rt><rp>)</rp></ruby>",
        ),
        ("First one. <b>Second one.</b>", "ONE. FIRST <b>ONE. SECOND</b>"),
        ('<img alt="go to {name} now">', '<img alt="NOW {name} TO GO">'),
        ("<a title='see www.a.org &amp; go'>", "<a title='GO &amp; www.a.org SEE'>"),
        ("The &name; is <b>big</b>", "<b>BIG</b> IS &name; THE"),
        ("<p><code>The dog<br>sleeps</code> go on", "<p><code>The dog<br>sleeps</code> ON GO"),
        ("<code>a <div>b c</div></code> go on", "<code>a <div>b c</div></code> ON GO"),
        ("<p><code>a b</p><p>c d</code> e</p>", "<p><code>B A</p><p>D C</code> E</p>"),
        ('<p translate="no">a b<p>c d', '<p translate="no">a b<p>D C'),
        ('<ul><li translate="no">a b<li>c d</ul>', '<ul><li translate="no">a b<li>D C</ul>'),
        ('<td><p translate="no">a b</td><td>c d', '<td><p translate="no">a b</td><td>D C'),
        ("<p>a b <!-- c d", "<p>B A <!-- c d"),
        ("<p>a b</p", "<p>B A</p"),
        ('a b <a href="c d', 'B A <a href="c d'),
        ("<pre>a b   c d\te f\ng h</pre>", "<pre>B A   D C\tF E\nH G</pre>"),
        ("First one. <!-- a -->\n<b>It</b> is.", "ONE. FIRST <!-- a -->\nIS. <b>IT</b>"),
        ("First one.\n<!-- a --> It <i>is.</i>", "ONE. FIRST\n<!-- a --> <i>IS.</i> IT"),
        ("First one. <b><!-- a -->\nIt</b> is.", "ONE. FIRST \nIS.<b> <!-- a --> IT</b>"),
        ("First one.<!-- a --> <b>It is.</b>", "ONE. FIRST<!-- a --> <b>IS. IT</b>"),
    ],
)
def test_html(source: str, expected: str) -> None:
    assert marked(source) == expected


def clicking(texts: list[str], alignments: bool) -> Sequence[Translation]:
    """A translator whose alignment ties the article and the pronoun to the button's name."""
    links = ((0, 0), (1, 1), (1, 2), (1, 3)) if alignments else None
    return [made(text, "Klicken Sie auf Speichern.", links) for text in texts]


def test_every_door_tells_the_languages_to_what_places_the_tags() -> None:
    source, expected = "Click <b>Save</b>.", "Klicken Sie auf <b>Speichern</b>."
    languages = ("en", "de")
    [found] = translate_marked(clicking, [source], "html", languages=languages)
    assert found.text == expected
    assert allyouneed.load("en-de")(source, markup="html").text == expected
    [served] = _translated(clicking, [source], "html", (), languages)
    assert served.text == expected
    document = read_html(source.encode())
    DocumentTranslator(clicking, languages=languages).translate(document)
    assert document.written().decode() == expected
    document = read_html(source.encode())
    DocumentTranslator(clicking).translate(document)
    assert document.written().decode() == "Klicken <b>Sie auf Speichern</b>."


def test_text_of_an_attribute_never_becomes_an_attribute() -> None:
    source = '<p title="a &quot;https://a.org&quot; onclick=&quot;go(1)&quot; {x} b=c">d e'
    found: list[tuple[str, str | None]] = []

    class Attributes(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.extend(attrs)

    Attributes().feed(marked(source))
    [(name, value)] = found
    assert name == "title"
    assert value is not None
    assert {'"https://a.org"', "{x}"} <= set(value.split())


def test_xml_has_no_elements_of_its_own() -> None:
    assert marked("<br>one</br> <x/>two", "xml") == "<x/>TWO <br>ONE</br>"
    assert marked("go <x>on</x> now", "xml", ignore_tags=["x"]) == "NOW <x>on</x> GO"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<li>one two</li><li>three four</li>", "<li>TWO ONE</li><li>FOUR THREE</li>"),
        ("you may: <ul><li>go on</li></ul> or stop", "MAY: YOU <ul><li>ON GO</li></ul> STOP OR"),
        ("<step>go on</step><step>stop it</step>", "<step>ON GO</step><step>IT STOP</step>"),
        ("one two<br/>three four", "FOUR<br/>THREE TWO ONE"),
    ],
)
def test_paragraphs_and_items_of_xml_end_sentences(source: str, expected: str) -> None:
    assert marked(source, "xml") == expected


def test_white_space_and_symbols_between_sentences_stay_between_them() -> None:
    assert marked("He came.<br/>She went.", "xml") == "CAME. HE<br/>WENT. SHE"
    assert marked("© 2024 Acme. | Go on ♪") == "© ACME. 2024 | ON GO ♪"


@pytest.mark.parametrize("name", ["pre", "textarea"])
def test_lines_of_preformatted_text_stay_lines(name: str) -> None:
    source = f"<{name}>one dog\n  two <b>cats\r\n\n\tmore</b> cows\n</{name}><p>a\nb</p>"
    assert marked(source) == (
        f"<{name}>DOG ONE\n  <b>CATS TWO\r\n\n\tCOWS MORE</b>\n</{name}><p>B A</p>"
    )


def test_a_tag_around_blocks_ends_a_sentence_too() -> None:
    assert marked("go on <a><p>one two</p> three four</a> and stop") == (
        "ON GO <a><p>TWO ONE</p> FOUR THREE</a> STOP AND"
    )


def test_elements_whose_words_run_together_are_parted() -> None:
    menu = "open <b>File</b><b>New</b>"
    assert marked(menu) == "<b>NEW</b> <b>FILE</b> OPEN"
    assert "FILE" in marked("open <b>Fi</b><i>le</i>")


def test_what_markup_is_known() -> None:
    with pytest.raises(UsageError, match="'sgml' is not one of html, xml, text"):
        marked("x", "sgml")
    with pytest.raises(UsageError, match="no regular expression"):
        marked("x", protect=["("])


def test_text_that_a_user_protects_is_carried_over() -> None:
    assert marked("the Big Apple is here", protect=["Big Apple"]) == "HERE IS Big Apple THE"


def test_what_the_model_drops_is_there_nevertheless_and_told() -> None:
    text = 'See <a href="/">https://a.b/c?d=1&amp;e</a> or <b>{name}</b>, or <code>x &lt; y</code>.'
    [found] = translate_marked(forgetful, [text], "html")
    for part in ("https://a.b/c?d=1&amp;e", "{name}", "<code>x &lt; y</code>", '<a href="/">'):
        assert found.text.count(part) == 1
    assert len(found.notes) == 3
    assert "'{name}'" in " ".join(found.notes)
    assert found.text.count("<b>") == 1  # what the model makes up is no tag


def test_the_tokens_are_the_models() -> None:
    [found] = translate_marked(backwards, ["<p>a b</p><p>c</p>"], "html")
    assert found.tokens == ("B A", "C")


def test_texts_that_are_alike_are_translated_once() -> None:
    asked: list[str] = []

    def listening(texts: list[str], alignments: bool) -> Sequence[Translation]:
        asked.extend(texts)
        return backwards(texts, alignments)

    translate_marked(listening, ["<p>a b</p><p>a b</p>", "<i>a b</i>"], "html")
    assert asked == ["a b"]


# Whatever the markup

SCRAPS = [
    "<b>",
    "</b>",
    "<i class='x y'>",
    "</i>",
    "<br>",
    "<p>",
    "<pre>",
    "</pre>",
    "one\ntwo ",
    "</p>",
    "<img alt='a dog' src=x>",
    "<code>",
    "</code>",
    "<!-- a > b -->",
    "<script>",
    "</script>",
    '<a href="x?a=1&b=\'">',
    "</a>",
    "<",
    ">",
    "&",
    "&amp;",
    "&lt;i&gt;",
    "&nbsp;",
    "'",
    '"',
    "a < b",
    "<3",
    "</",
    "<!",
    "Two words. ",
    "one",
    "Three, more words",
    "\n",
    " ",
    "{x}",
    "http://a.b/c",
    "<td>",
    "<x/>",
]
scraps = st.sampled_from(SCRAPS)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(scraps, max_size=20).map("".join) | st.text(max_size=60),
    st.sampled_from(["html", "xml"]),
)
def test_the_parts_are_the_file_again(text: str, markup: str) -> None:
    assert joined(read_markup(text, rules_of(markup))) == text


@settings(max_examples=300, deadline=None)
@given(st.lists(scraps, max_size=20).map("".join), st.sampled_from([backwards, forgetful]))
def test_tags_are_those_of_the_source_however_broken(text: str, translate: object) -> None:
    [found] = translate_marked(translate, [text], "html")  # type: ignore[arg-type]
    assert tags(found.text) == tags(text)


def tags(text: str) -> Counter[str]:
    """What a stranger reads as tags, without the values of attributes that are translated."""
    found: Counter[str] = Counter()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found[f"<{tag} {[value for name, value in attrs if name != 'alt']}>"] += 1

        def handle_endtag(self, tag: str) -> None:
            found[f"</{tag}>"] += 1

    reader = Reader()
    reader.feed(text)
    reader.close()
    return found


well_formed = st.recursive(
    st.sampled_from(
        ["one two", "three. Four", " ", "five &amp; six", "<br>", "<img>", "{x}", "&lt;b&gt;"]
    ),
    lambda inner: st.builds(
        lambda name, inside: f"<{name}>{''.join(inside)}</{name}>",
        st.sampled_from(["b", "i", "a", "p", "li", "span"]),
        st.lists(inner, max_size=4),
    ),
    max_leaves=15,
)


@settings(max_examples=300, deadline=None)
@given(well_formed, st.sampled_from([backwards, forgetful]))
def test_well_formed_stays_well_formed(text: str, translate: object) -> None:
    [found] = translate_marked(translate, [text], "html")  # type: ignore[arg-type]
    assert Counter(TAG.findall(found.text)) == Counter(TAG.findall(text))
    open_tags: list[str] = []
    for tag in TAG.findall(found.text):
        name = tag.strip("</>")
        if tag.startswith("</"):
            assert open_tags.pop() == name
        elif name not in VOID:
            open_tags.append(name)
    assert not open_tags


FOREIGN = [
    ('He said <i lang="fr">c\'est la vie</i> now', 'NOW <i lang="fr">c\'est la vie</i> SAID HE'),
    ('so <i lang="en-GB">it is</i>', '<i lang="en-GB">IS IT</i> SO'),
    ('so <i lang="eng">it is</i>', '<i lang="eng">IS IT</i> SO'),
    ('so <i lang="und">it is</i>', '<i lang="und">IS IT</i> SO'),
    ('so <i xml:lang="fr-CA">il <b>est</b> là</i>', '<i xml:lang="fr-CA">il <b>est</b> là</i> SO'),
    ('<a lang="fr" title="la vie">la vie</a> so', 'SO <a lang="fr" title="la vie">la vie</a>'),
    (
        '<blockquote lang="fr" title="la vie">un <b>deux</b> <p>trois &amp; là</blockquote> a b',
        '<blockquote lang="fr" title="la vie">un <b>deux</b> <p>trois &amp; là</blockquote> B A',
    ),
    ('<p lang="fr">un deux<p>a b', '<p lang="fr">un deux<p>B A'),
    (
        '<div lang="fr">un la<p lang="en">a b</p>x y</div>',
        '<div lang="fr">un la<p lang="en">B A</p>x y</div>',
    ),
    ('<span lang="fr"><p>un deux</p></span> a b', '<span lang="fr"><p>un deux</p></span> B A'),
    ('<html lang="fr"><body lang="fr"><p>a b', '<html lang="fr"><body lang="fr"><p>B A'),
]


@pytest.mark.parametrize(("source", "expected"), FOREIGN)
def test_elements_in_another_language_stay(source: str, expected: str) -> None:
    [found] = translate_marked(backwards, [source], "html", languages=("en", "de"))
    assert found.text == expected
    [unknown] = translate_marked(backwards, [source], "html")
    assert "la vie" not in unknown.text
    assert "un deux" not in unknown.text


@pytest.mark.parametrize(
    "text", ["<a " * 40_000, '<a b="' * 40_000, "<code>" * 20_000, "<b>" * 20_000, "{" * 40_000]
)
def test_hostile_text_takes_no_long_time(text: str) -> None:
    parts = read_markup(text, rules_of("html"))
    assert joined(parts) == text
    translate_marked(backwards, [text[:60_000] + "word"], "html")
    assert list(passages(parts)) is not None


def test_the_bundled_model_keeps_tags_around_their_words() -> None:
    translator = allyouneed.load("en-de", threads=1)

    def translate(texts: list[str], alignments: bool) -> Sequence[Translation]:
        return translator(texts, alignments=alignments)

    text = "<p>I went to <b>Paris</b> last summer.</p> <p>Hello <i>{name}</i>!</p>"
    [found] = translate_marked(translate, [text], "html")
    assert "<b>Paris</b>" in found.text
    assert "<i>{name}</i>" in found.text


def test_letters_and_speech_are_those_of_plain_text() -> None:
    translator = allyouneed.load("en-de", threads=1)
    lines = ["Dear Sir or Madam,", '"I am tired," he said.', "The shop opens at 9:30 a.m."]
    plain = [one.text for one in translator(lines)]
    assert plain[0] == "Sehr geehrte Damen und Herren,"
    found = translator([f"<p>{line}</p>" for line in lines], markup="html")
    assert [one.text for one in found] == [f"<p>{text}</p>" for text in plain]


def test_the_translator_takes_markup() -> None:
    translator = allyouneed.load("en-de", threads=1)
    found = translator(["A man <b>rides</b> a bike.", "<i>The dog</i> sleeps."], markup="html")
    assert [sorted(TAG.findall(one.text)) for one in found] == [["</b>", "<b>"], ["</i>", "<i>"]]
    assert translator("Hello {name}!\n\nGood morning, {n}.", markup="text").text.count("{n") == 2
    assert "Big Red" in translator("He lives in Big Red.", protect=["Big Red"]).text
    assert "<x>the</x>" in translator("in <x>the</x> house", markup="xml", ignore_tags=["x"]).text
    with pytest.raises(UsageError, match="plain text"):
        translator("<b>x</b>", markup="html", n_best=2)
    with pytest.raises(UsageError, match="sgml"):
        translator("x", markup="sgml")
