"""Text, Markdown, web pages and subtitles: what is text changes, all else stays byte for byte."""

import html
import re
from collections.abc import Callable
from io import BytesIO
from textwrap import dedent

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.conftest import at_least

from allyouneed.documents.ass import read_ass
from allyouneed.documents.document import Document
from allyouneed.documents.html import read_html
from allyouneed.documents.markdown import read_markdown
from allyouneed.documents.subtitles import read_srt, read_vtt
from allyouneed.documents.text import read_text, stream_text
from allyouneed.documents.wrapping import BREAK, balanced, with_breaks, wrapped
from allyouneed.errors import AllYouNeedError, DataError
from allyouneed.translation.markup.nodes import Around, plain

Read = Callable[[bytes], Document]
Through = Callable[[Read, bytes], bytes]


def streamed_text(data: bytes) -> Document:
    """The first document of a text that is read in parts."""
    return next(stream_text(BytesIO(data)))


LETTER = """\
Dear Anna,

this letter was written on an old machine that ends its lines at a
width of its own, so that a sentence goes on where the line before it
has ended. We join them.

- one thing
- another thing that is in a list

> quoted words
"""


def test_text(aloud: Through) -> None:
    found = aloud(read_text, LETTER.encode()).decode()
    assert found.startswith("DEAR ANNA,\n\nTHIS LETTER WAS")
    assert "- ONE THING\n- ANOTHER THING THAT IS IN A LIST\n\n> QUOTED WORDS\n" in found
    assert max(map(len, found.split("\n"))) <= 69


def test_lines_broken_at_a_width_are_one_sentence(turned: Through) -> None:
    wrapped = "a sentence of which the end is not on the line where it began\nbut on another one."
    assert turned(read_text, wrapped.encode()).decode() == (
        "one. another on but began it where line the on not is end the\nwhich of sentence a"
    )


def test_signs_of_french_stay_with_their_word() -> None:
    french = "Il dit « oui » ; elle : « Quoi ? Non ! » 10\xa0km et »so« aus"
    words = "Il|dit|« oui » ;|elle :|« Quoi ?|Non ! »|10\xa0km|et|»so«|aus"
    assert "|".join(wrapped(with_breaks(french), 1)) == words


def test_signs_of_french_stay_with_their_word_in_cues() -> None:
    assert balanced("Tu viens ?", 3, 4) == "Tu\nviens ?"


@pytest.mark.parametrize("read", [read_text, read_markdown])
def test_signs_of_french_stay_with_their_word_in_a_file(read: Read, aloud: Through) -> None:
    source = "the house on the hill is old and red\n? It is very cold in the winter, too"
    assert aloud(read, source.encode()).decode() == (
        "THE HOUSE ON THE HILL IS OLD AND\nRED ? IT IS VERY COLD IN THE WINTER,\nTOO"
    )


@pytest.mark.parametrize("read", [read_text, read_markdown])
def test_spaces_at_which_no_line_may_end_stay(read: Read) -> None:
    document = read(b"a line that is long enough for text\nand goes on here")
    document.passages[0].target = ("une\u202fligne assez  longue pour\xa0un",)
    assert document.written().decode() == "une\u202fligne assez longue pour\xa0un"


TEX = """\\section{Fast snails}
A \\emph{fast} snail~\\cite{smith2019,doe} runs at 3\\% of $v$.
\\begin{itemize}
"""


@pytest.mark.parametrize("read", [read_text, streamed_text])
def test_commands_of_tex_stay(aloud: Through, read: Read) -> None:
    assert aloud(read, TEX.encode()).decode() == (
        "\\section{FAST SNAILS}\nA \\emph{FAST} SNAIL~\\cite{smith2019,doe} RUNS AT 3\\% OF $v$.\n"
        "\\begin{itemize}\n"
    )


def test_names_of_emoji_and_broken_lines_stay_in_markdown(aloud: Through) -> None:
    text = "It works :tada: well  \nSee <https://a.b/c> or more\\\n10:30 is: late\n"
    assert aloud(read_markdown, text.encode()).decode() == (
        "IT WORKS :tada: WELL  \nSEE <https://a.b/c> OR MORE\\\n10:30 IS: LATE\n"
    )


def test_lines_that_end_where_they_want_to_stay_lines(aloud: Through) -> None:
    poem = "Two roads diverged\r\n  in a yellow wood,\r\nand sorry\t\r\n\r\n\r\n---\r\n12\r\n"
    assert aloud(read_text, poem.encode()) == (
        b"TWO ROADS DIVERGED\r\n  IN A YELLOW WOOD,\r\nAND SORRY\t\r\n\r\n\r\n---\r\n12\r\n"
    )


def test_a_quoted_reply_is_joined_within_its_quote(turned: Through) -> None:
    mail = (
        "> Dear you,\n>\n> a sentence of which the end is not on the line where it\n"
        "> began but on another one.\n>> older\n>\n>\nNew words\n"
    )
    assert turned(read_text, mail.encode()).decode() == (
        "> you, Dear\n>\n> one. another on but began it where line the on not is\n"
        "> end the which of sentence a\n>> older\n>\n>\nwords New\n"
    )


@pytest.mark.parametrize("read", [read_text, read_markdown, read_html, read_srt, streamed_text])
def test_a_file_that_is_no_text_is_told(read: Read) -> None:
    with pytest.raises(DataError, match="no text: it has a zero byte at 12"):
        read(b"\x7fELF and more\0\1".replace(b"more", b"mor"))


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_encodings(aloud: Through, codec: str) -> None:
    assert aloud(read_text, "schöne Grüße\n".encode(codec)) == "SCHÖNE GRÜSSE\n".encode(codec)


MARKDOWN = dedent(
    """\
    ---
    title: "not this: it is data"
    ---
    # The first heading #

    A paragraph with **bold words**, `code here`, a [link](http://a.b/c_d "T"),
    and math $a_1 * b$ in its second line. ![a picture](x.png)

    ```python
    print("no")
    ```

        indented code

    $$
    x = y
    $$

    * an item with <b>html</b>
    * [ ] a task  \\
      with a break
      1. a number

    > quoted text that
    > has two lines

    | head one | `x` |
    |----------|:---:|
    | a cell   | **b** |

    <div class="a">html <b>block</b> with <code>code</code>
      <img src="b.png" alt="a small picture">
    </div>

    <!-- a comment stays -->

    - a list
      <div>html in a list</div>

    See [the reference][ref], <http://x.y> and a footnote.[^1]

    [ref]: http://a.b/c
    [^1]: the note is text

    Setext heading
    ==============
    """
)


def test_markdown(aloud: Through) -> None:
    found = aloud(read_markdown, MARKDOWN.encode()).decode()
    for same in (
        '---\ntitle: "not this: it is data"\n---\n',
        '```python\nprint("no")\n```\n\n    indented code\n\n$$\nx = y\n$$\n',
        "<!-- a comment stays -->",
        "<div>html in a list</div>",
        "[ref]: http://a.b/c\n",
        "|----------|:---:|",
        "`code here`",
        "$a_1 * b$",
        "<http://x.y>",
        "\n==============\n",
    ):
        assert same in found
    for translated in (
        "# THE FIRST HEADING #\n",
        '**BOLD WORDS**, `code here`, A [LINK](http://a.b/c_d "T"),',
        "![A PICTURE](x.png)",
        "* AN ITEM WITH <b>HTML</b>\n* [ ] A TASK \\\n  WITH A BREAK\n  1. A NUMBER\n",
        "> QUOTED TEXT THAT\n> HAS TWO LINES\n",
        "| HEAD ONE | `x` |",
        "| A CELL   | **B** |",
        '<div class="a">HTML <b>BLOCK</b> WITH <code>code</code>\n',
        '\n  <img src="b.png" alt="A SMALL PICTURE">\n</div>\n',
        "[THE REFERENCE][ref]",
        "A FOOTNOTE.[^1]",
        "[^1]: THE NOTE IS TEXT",
        "SETEXT HEADING\n",
    ):
        assert translated in found


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (r"yes \| no", r"YES \| NO"),
        (r"a `b \| c` d", r"A `b \| c` D"),
        (r"**so \| so** on", r"**SO \| SO** ON"),
        (r"[to \| fro](http://a.b/c\|d) go", r"[TO \| FRO](http://a.b/c\|d) GO"),
        (r"a \\| b", r"A \\| B"),
        ("- a dash", "- A DASH"),
    ],
)
def test_a_bar_in_a_cell_stays_in_the_cell(cell: str, expected: str, aloud: Through) -> None:
    table = "| head | two |\n|------|-----|\n| {} | end |\n"
    found = aloud(read_markdown, table.format(cell).encode()).decode()
    assert found == table.format(expected).replace("head", "HEAD").replace("two", "TWO").replace(
        "end", "END"
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Press <kbd>Left Shift</kbd> now.", "PRESS <kbd>Left Shift</kbd> NOW."),
        ("Use <code>the `x` mark</code> here.", "USE <code>the `x` mark</code> HERE."),
        ('<b translate="no">a <i>b</i></b> c.', '<b translate="no">a <i>b</i></b> C.'),
        ('a <B class="notranslate">b <b>c</b> d</B>', 'A <B class="notranslate">b <b>c</b> d</B>'),
        ("It is <kbd>not closed.", "IT IS <kbd>NOT CLOSED."),
        ("A tag in <kbd>code `</kbd>` here</kbd> is left.",) * 2,
    ],
)
def test_html_that_stays_as_it_is_in_markdown(source: str, expected: str, aloud: Through) -> None:
    assert aloud(read_markdown, source.encode()).decode() == expected


def test_the_model_sees_html_that_stays_as_its_text() -> None:
    [passage] = read_markdown(b"Press <kbd>Left  Shift</kbd> now.").passages
    assert plain(passage.nodes) == "Press Left Shift now."


def test_each_line_of_a_quotation_keeps_its_mark(aloud: Through) -> None:
    source = "> One red dog\nruns and two\nbig cats and\n> dogs see it.\n"
    assert aloud(read_markdown, source.encode()).decode() == source.upper()


def test_html_in_markdown_names_its_language() -> None:
    [passage] = read_markdown(b'The <i lang="fr">raison</i> of <b>it</b>.').passages
    assert [one.language for one in passage.nodes if isinstance(one, Around)] == ["fr", ""]


def test_html_in_a_list_of_markdown_is_told() -> None:
    document = read_markdown(b"word\n\n- one\n\n  <div>two</div>\n")
    assert document.notes == ["line 5: HTML in a list or quote stays as it is"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("> [!WARNING]\n> The water is hot.\n", "> [!WARNING]\n> hot. is water The\n"),
        ("> [!TIP]\r\n> One two\r\n", "> [!TIP]\r\n> two One\r\n"),
        ("> [!note] One two\n> See it\n", "> [!note] two One\n> it See\n"),
        (":::tip\nOne two.\n:::\nSee it\n", ":::tip\ntwo. One\n:::\nit See\n"),
        ("::: tip One\n- a b\n- c d\n:::\n", "::: tip One\n- b a\n- d c\n:::\n"),
        (":::: a\n::: b\none two\n:::\n::::\n", ":::: a\n::: b\ntwo one\n:::\n::::\n"),
        ("::: a\n<p>one two</p>\n\n:::\n", "::: a\n<p>two one</p>\n\n:::\n"),
        (":::\none two\n:::\n", ":::\ntwo one\n:::\n"),
        (
            '!!! note "Read this"\n    One two.\n\n    See\n    it\n\nthe end\n',
            '!!! note "this Read"\n    two. One\n\n    it\n    See\n\nend the\n',
        ),
        ('!!! note "note `a`"\n    b c\n', '!!! note "`a` note"\n    c b\n'),
        ('???+ a b "c d"\n\n    e f', '???+ a b "d c"\n\n    f e'),
        ("!!! Hey you\nor it", "!!! Hey you\nit or"),
        ("??? tip\n    - a b\n\n!!! note\n    c d\n", "??? tip\n    - b a\n\n!!! note\n    d c\n"),
        (
            '=== "One two"\n\n    a b\n\n        code it\n\n===+ "c d"\n    e f\n\nthe end\n',
            '=== "two One"\n\n    b a\n\n        code it\n\n===+ "d c"\n    f e\n\nend the\n',
        ),
        ("One two\n===\n\nsee it\n", "two One\n===\n\nit see\n"),
    ],
)  # fmt: skip
def test_boxes_of_markdown_keep_their_lines(source: str, expected: str, turned: Through) -> None:
    assert turned(read_markdown, source.encode()).decode() == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("[^1]: a b\n\n    c d\n\n\tsee it\n\ne f\n", "[^1]: b a\n\n    d c\n\n\tit see\n\nf e\n"),
        ("[^x]: a b\n\n    - c d\n    - e f", "[^x]: b a\n\n    - d c\n    - f e"),
        ("[^1]: a b\n\n        code it\n\n    c d\n", "[^1]: b a\n\n        code it\n\n    d c\n"),
        ("[^1]: a b\n[^2]: c d\n\n    e f\n", "[^1]: b a\n[^2]: d c\n\n    f e\n"),
        ("See it\n[^1]: a b\nc d\n", "it See\n[^1]: d c\nb a\n"),
        ("[^1]: a b\n\n      c d\n", "[^1]: b a\n\n      d c\n"),
        ("[^1]:     a b c\n", "[^1]:     c b a\n"),
        ("[^1]:\n    a b\n\n[^1] see it\n", "[^1]:\n    b a\n\nit see [^1]\n"),
    ],
)  # fmt: skip
def test_all_paragraphs_of_a_footnote_are_text(source: str, expected: str, turned: Through) -> None:
    assert turned(read_markdown, source.encode()).decode() == expected


@pytest.mark.parametrize(
    "source",
    [
        "![a b](x.png)\n",
        "![a b](x.png) ![c](y.png)\n",
        '[![a](x.png "title")](http://a.b/c) ![b](y.png)\n',
        "> ![a](x.png)\n> ![b](y.png)\n",
        "- ![a](x.png)  \r\n  ![b](y.png)\r\n",
        "| ![a](x.png) ![b](y.png) |\n|-|\n",
    ],
)
def test_pictures_without_other_text_have_texts(source: str, aloud: Through) -> None:
    found = aloud(read_markdown, source.encode()).decode()
    assert found == re.sub(r'!\[[^]]*|"title"', lambda text: text[0].upper(), source)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('See [x](y "Read more") now.', "READ MORE"),
        ("See [x](<y> 'Read more') now.", "READ MORE"),
        ("See ![x](y\n(Read more)) now.", "READ MORE"),
        ('See [x](y "Read \\"more\\"") now.', None),
        ('See [x](y "7") now.', None),
    ],
)
def test_titles_of_links_are_translated(source: str, said: str | None, aloud: Through) -> None:
    found = aloud(read_markdown, source.encode()).decode()
    expected = re.sub(r"See|(?<=\[)x|now", lambda word: word[0].upper(), source)
    assert found == (expected.replace("Read more", said) if said else expected)


def test_a_title_of_a_link_keeps_its_quotes() -> None:
    for bounds, written in (('""', 'l\'\\"a\\"'), ("''", 'l\\\'"a"'), ("()", 'l\'"a"')):
        document = read_markdown(f"[x](y {bounds[0]}Read more{bounds[1]})".encode())
        title, link = document.passages
        link.target = link.nodes
        title.target = ('l\'"a"',)
        assert document.written().decode() == f"[x](y {bounds[0]}{written}{bounds[1]})"


def test_lines_that_all_end_on_purpose_are_not_broken() -> None:
    document = read_markdown(b"One\\\nDo it.\n")
    document.passages[0].target = ("Faites-le maintenant, s'il vous plait",)
    assert document.written() == b"Faites-le maintenant, s'il vous plait\n"


LINES = [":::a", ":::", "!!! note", "    two words", "- one", "two words", "", "> more", "**so**"]


@settings(max_examples=200, deadline=None)
@given(lines=st.lists(st.sampled_from(LINES), max_size=12))
def test_lines_of_boxes_stay_lines(lines: list[str], aloud: Through) -> None:
    found = aloud(read_markdown, "\n".join(lines).encode()).decode().split("\n")
    marks = [line for line in lines if line.startswith((":::", "!!!"))]
    assert [line for line in found if line in LINES[:3]] == marks


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("**Note**\nDo it now.", "**Note**\nnow. it Do"),
        ("> __One note:__\n> Do it now", "> __note: One__\n> now it Do"),
        ("**One**\n**Two**\nDo it.", "**One**\n**Two**\nit. Do"),
        ("One two.\n**Red note**\nSee it", "two. One\n**note Red**\nit See"),
        ("- **One**\n  Do it", "- **One**\n  it Do"),
        ("so it is\n**very big**\nhere", "here **big\nvery** is it\nso"),
        ("**so** it\nis", "is it **so**"),
    ],
)
def test_a_bold_line_is_a_heading(source: str, expected: str, turned: Through) -> None:
    assert turned(read_markdown, source.encode()).decode() == expected


def test_definitions_of_markdown_are_blocks_of_their_own(aloud: Through) -> None:
    source = dedent(
        """\
        Apple
        : A fruit that grows
          on trees.

        Wheel

        :   A round thing.

        :   Its second
            meaning.

        Not a definition: a text
        : in two lines.
        """
    )
    found = aloud(read_markdown, source.encode()).decode()
    assert found == source.upper()


def test_no_line_begins_like_a_definition() -> None:
    assert wrapped(BREAK.join(["aaaa", "bbbb", ":", "cccc"]), 9) == ["aaaa bbbb :", "cccc"]


def test_no_translation_becomes_a_definition(turned: Through) -> None:
    found = turned(read_markdown, b"one two three :\n\nWord\n: a b\n").decode()
    assert found == "\\: three two one\n\nWord\n: b a\n"


def test_markdown_that_a_model_makes_up_is_text(turned: Through) -> None:
    assert turned(read_markdown, b"one two - three\n") == b"three - two one\n"
    assert turned(read_markdown, b"It ends with 1.\n") == b"1\\. with ends It\n"
    assert turned(read_markdown, b"one *two* three\r\n\r\nend") == b"three *two* one\r\n\r\nend"


def test_html_in_the_encoding_that_it_declares(aloud: Through) -> None:
    page = '<meta charset="iso-8859-1"><p>voilà</p>'
    assert aloud(read_html, page.encode("latin-1")) == page.replace("voilà", "VOILÀ").encode(
        "latin-1"
    )


SRT = """\
1
00:00:01,000 --> 00:00:03,000
The sentence that begins <i>here</i>

2
00:00:03,100 --> 00:00:05,000
goes on in the next cue and
ends there.

3
00:00:06,000 --> 00:00:07,500
- Who are you?
- Nobody.

4
00:00:08,000 --> 00:00:09,000
♪
"""


def test_a_sentence_over_two_cues_is_parted_at_the_same_words(aloud: Through) -> None:
    found = aloud(read_srt, SRT.replace("\n", "\r\n").encode()).decode()
    assert found == (
        SRT.replace("The sentence that begins <i>here</i>", "THE SENTENCE THAT BEGINS <i>HERE</i>")
        .replace(
            "goes on in the next cue and\nends there.", "GOES ON IN THE NEXT CUE AND ENDS THERE."
        )
        .replace("Who are you?", "WHO ARE YOU?")
        .replace("Nobody", "NOBODY")
        .replace("\n", "\r\n")
    )


def test_cues_of_a_sentence_that_is_turned_round_all_have_words(turned: Through) -> None:
    found = turned(read_srt, SRT.encode()).decode()
    first, second = found.split("\n\n")[:2]
    assert "ends" in first
    assert "<i>" in first
    assert "</i>" in first
    assert len(second.split("\n")) >= 3


TWO_LINES = """\
1
00:00:01,000 --> 00:00:03,000
[door closes]
Where <i>are you</i> going?

2
00:00:03,100 --> 00:00:05,000
I went
(he sighs)

3
00:00:05,000 --> 00:00:06,000
to the house. <i>Right?
Or never.</i>
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_that_stand_alone_and_ends_of_sentences_keep_their_lines(
    end: str, aloud: Through, turned: Through
) -> None:
    data = TWO_LINES.replace("\n", end)
    loud = TWO_LINES.upper().replace("<I>", "<i>").replace("</I>", "</i>").replace("\n", end)
    assert aloud(read_srt, data.encode()).decode() == loud
    cues = turned(read_srt, data.encode()).decode().split(end * 2)
    assert [cue.split(end)[2:] for cue in cues] == [
        ["closes] [door", "going? <i>you are</i> Where"],
        ["house.", "sighs) (he"],
        ["the to went I <i>Right?", "never. Or</i>", ""],
    ]


def test_long_lines_of_cues_are_broken_as_the_file_breaks_lines(aloud: Through) -> None:
    data = "1\r\n00:00:01,000 --> 00:00:03,000\r\n" + "a word and " * 8 + "\r\nmore.\r\n"
    found = aloud(read_srt, data.encode()).decode()
    assert found.count("\n") == found.count("\r\n") == data.count("\n")


def test_vtt(aloud: Through) -> None:
    vtt = "WEBVTT - a title\n\nNOTE not this\n\nSTYLE\n::cue {}\n\nid\n"
    vtt += "00:01.000 --> 00:02.000 align:left\n"
    vtt += "<v Anna>one &amp; two</v>\n\n00:03.000 --> 00:04.000\n<00:03.500>three"
    found = aloud(read_vtt, vtt.encode()).decode()
    assert found == vtt.replace("one &amp; two", "ONE &amp; TWO").replace("three", "THREE")


def test_ass(aloud: Through) -> None:
    ass = "[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, "
    ass += "Effect, Text\n"
    ass += "Dialogue: 0,0:00:01.00,0:00:02.00,Top,,0,0,0,,{\\an8}one, two{\\i1}\\Nthree\r\n"
    ass += "Dialogue: 0,0:00:01.00,0:00:02.00,Top,,0,0,0,,{\\p1}m 0 0 l 1 1\n"
    found = aloud(read_ass, ass.encode()).decode()
    assert found == ass.replace("one, two", "ONE, TWO").replace("three", "THREE")


EVENTS = (
    "[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
)


def events(*lines: tuple[str, str, str]) -> bytes:
    """An ASS file of lines that are one second each: (second, style, text)."""
    return "".join(
        [
            EVENTS,
            *(
                f"Dialogue: 0,0:00:0{at}.00,0:00:0{at}.99,{style},,0,0,0,,{text}\n"
                for at, style, text in lines
            ),
        ]
    ).encode()


def test_a_sentence_over_lines_of_ass_is_translated_whole(turned: Through) -> None:
    source = events(
        ("1", "Top", "the old man"),
        ("1", "Sign", "shop"),
        ("2", "Top", "went\\Nto the house."),
        ("3", "Top", "He ate."),
    )
    expected = events(
        ("1", "Top", "house. the"),
        ("1", "Sign", "shop"),
        ("2", "Top", "to went man old the"),
        ("3", "Top", "ate. He"),
    )
    assert turned(read_ass, source) == expected


def test_tags_of_ass_stay_in_their_line_of_a_sentence(aloud: Through) -> None:
    first, second = "{\\an8}the {\\i1}old{\\i0} man", "to the {\\b1}house."
    found = aloud(read_ass, events(("1", "Top", first), ("2", "Top", second)))
    assert found == events(
        ("1", "Top", "{\\an8}THE {\\i1}OLD{\\i0} MAN"), ("2", "Top", "TO THE {\\b1}HOUSE.")
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("{\\pos(1,2)}a shop", "a house"),
        ("Hello.", "a house"),
        ("- Hello", "- a house"),
        ("{\\fna b}one", "two"),
    ],
)
def test_lines_of_ass_that_stand_alone(first: str, second: str) -> None:
    assert len(read_ass(events(("1", "Top", first), ("2", "Top", second))).passages) == 2


def test_long_lines_of_ass_are_broken_as_ass_breaks_lines(aloud: Through) -> None:
    source = events(("1", "Top", "a word and " * 3 + "a\\Nword now"), ("2", "Top", "more."))
    found = aloud(read_ass, source).decode()
    assert found.count("\n") == source.count(b"\n")
    assert "\\N" in found


def test_files_of_another_kind_are_told() -> None:
    for read in (read_srt, read_vtt, read_ass):
        with pytest.raises(DataError):
            read(b"just text")


@at_least(150)
@given(
    st.binary(max_size=300) | st.text(max_size=200).map(str.encode),
    st.sampled_from([read_text, read_markdown, read_html, read_srt, read_vtt, read_ass]),
)
def test_any_bytes_are_a_document_or_an_error(data: bytes, read: Read) -> None:
    try:
        document = read(data)
    except AllYouNeedError:
        return
    assert document.written() == data


MARKS = [
    "# ",
    "*",
    "**",
    "_",
    "`",
    "``",
    "[",
    "](x)",
    "![",
    "> ",
    "- ",
    "1. ",
    "\n: ",
    "\n",
    "\n\n",
    "| ",
    "|-|",
]
MARKS += [
    "word",
    "two words ",
    "<b>",
    "&amp;",
    "\\",
    "\\*",
    "  \n",
    "$",
    "~~",
    "---\n",
    "<http://x>",
    "\t",
    "<kbd>",
    "</kbd>",
]


@settings(max_examples=400, deadline=None)
@example(marks="word`word``# ```")
@example(marks="\\&amp;&amp;")
@example(marks="> word\\  \n> *")
@example(marks="> `  \n> ](x)`")
@example(marks="> word\n> word\n> two words two words ")
@example(marks="> *# \n: \n> word")
@given(marks=st.lists(st.sampled_from(MARKS), max_size=25).map("".join))
def test_markdown_of_any_kind_comes_back(marks: str, aloud: Through) -> None:
    found = aloud(read_markdown, marks.encode()).decode()
    assert bare(found) == bare(marks)


def bare(text: str) -> str:
    """What has to be the same: backslashes may be added, spaces at which lines end, and a sign may
    be spelt as another one of its kind is. Tags and emphasis without a partner may stand
    elsewhere."""
    pairs = {"&": "&amp;", "\\": ""}  # an escaped & begins no reference
    spelt = re.sub(r"\\(.)", lambda one: pairs.get(one[1], one[1]), text.lower())
    return "".join(sorted("".join(html.unescape(spelt.replace("\\", "")).split())))
