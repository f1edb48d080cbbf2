"""YAML: values that are texts change, all else stays byte for byte."""

from collections.abc import Callable
from random import Random

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.documents.document import Document
from allyouneed.documents.yaml_strings import read_yaml
from allyouneed.errors import AllYouNeedError, DataError

Through = Callable[[Callable[[bytes], Document], bytes], bytes]

RAILS = """\
# a comment
en:   # another one
  hello: Hello, %{name}!   # stays
  quoted: "a \\"word\\" and\\ta tab"
  single: 'it''s one'
  count: 12
  date: 2024-01-02
  flag: yes
  symbol: !ruby/sym name
  base: &base
    title: the title
  other:
    <<: *base
    "key with words": [one, 'two', { a: three }]
  long: |
    First line with <b>bold</b>
    and the second
  folded: >-
    some words
    go on here

  empty:
  last: the end
"""
AFTER = (
    RAILS.replace("Hello, %{name}", "HELLO, %{name}")
    .replace('a \\"word\\" and\\ta tab', 'A \\"WORD\\" AND A TAB')
    .replace("it''s one", "IT''S ONE")
    .replace("the title", "THE TITLE")
    .replace("[one, 'two', { a: three }]", "[ONE, 'TWO', { a: THREE }]")
    .replace("First line with <b>bold</b>", "FIRST LINE WITH <b>BOLD</b>")
    .replace("and the second", "AND THE SECOND")
    .replace("some words\n    go on here", "SOME WORDS GO ON HERE")
    .replace("the end", "THE END")
)


def test_rails(aloud: Through) -> None:
    assert aloud(read_yaml, RAILS.encode()).decode() == AFTER


@pytest.mark.parametrize(
    ("source", "said", "expected"),
    [
        ("a: one", "yes", 'a: "yes"'),
        ("a: one", "x: y", 'a: "x: y"'),
        ("a: one # c", "- x", 'a: "- x" # c'),
        ("a: one", "it's #1", 'a: "it\'s #1"'),
        ("[one, two]", "x, y", '["x, y", "x, y"]'),
        ("{a: one}", "x?", '{a: "x?"}'),
        ("a: 'one'", "it's", "a: 'it''s'"),
        ('a: "on\\u0065"', "\u00fc", 'a: "\\u00fc"'),
        ("\ufeffa: one", "x", "\ufeffa: x"),
    ],
)
def test_a_translation_is_read_as_the_same_text(source: str, said: str, expected: str) -> None:
    document = read_yaml(source.encode())
    for passage in document.passages:
        passage.target = (said,)
    assert document.written().decode() == expected


def test_what_is_no_yaml_is_an_error() -> None:
    for wrong in (b"a: [", b"\tx: y", b'a: "x', b"[" * 1000):
        with pytest.raises(DataError):
            read_yaml(wrong)


def test_aliases_cost_nothing() -> None:
    lines = ["a0: &a0 word"] + [f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]" for n in range(1, 30)]
    assert len(read_yaml("\n".join(lines).encode()).passages) == 1


values = st.recursive(
    st.text(max_size=12) | st.sampled_from(["one two", "x: y", "a\nb", "- c"]) | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
)


@settings(max_examples=200, deadline=None)
@given(
    value=values,
    style=st.sampled_from([None, "'", '"', "|", ">"]),
    flow=st.booleans(),
    said=st.text(min_size=1, max_size=20),
)
def test_yaml_stays_yaml_whatever_the_translation(
    value: object, style: str | None, flow: bool, said: str
) -> None:
    source = yaml.safe_dump(value, default_style=style, default_flow_style=flow, allow_unicode=True)
    document = read_yaml(source.encode())
    assert document.written() == source.encode()
    for passage in document.passages:
        passage.target = (said,)
    found = yaml.safe_load(document.written())
    assert shape(found) == shape(yaml.safe_load(source))


@pytest.mark.parametrize("said", ["~", "=", "<<", "null", "Yes", ".inf", "0x1f", "12:30", "- a"])
def test_a_translation_that_yaml_reads_as_something_else_is_quoted(said: str) -> None:
    document = read_yaml(b"greeting: Hello\n")
    document.passages[0].target = (said,)
    assert yaml.safe_load(document.written()) == {"greeting": said}


def test_nothing_is_no_text() -> None:
    assert read_yaml(b"a: ~\nb: null\nc:\n").passages == []


def shape(value: object) -> object:
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    return "" if isinstance(value, str) else value


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 1 << 40))
def test_damaged_yaml_is_a_document_or_an_error(seed: int) -> None:
    random = Random(seed)
    at, end = sorted(random.choices(range(len(RAILS)), k=2))
    text = random.choice([RAILS[:at] + RAILS[end:], RAILS[end:] + RAILS[:at], RAILS[:end] + "\0"])
    try:
        document = read_yaml(text.encode())
    except AllYouNeedError:
        return
    assert document.written() == text.encode()
