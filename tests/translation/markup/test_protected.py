"""What is carried over literally, found in running text."""

import re
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allyouneed.errors import UsageError
from allyouneed.translation.markup.protected import Numbers, Protection
from allyouneed.translation.markup.rewriting import Rewriting


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See https://a.b/c?d=e&f=(g), or www.x.org.", ["https://a.b/c?d=e&f=(g", "www.x.org"]),
        ("Write to anna.b@mail.example.org.", ["anna.b@mail.example.org"]),
        ("Hello {name}, {0} of {{ n }} and ${x}!", ["{name}", "{0}", "{{ n }}", "${x}"]),
        ("{count, plural, one {# file} other {# files}} left", None),
        ("%1$s has %d of %(all)s, %s.", ["%1$s", "%d", "%(all)s", "%s"]),
        ("%d%%, %1$d%%, %(a)d %% and {b}%%", ["%d%%", "%1$d%%", "%(a)d %%", "{b}", "%%"]),
        ("It is 100%% or 12.5 %%, 50%%ige, %%%%", ["100%%", "12.5 %%", "50%%", "%%%%"]),
        ("%%s and %%%s, %s%%%s, %%NAME%%", ["%%s", "%%%s", "%s%%%s", "%%NAME%%"]),
        ("%HOME%%PATH% and %1%%2%", ["%HOME%", "%PATH%", "%1", "%2"]),
        ("5 % and % alone", ["5 %"]),
        ("Keep [X5X] and @@PH1@@ and __VAR__.", ["[X5X]", "@@PH1@@", "__VAR__"]),
        ("It weighs 5 kg or 3.5km, at 20 °C, 50%.", ["5 kg", "3.5km", "20 °C", "50%"]),
        ("It costs $10,000, €25, 30 € or 1.50£.", ["$10,000", "€25", "30 €", "1.50£"]),
        ("Het kost € 850, of US$ 900.", ["€ 850", "US$ 900"]),
        ("From 1 200 € to $5-10, not $5-$10.", ["1 200 €", "$5-10", "$5", "$10"]),
        ("Run `ls -l` now", ["`ls -l`"]),
        ("I like #winter and @anna", ["#winter", "@anna"]),
        ("In /usr/bin/env and C:\\x\\y.txt", ["/usr/bin/env", "C:\\x\\y.txt"]),
        ("%n files of %Ln, 5 %n", ["%n", "%Ln"]),
        ("© IBM® and ✓, a → b", ["©", "IBM®", "✓", "→"]),
        (
            "yyyy-mm-dd, dd.mm.yyyy, hh:mm:ss and MM/DD",
            ["yyyy-mm-dd", "dd.mm.yyyy", "hh:mm:ss", "MM/DD"],
        ),
        ("Hmm, d.h. mm. and m/s", []),
        ("As %d.%m.%Y and %B %-d, %Y or %H:%M", ["%d.%m.%Y", "%B %-d, %Y", "%H:%M"]),
        ("A house of 1,200 m², 3 km² and 10 μm", ["1,200 m²", "3 km²", "10 μm"]),
        ("Our friend 王小明 met Борис Ельцин, too.", ["王小明", "Борис Ельцин"]),
        ("The α-particle, the शब्द and naïve Łódź, ﬁne", ["α", "शब्द"]),
        ("He said שלום\u200f and\u200e left", ["שלום\u200f", "\u200e"]),
        ("Мой друг Γιώργος is here", []),
        ("说{name}吧", ["{name}"]),
        ("用 PowerPoint 打开", []),
        ("50 % discount, and/or 5 men", ["50 %"]),
        ("A {not closed, and } this", []),
        (
            'Use <b>, </b>, <br />, <my-x/>, <img src="x y"> or <p class=a hidden>.',
            ["<b>", "</b>", "<br />", "<my-x/>", '<img src="x y">', "<p class=a hidden>"],
        ),
        ('An <a href="https://a.b/c"> and <u>x</u>', ['<a href="https://a.b/c">']),
        ("a < b and c > d, x <y> z, <3, i<n>0, a<b>c, a <b and c> d, <name>, <b or c", []),
        ("Anna <anna@b.c> or <john@example.com>", ["anna@b.c", "john@example.com"]),
        ("I have 3 apples (two) [sic] & more.", []),
    ],
)
def test_what_is_protected(text: str, expected: list[str] | None) -> None:
    found = [text[slice(*span)] for span in Protection().spans(text)]
    assert found == (expected if expected is not None else [text.removesuffix(" left")])


def test_the_language_says_which_letters_are_of_another_script() -> None:
    name = "Γιώργος Παπαδόπουλος"
    assert [*Protection(language="en").spans(name)] == [(0, len(name))]
    assert [*Protection(language="el").spans(f"{name} is")] == []
    assert [*Protection().spans("王小明", "a name is 王小明")] == [(0, 3)]


def test_a_users_expressions_come_first() -> None:
    text = "Acme at https://a.b"
    spans = Protection([r"Acme at \w+"]).spans(text)
    assert [text[slice(*span)] for span in spans] == ["Acme at https"]
    for wrong in ("(", "x*"):
        with pytest.raises(UsageError):
            Protection([wrong])


@given(
    st.text(alphabet="{}%$s#@/a1 .:[]`&;\n_©ymdYMDhwHT-\\€k,~<>=b", max_size=40),
    st.sampled_from(["free", "amounts", "all"]),
)
def test_a_text_without_the_signs_of_literals_has_none(text: str, numbers: Numbers) -> None:
    fast, thorough = Protection(numbers=numbers), Protection(numbers=numbers)
    thorough._signs = re.compile("")
    assert [*fast.spans(text)] == [*thorough.spans(text)]


@given(st.text(alphabet="{}%$s#@/a1 .:[]`&;\n", max_size=60))
def test_spans_come_in_order_and_apart(text: str) -> None:
    end = 0
    for begin, next_end in Protection().spans(text):
        assert end <= begin < next_end <= len(text)
        end = next_end


@given(st.text("ab ", max_size=30), st.data())
def test_places_of_rewritten_text(old: str, data: st.DataObject) -> None:
    edges = sorted(data.draw(st.sets(st.integers(0, len(old)), max_size=6)))
    changes = [(b, e, "XY") for b, e in zip(edges[::2], edges[1::2], strict=False)]
    rewriting = Rewriting(old, changes)
    for begin, end, new in changes:
        new_span = rewriting.new_span(begin, end)
        assert rewriting.text[slice(*new_span)] == new
        assert rewriting.old_span(*new_span) == (begin, end)
    for n, sign in enumerate(old):
        if not any(b <= n < e for b, e, _ in changes):
            place = rewriting.new_span(n, n + 1)
            assert rewriting.text[slice(*place)] == sign
            assert rewriting.old_span(*place) == (n, n + 1)


@pytest.mark.parametrize(
    "text",
    ["1,", "$1,", "111 ", "1-1.1-", "1", "+1", "a", "a.b-", "%s", "%a ", "é", "http://", "{", "`",
     "%", "<a ", "<a b=", "<a b='", "</a", "<b", "%%", "%%a", "%%1%", "1.1%", "%d%", "%(a", "%%-",
     "%1$"],
)  # fmt: skip
@pytest.mark.parametrize("numbers", ["free", "amounts", "all"])
def test_long_texts_take_little_time(text: str, numbers: Numbers) -> None:
    whole = "$ " + text * (40_000 // len(text))
    began = perf_counter()
    list(Protection(numbers=numbers).spans(whole))
    assert perf_counter() - began < 3
