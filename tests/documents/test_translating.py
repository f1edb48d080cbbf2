"""Documents through a translator: each sentence once, progress, and a report."""

import gettext
import io
import zipfile
from collections.abc import Iterator

import pytest

from allyouneed.documents import recent_sentences, translating
from allyouneed.documents.epub import read_epub
from allyouneed.documents.formats import BY_NAME
from allyouneed.documents.html import read_html
from allyouneed.documents.plural_forms import gettext_rule
from allyouneed.documents.recent_sentences import RecentSentences
from allyouneed.documents.text import read_text
from allyouneed.documents.translating import DocumentTranslator, translate_document
from allyouneed.text.language_names import NAMES
from allyouneed.translation.result import Translation


class Counting:
    """A translator in upper case that remembers what it was asked, and gives results singly."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: list[str], alignments: bool) -> Iterator[Translation]:
        for text in texts:
            self.asked.append(text)
            links = tuple((n, n) for n in range(len(text.split())))
            yield Translation(
                source=text, text=text.upper(), tokens=(), token_log_probabilities=(),
                alignment=links if alignments else None,
            )  # fmt: skip


@pytest.fixture
def counting() -> Counting:
    return Counting()


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translating, "WINDOW", 40)


DATA = b"".join(b"The number %d.\n\nSee the note.\n\n" % n for n in range(30))


@pytest.mark.usefixtures("small_windows")
def test_a_sentence_is_translated_once_however_far_apart(counting: Counting) -> None:
    document = read_text(DATA)
    report = translate_document(document, counting)
    assert document.written() == DATA.upper()
    assert (report.passages, report.sentences) == (60, 60)
    assert sorted(counting.asked) == sorted({*counting.asked})
    assert len(counting.asked) == 31


def test_a_sentence_is_translated_once_in_several_documents(counting: Counting) -> None:
    translator = DocumentTranslator(counting)
    for _ in range(2):
        document = read_text(DATA)
        translator.translate(document)
        assert document.written() == DATA.upper()
    assert len(counting.asked) == 31
    assert (translator.report.passages, translator.report.sentences) == (120, 120)


def test_sentences_of_like_length_are_asked_together(counting: Counting) -> None:
    translate_document(read_text(DATA), counting)
    assert counting.asked == sorted(counting.asked, key=len)


def test_only_the_latest_sentences_are_remembered(
    counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent_sentences, "MOST", 2)
    recent = RecentSentences(counting)
    for text in ("one", "two", "one", "three", "one", "two"):
        assert [one.text for one in recent([text], False)] == [text.upper()]
    assert counting.asked == ["one", "two", "three", "two"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("lang='de-AT' xml:lang=\"de\"", "lang='en' xml:lang=\"en\""),
        ("class=a lang=DE", "class=a lang=en"),
        ('lang="fr"', 'lang="fr"'),
        ('data-lang="de"', 'data-lang="de"'),
    ],
)
def test_a_page_names_the_language_of_its_translation(
    said: str, expected: str, counting: Counting
) -> None:
    page = "<!DOCTYPE html>\n<html {}><body><p>{}</p><script>x = '<html lang=de>'</script></html>"
    document = read_html(page.format(said, "a word").encode())
    DocumentTranslator(counting, languages=("de", "en")).translate(document)
    assert document.written().decode() == page.format(expected, "A WORD")


def test_a_book_names_the_language_of_its_translation(counting: Counting) -> None:
    contents = '<package xml:lang="{0}"><dc:language>{0}</dc:language><dc:title>{1}</dc:title>'
    contents += "<dc:subject>de</dc:subject></package>"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("a.opf", contents.format("de", "a word"))
    document = read_epub(file.getvalue())
    assert document.written() == file.getvalue()
    DocumentTranslator(counting, languages=("de", "en")).translate(document)
    with zipfile.ZipFile(io.BytesIO(document.written())) as book:
        assert book.read("a.opf").decode() == contents.format("en", "A WORD")


UNITS = "<unit><segment><source>a word</source>{}</segment></unit>"
NAMING = [
    (
        "po",
        'msgid ""\nmsgstr ""\n"Language: {}\\n"\n\nmsgid "Language: de"\nmsgstr "{}"\n',
        ("", "LANGUAGE: DE"),
    ),
    ("arb", '{{"@@locale": "{}", "a": "{}", "@a": {{"@@locale": "de"}}}}', ("a word", "A WORD")),
    (
        "xliff",
        (
            '<xliff><file target-language="{}"><trans-unit><source>a</source>{}</trans-unit></file>'
            "</xliff>"
        ),
        ("", "<target>A</target>"),
    ),
    (
        "xliff",
        f'<xliff srcLang="de" trgLang="{{}}"><file id="f">{UNITS}</file></xliff>',
        ("", "<target>A WORD</target>"),
    ),
    ("yaml", "# en:\n---\n{}: # rails\n  a: {}\n  fr: 12\n", ("a word", "A WORD")),
    ("yaml", '"{}":\n  a: {}\n', ("a word", "A WORD")),
]


@pytest.mark.parametrize(("name", "file", "texts"), NAMING)
@pytest.mark.parametrize(
    ("code", "expected"),
    [("de", "en"), ("de-AT", "en"), ("de_AT", "en"), ("fr", "fr"), ("den", "den")],
)
def test_strings_name_the_language_of_their_translation(
    name: str,
    file: str,
    texts: tuple[str, str],
    code: str,
    expected: str,
    counting: Counting,
) -> None:
    data = file.format(code, texts[0]).encode()
    document = BY_NAME[name].read(data)
    assert document.written() == data
    DocumentTranslator(counting, languages=("de", "en")).translate(document)
    assert document.written().decode() == file.format(expected, texts[1])


@pytest.mark.parametrize(
    ("file", "source", "target"),
    [
        (
            (
                '<xliff><file source-language="{}"{} id="f"><trans-unit><source>a</source>{}'
                "</trans-unit></file></xliff>"
            ),
            ' target-language="en"',
            "<target>A</target>",
        ),
        (
            f"<xliff srcLang='{{}}'{{}}><file id='f'>{UNITS}</file></xliff>",
            ' trgLang="en"',
            "<target>A WORD</target>",
        ),
    ],
)
def test_a_language_that_xliff_must_name_is_added(
    file: str, source: str, target: str, counting: Counting
) -> None:
    for code, added in (("de", source), ("fr", "")):
        data = file.format(code, "", "").encode()
        document = BY_NAME["xliff"].read(data)
        assert document.written() == data
        DocumentTranslator(counting, languages=("de", "en")).translate(document)
        assert document.written().decode() == file.format(code, added, target)


@pytest.mark.parametrize("file", ["de: a\nen: b\n", "de: a\n", "- de:\n    a: b\n", "x: y\n"])
def test_keys_of_yaml_that_are_no_language_stay(file: str, counting: Counting) -> None:
    document = BY_NAME["yaml"].read(file.encode())
    DocumentTranslator(counting, languages=("de", "en")).translate(document)
    assert document.written().decode().lower() == file


def test_a_po_file_that_names_no_language_stays_so(counting: Counting) -> None:
    data = b'msgid ""\nmsgstr ""\n"Language: \\n"\n"Language-Team: de\\n"\n'
    document = BY_NAME["po"].read(data)
    DocumentTranslator(counting, languages=("de", "en")).translate(document)
    assert document.written() == data


PLURAL_PO = r"""msgid ""
msgstr ""
"Language: {}\n"
"Content-Type: text/plain; charset={}\n"
"Plural-Forms: {}\n"

msgid "%d dog"
msgid_plural "%d dogs"
msgstr[0] {}
"""
GERMAN = "nplurals=2; plural=(n != 1);"
POLISH = "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"
EMPTY = '""\nmsgstr[1] ""'
DOGS = '"%d DOG"\nmsgstr[1] "%d DOGS"'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("en", "UTF-8", GERMAN, EMPTY), ("pl", "UTF-8", POLISH, f'{DOGS}\nmsgstr[2] "%d DOGS"')),
        (
            ("", "CHARSET", "nplurals=INTEGER; plural=EXPRESSION;", EMPTY),
            ("pl", "UTF-8", POLISH, f'{DOGS}\nmsgstr[2] "%d DOGS"'),
        ),
        (("en_US", "UTF-8", GERMAN, EMPTY), ("ja", "UTF-8", "nplurals=1; plural=0;", '"%d DOGS"')),
        (
            ("en", "UTF-8", 'nplurals=2; "\n"plural=n!=1;', EMPTY),
            ("de", "UTF-8", GERMAN, DOGS),
        ),
        (("pl", "UTF-8", POLISH, EMPTY), ("pl", "UTF-8", POLISH, f'{DOGS}\nmsgstr[2] "%d DOGS"')),
        (
            ("de", "UTF-8", "nplurals=2; plural=n!=1;", EMPTY),
            ("de", "UTF-8", "nplurals=2; plural=n!=1;", DOGS),
        ),
    ],
)
def test_a_po_file_gets_the_plural_rule_of_its_translation(
    before: tuple[str, ...], after: tuple[str, ...], counting: Counting
) -> None:
    data = PLURAL_PO.format(*before).encode()
    document = BY_NAME["po"].read(data)
    assert document.written() == data
    translator = DocumentTranslator(counting, languages=("en", after[0]))
    translator.translate(document)
    assert document.written().decode() == PLURAL_PO.format(*after)
    assert not translator.report.notes


def test_a_po_file_of_a_third_language_is_told(counting: Counting) -> None:
    document = BY_NAME["po"].read(PLURAL_PO.format("pl", "UTF-8", POLISH, EMPTY).encode())
    translator = DocumentTranslator(counting, languages=("en", "de"))
    translator.translate(document)
    assert 'the language "pl", but the translations are in "de"' in translator.report.notes[0]


def test_the_flag_of_a_templates_header_is_no_message(counting: Counting) -> None:
    template = PLURAL_PO.format("", "CHARSET", "nplurals=INTEGER; plural=EXPRESSION;", EMPTY)
    assert not BY_NAME["po"].read(b"#, fuzzy\n" + template.encode()).notes


@pytest.mark.parametrize("language", sorted(NAMES))
def test_plural_rules_give_each_form(language: str) -> None:
    count, rule = gettext_rule(language)
    form_of = gettext.c2py(rule)  # type: ignore[attr-defined]
    assert {form_of(n) for n in range(300)} == set(range(count))


def test_links_are_asked_for_where_they_are_missing(counting: Counting) -> None:
    recent = RecentSentences(counting)
    assert recent(["a b"], False)[0].alignment is None
    assert recent(["a b"], True)[0].alignment == ((0, 0), (1, 1))


@pytest.mark.usefixtures("small_windows")
def test_progress_grows_while_sentences_arrive(counting: Counting) -> None:
    told: list[tuple[int, int]] = []
    translate_document(read_text(DATA), counting, progress=lambda *one: told.append(one))
    assert told == sorted(told)
    assert told[-1] == (60, 60)
    assert len({done for done, _ in told}) > 20


SPOKEN = {
    "He left.": "Er ging dann sehr weit weg.",  # 27 characters
    "She stayed.": "Sie blieb dort noch lange Zeit.",
    "Nobody knows why she did so.": "Niemand weiß, warum das so war.",
    "Everybody knows why she did so.": "Alle wissen, warum das so war.",
}
SHOWN_FOR = (2.0, 1.25, 1.0, 1.0, 0.0)  # seconds


def spoken(form: str) -> bytes:
    """Subtitles with a cue for each sentence, each with a tag and a line end."""
    times = [(f"0:00:{n}0", f"0:00:{n}{seconds}") for n, seconds in enumerate(SHOWN_FOR)]
    texts = [*SPOKEN, "He left."]
    if form == "ass":
        lines = [
            f"Dialogue: 0,{begin}.0,{end},Top,,0,0,0,,{{\\i1}}{text}{{\\i0}}"
            for (begin, end), text in zip(times, texts, strict=True)
        ]
        return "\n".join(["[Events]", *lines, ""]).encode()
    cues = [
        f"{begin}.000 --> {end}00\n<i>{text.replace(' ', chr(10), 1)}</i>\n"
        for (begin, end), text in zip(times, texts, strict=True)
    ]
    return "\n".join(["WEBVTT\n" * (form == "vtt"), *cues]).encode()


@pytest.mark.parametrize("form", ["srt", "vtt", "ass"])
def test_cues_that_are_read_too_fast_are_told(form: str) -> None:
    def speak(texts: list[str], alignments: bool) -> list[Translation]:
        return [Translation(text=SPOKEN[text], source=text, tokens=(), token_log_probabilities=(),
                            alignment=()) for text in texts]  # fmt: skip

    document = BY_NAME[form].read(spoken(form))
    before = document.written()
    report = translate_document(document, speak)
    lines = before.decode().splitlines()
    fast = next(n for n, line in enumerate(lines, 1) if "She" in line)
    faster = next(n for n, line in enumerate(lines, 1) if "Nobody" in line)
    assert report.notes[0].startswith(f"line {fast}: 24")
    assert report.notes[0].endswith(" characters a second; people read 17")
    assert [note.split(":")[0] for note in report.notes] == [f"line {fast}", f"line {faster}"]
    assert not [*BY_NAME[form].read(before).check()], "nothing is translated yet"
