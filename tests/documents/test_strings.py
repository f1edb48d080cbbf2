# ruff: noqa: E501 (files as programs write them)
"""Files of programs' strings: keys and placeholders stay, what has a translation keeps it."""

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import at_least

from allyouneed.documents.document import Document
from allyouneed.documents.formats import BY_NAME
from allyouneed.documents.icu import icu_messages
from allyouneed.errors import AllYouNeedError, DataError

Read = Callable[[bytes], Document]
Through = Callable[[Read, bytes], bytes]

PO = r"""# A comment
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"

#: main.c:3
msgctxt "menu"
msgid "Open the \"file\" %s"
msgstr ""

msgid "done already"
msgstr "schon fertig"

#, fuzzy
msgid "not sure"
msgstr "nicht sicher"

#, c-format
msgid "%d file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""

msgid ""
"First line\n"
"and <b>second</b> line\n"
msgstr ""

#~ msgid "old one"
#~ msgstr ""
"""
PO_AFTER = (
    PO.replace('file\\" %s"\nmsgstr ""', 'file\\" %s"\nmsgstr "OPEN THE \\"FILE\\" %s"')
    .replace('msgstr[0] ""', 'msgstr[0] "%d FILE"')
    .replace('msgstr[1] ""', 'msgstr[1] "%d FILES"')
    .replace(
        'second</b> line\\n"\nmsgstr ""',
        'second</b> line\\n"\nmsgstr ""\n"FIRST LINE\\n"\n"AND <b>SECOND</b> LINE\\n"',
    )
)
ANDROID = """<?xml version="1.0" encoding="utf-8"?>
<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2">
    <!-- a comment -->
    <string name="one">It\\'s <b>here</b></string>
    <string name="two" translatable="false">not this</string>
    <string name="three">@string/one</string>
    <string name="four">Hello <xliff:g id="x">%1$s</xliff:g>!</string>
    <plurals name="five"><item quantity="one">%d dog</item></plurals>
    <string name="six"><![CDATA[<b class="a">two</b> &amp; it\\'s]]></string>
    <string name="seven">Line one\\nLine two\\u0020&lt;i&gt;in&lt;/i&gt;</string>
    <string name="eight">"in  quotes"</string>
</resources>"""
RESX = """<root><resheader name="x"><value>text/a</value></resheader>
<data name="a" xml:space="preserve"><value>one &lt;b&gt;two&lt;/b&gt;</value><comment>no</comment></data>
<data name="b" type="System.Int32"><value>no</value></data></root>"""
TS = """<?xml version="1.0"?><!DOCTYPE TS><TS version="2.1"><context><name>Main</name>
<message><source>&amp;Open &lt;b&gt;it&lt;/b&gt;</source><translation type="unfinished"></translation></message>
<message><source>done</source><translation>fertig</translation></message>
<message numerus="yes"><source>%n dog(s) &amp;here</source><translation type="unfinished">
  <numerusform></numerusform>
  <numerusform/>
</translation></message>
<message numerus="yes"><source>%n cat(s)</source><translation><numerusform>%n Katze</numerusform></translation></message>
</context></TS>"""
XLIFF = """<xliff version="1.2"><file><body>
<trans-unit id="1"><source>one <g id="1">two</g> <x id="2"/>three</source></trans-unit>
<trans-unit id="2"><source>four</source><target state="new">four</target></trans-unit>
<trans-unit id="3"><source>five</source><target>fünf</target></trans-unit>
<trans-unit id="4" translate="no"><source>six</source></trans-unit>
</body></file></xliff>"""
XLIFF2 = """<xliff version="2.0"><file id="f"><unit id="u"><segment><source>a <pc id="1">b</pc></source></segment></unit></file></xliff>"""
FLUENT = """# comment
hello = Hello, { $name }!
    .title = a title
long =
    first part
    second part
-brand = Acme
text = { "{" }one{ "}" } two { "\\"}" }
many = { $n ->
    [one] one dog
   *[other] { $n } dogs
    }
    .deep = { $a ->
        [x] { $b ->
            [y] in both
            in two lines
           *[z] { $c }
        }
       *[other] in one
    }
-name = { $case ->
   *[nominative] a term
    [genitive] of a term
}
last = text
"""


TMX = """<tmx version="1.4"><header srclang="en-US"/><body>
<tu><tuv xml:lang="de"><prop type="x">no</prop><seg/></tuv><tuv xml:lang="en"><seg>one <hi>two</hi><ph x="1">&lt;br&gt;</ph></seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>three</seg></tuv><tuv xml:lang="de"><seg>drei</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>four</seg></tuv><tuv xml:lang="de"/></tu>
</body></tmx>"""


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("po", PO, PO_AFTER),
        ("json", '{"a": "one {x}", "b": ["two", 3, "http://a.b"]}\n', '{"a": "ONE {x}", "b": ["TWO", 3, "http://a.b"]}\n'),
        ("json", '{"\\u00fc": "sch\\u00f6n\\n"}', '{"\\u00fc": "SCH\\u00d6N\\n"}'),
        ("json", '{"class": "com.example.MainView", "kind": "fileName", "data": "%s", "label": "Open"}' % ("x" * 61), '{"class": "com.example.MainView", "kind": "fileName", "data": "%s", "label": "OPEN"}' % ("x" * 61)),
        ("arb", '{"@@locale": "en", "a": "one", "@a": {"description": "no"}}', '{"@@locale": "en", "a": "ONE", "@a": {"description": "no"}}'),
        ("properties", "# no\n a.b = one \\\n   two\nc: it''s {0}\nd=caf\\u00e9\n", "# no\n a.b = ONE TWO\nc: IT''S {0}\nd=CAF\\u00c9\n"),
        ("strings", '/* "no" = "no"; */\n"key" = "one \\"two\\" %@";\n', '/* "no" = "no"; */\n"key" = "ONE \\"TWO\\" %@";\n'),
        ("fluent", FLUENT, FLUENT.replace("Hello, {", "HELLO, {").replace("a title", "A TITLE").replace('}one{ "}" } two', '}ONE{ "}" } TWO').replace("first part\n    second part", "FIRST PART\n    SECOND PART").replace("one dog", "ONE DOG").replace("} dogs", "} DOGS").replace("in both\n            in two lines", "IN BOTH\n            IN TWO LINES").replace("in one", "IN ONE").replace("last = text", "last = TEXT")),
        ("android", ANDROID, ANDROID.replace("It\\'s <b>here", "IT\\'S <b>HERE").replace("Hello", "HELLO").replace("%d dog", "%d DOG").replace(">two</b> &amp; it\\'s", ">TWO</b> &amp; IT\\'S").replace("Line one\\nLine two\\u0020&lt;i&gt;in", "LINE ONE\\nLINE TWO &lt;i&gt;IN").replace("in  quotes", "IN QUOTES")),
        ("resx", RESX, RESX.replace("one &lt;b&gt;two", "ONE &lt;b&gt;TWO")),
        ("ts", TS, TS.replace('<translation type="unfinished"></translation>', "<translation>&amp;OPEN &lt;b&gt;IT&lt;/b&gt;</translation>").replace('<translation type="unfinished">\n', "<translation>\n").replace("<numerusform></numerusform>", "<numerusform>%n DOG &amp;HERE</numerusform>").replace("<numerusform/>", "<numerusform>%n DOGS &amp;HERE</numerusform>")),
        ("xliff", XLIFF, XLIFF.replace('three</source>', 'three</source><target>ONE <g id="1">TWO</g> <x id="2"/>THREE</target>').replace('new">four', 'needs-review-translation">FOUR')),
        ("tmx", TMX, TMX.replace("<seg/>", '<seg>ONE <hi>TWO</hi><ph x="1">&lt;br&gt;</ph></seg>').replace('<tuv xml:lang="de"/>', '<tuv xml:lang="de"><seg>FOUR</seg></tuv>')),
        ("xliff", XLIFF2, XLIFF2.replace("</source>", '</source><target>A <pc id="1">B</pc></target>')),
    ],
)  # fmt: skip
def test_strings(aloud: Through, name: str, source: str, expected: str) -> None:
    assert aloud(BY_NAME[name].read, source.encode()).decode() == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "{n, plural, =0 {no dogs} one{# dog} other {{n} dogs}}",
            "{n, plural, =0 {NO DOGS} one{# DOG} other {{n} DOGS}}",
        ),
        (
            "You have {n, plural, one {# dog} other {# dogs}} here",
            "YOU HAVE {n, plural, one {# DOG} other {# DOGS}} HERE",
        ),
        (
            "{who, select, she {{n, plural, one {her dog} other {her dogs}}} other {it}}",
            "{who, select, she {{n, plural, one {HER DOG} other {HER DOGS}}} other {IT}}",
        ),
        ("{n, plural, one {<b># dog</b>} other {x}}", "{n, plural, one {<b># DOG</b>} other {X}}"),
    ],
)
@pytest.mark.parametrize("name", ["arb", "json"])
def test_each_case_of_an_icu_message_is_translated(
    aloud: Through, name: str, source: str, expected: str
) -> None:
    found = aloud(BY_NAME[name].read, f'{{"a": "{source}"}}'.encode()).decode()
    assert found == f'{{"a": "{expected}"}}'


@pytest.mark.parametrize(
    "text", ["{n, plural, one {a", "{n, plural, }", "{n, plural, one a}", "{" * 500]
)
def test_what_is_no_whole_icu_message_is_none(text: str) -> None:
    assert list(icu_messages(text)) == []


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("de_DE", ["%n DOG", "%n DOGS"]),
        ("pl", ["%n DOG", "%n DOGS", "%n DOGS"]),
        ("ja_JP", ["%n DOGS"]),
        ("ar", ["%n DOGS", "%n DOG", *["%n DOGS"] * 4]),
        ("", ["%n DOG", "%n DOGS"]),
    ],
)
@pytest.mark.parametrize(
    "target", ["", "<translation/>", '<translation type="unfinished"></translation>']
)
def test_plural_forms_of_qt_are_those_of_the_language(
    aloud: Through, target: str, language: str, forms: list[str]
) -> None:
    whole = f'<TS language="{language}"><message numerus="yes"><source>%n dog(s)</source>{{}}</message></TS>'
    inside = "".join(f"<numerusform>{form}</numerusform>" for form in forms)
    found = aloud(BY_NAME["ts"].read, whole.format(target).encode()).decode()
    assert found == whole.format(f"<translation>{inside}</translation>")


def test_the_mark_of_a_menus_key_is_no_text(aloud: Through) -> None:
    source = 'msgid "&Save &amp; close, R&D & more"\nmsgstr ""\n'
    found = aloud(BY_NAME["po"].read, source.encode()).decode()
    assert found.endswith('msgstr "&SAVE &amp; CLOSE, R&D & MORE"\n')


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("po", 'msgid "_Save it"\nmsgstr ""\n', 'msgid "_Save it"\nmsgstr "_SAVE IT"\n'),
        ("properties", "a = S&ave it\n", "a = S&AVE IT\n"),
        ("json", '{"a": "&Save it"}', '{"a": "&SAVE IT"}'),
        (
            "resx",
            '<root><data name="a"><value>&amp;Save it</value></data></root>',
            '<root><data name="a"><value>&amp;SAVE IT</value></data></root>',
        ),
        (
            "xliff",
            '<xliff><trans-unit id="1"><source>Save &amp;it</source></trans-unit></xliff>',
            (
                '<xliff><trans-unit id="1"><source>Save &amp;it</source><target>SAVE &amp;IT</target>'
                "</trans-unit></xliff>"
            ),
        ),
    ],
)
def test_mnemonics_keep_their_mark(aloud: Through, name: str, source: str, expected: str) -> None:
    assert BY_NAME[name].read(source.encode()).passages[0].text == "Save it"
    assert aloud(BY_NAME[name].read, source.encode()).decode() == expected


def test_a_translated_unit_of_xliff_is_not_new(aloud: Through) -> None:
    unit = '<trans-unit id="1"><source>one</source><target state="{}">{}</target></trans-unit>'
    file = '<xliff version="1.2">{}</xliff>'
    new, done = unit.format("new", ""), unit.format("translated", "eins")
    found = aloud(BY_NAME["xliff"].read, file.format(new + done).encode()).decode()
    assert found == file.format(unit.format("needs-review-translation", "ONE") + done)


@pytest.mark.parametrize("tag", ['mrk mtype="protected"', 'mrk translate="no"', 'g translate="no"'])
def test_marked_text_of_xliff_stays(aloud: Through, tag: str) -> None:
    source = f'see the <{tag} id="1">Big House</{tag.split()[0]}> here'
    unit = f'<xliff><trans-unit id="1"><source>{source}</source>{{}}</trans-unit></xliff>'
    found = aloud(BY_NAME["xliff"].read, unit.format("").encode()).decode()
    said = source.replace("see the", "SEE THE").replace("here", "HERE")
    assert found == unit.format(f"<target>{said}</target>")


def test_a_translated_segment_of_xliff_2_is_not_translated_again(aloud: Through) -> None:
    file = '<xliff version="2.0"><unit><segment id="1" state="{}"><source>one</source>{}</segment></unit></xliff>'
    done = file.format("translated", "<target>ONE</target>")
    for before in ("", "<target>one</target>"):
        data = file.format("initial", before).encode()
        assert aloud(BY_NAME["xliff"].read, data).decode() == done
    assert not BY_NAME["xliff"].read(done.encode()).passages


def test_units_of_a_memory_without_a_place_for_a_translation_are_told() -> None:
    lone = '<tu><tuv xml:lang="en"><seg>five</seg></tuv></tu>'
    document = BY_NAME["tmx"].read(TMX.replace("</body>", f"{lone}{lone}</body>").encode())
    assert document.notes[0].startswith("2 of 5 units stay as they are")
    assert not BY_NAME["tmx"].read(TMX.encode()).notes


def test_apples_strings_in_utf_16(aloud: Through) -> None:
    data = '"a" = "one";\n'.encode("utf-16")
    assert aloud(BY_NAME["strings"].read, data) == '"a" = "ONE";\n'.encode("utf-16")


def test_what_stays_is_told() -> None:
    assert "1 messages marked as fuzzy" in BY_NAME["po"].read(PO.encode()).notes[0]
    assert not BY_NAME["fluent"].read(FLUENT.encode()).notes


@pytest.mark.parametrize(
    "text", ["You have { $n ->\n   *[one] a\n    }", "{ $n ->\n   *[one] a\n} dogs"]
)
def test_text_beside_variants_is_told(text: str) -> None:
    assert "variants" in BY_NAME["fluent"].read(f"a = {text}\n".encode()).notes[0]


@pytest.mark.parametrize("name", ["po", "json", "android", "resx", "ts", "xliff"])
def test_files_of_another_kind_are_errors(name: str) -> None:
    with pytest.raises(DataError):
        BY_NAME[name].read(b"<other>text</other>")


@at_least(200)
@given(st.binary(max_size=200), st.integers(0, 900), st.sampled_from(sorted(BY_NAME)))
def test_any_bytes_are_a_document_or_an_error(noise: bytes, place: int, name: str) -> None:
    for good in (PO, ANDROID, XLIFF, TS, RESX, FLUENT, '{"a": "one"}'):
        data = good[:place].encode() + noise + good[place:].encode()
        try:
            document = BY_NAME[name].read(data)
        except AllYouNeedError:
            continue
        assert document.written() == data


values = st.recursive(
    st.text(max_size=12) | st.integers() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
)


@settings(max_examples=150, deadline=None)
@given(value=values, ascii_only=st.booleans())
def test_json_stays_json_with_the_same_keys(
    value: object, ascii_only: bool, aloud: Through
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    found = json.loads(aloud(BY_NAME["json"].read, text))
    assert shape(found) == shape(value)


def shape(value: object) -> object:
    """A value without its strings."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    return re.sub(r"[\s\S]*", "", value) if isinstance(value, str) else value
