"""Whatever a model makes of a sentence: its literals come back, and nothing else in their place."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from allyouneed.decoding.options import BeamOptions
from allyouneed.text.languages import Direction
from allyouneed.text.normaliser import AS_TYPED
from allyouneed.translation.markup.carrying import Carrier, Translate
from allyouneed.translation.markup.plain_text import ALWAYS, Sifted
from allyouneed.translation.markup.stand_ins import NAMES, NUMBERS, without
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.result import Translation

LITERALS = [
    "{name}",
    "{0}",
    "{{ price }}",
    "${x}",
    "%s",
    "%d",
    "%9$s",
    "%(user)s",
    "%KEY%",
    "%name%",
    "%1",
    "`a b`",
    "``c``",
    "[X5X]",
    "@@P@@",
    "$HOME",
    "\\n",
    "&amp;",
    "#winter",
    "@you",
    "http://a.b/c?d=e",
    "www.a.org",
    "a@b.org",
    "/usr/bin",
    "~/x.md",
    "10.0.0.1",
    "{n, plural, one {# day} other {# days}}",
]
WORDS = ["hello", "I", "go", "...", "…", "well…", "no...", "so.", "Why?", "猫", "über", "7", "GO"]
ABROAD = dict(
    zip(
        NAMES,
        ["Томас", "Берлин", "Бостон", "Анька", "Париж", "Лондон", "Пётр", "Мэри", "Мария", "Макс"],
        strict=True,
    )
)
LEFT = [word.casefold() for word in (*NAMES, *NUMBERS, *ABROAD.values())]


@dataclass(frozen=True)
class Careless:
    """A translator that writes names as it likes; the same for the same text."""

    seed: int

    def __call__(self, texts: list[str], alignments: bool) -> Sequence[Translation]:
        return [said(text, self._said(text), n_best=3) for text in texts]

    def _said(self, text: str) -> list[str]:
        random = Random(f"{self.seed} {text}")
        return [re.sub(r"\S+", lambda word: self._word(word[0], random), text) for _ in range(3)]

    def _word(self, word: str, random: Random) -> str:
        abroad = re.sub("|".join(NAMES), lambda name: ABROAD[name[0]], word)
        ways = [word, word, word.upper(), "", abroad]
        if word[-1:] not in "%$#@&\\":  # with a letter behind, such a sign begins a literal
            ways += [f"{word}s", f"{word}er"]
        return random.choice(
            [*ways, f"{word} {word}", f"{word} {word}er"] if word.strip(".,").isalnum() else ways
        )


def said(source: str, texts: Sequence[str], n_best: int = 1) -> Translation:
    """A translation, with alternatives if there are several."""
    count = min(len(source.split()), len(texts[0].split()))
    made = [
        Translation(
            source=source,
            text=text,
            alignment=tuple((n, n) for n in range(count)),
            tokens=("x",),
            token_log_probabilities=(-1.0,),
        )
        for text in texts
    ]
    alternatives = tuple(made[:n_best]) if n_best > 1 else ()
    return Translation(
        source=source,
        text=texts[0],
        alignment=made[0].alignment,
        alternatives=alternatives,
        tokens=("x",),
        token_log_probabilities=(-1.0,),
    )


def repeating(texts: list[str], alignments: bool) -> Sequence[Translation]:
    """A translator that says what it hears."""
    return [said(text, [text]) for text in texts]


gaps = st.sampled_from([" ", "", "", "  ", "\n", ", "])
pieces = st.tuples(st.sampled_from([*LITERALS, *WORDS, *WORDS]), gaps).map("".join)
texts = st.lists(pieces, min_size=1, max_size=12).map("".join)


@settings(max_examples=300, deadline=None)
@example("x%9$s", 0)
@example("word`word``# ```", 0)
@example("a {x}{y} b", 0)
@example("go%s%d", 1)
@example("hello 猫\n猫 ", 0)
@example("{name} %s %name%猫 ", 1)
@example("{name} {name} %s {name}, %name%猫 ", 1)
@example("{name} 猫 a@b.org {name} 猫a@b.org ", 0)
@example("über hello 猫%shello猫 ", 0)
@example("%1%KEY%\n%s ", 5)
@example("{name}%KEY%7%d {name} %1 ...10.0.0.1 ", 7)
@example("http://a.b/c?d=e`a b` ``c`` {name} `a b` ", 0)
@given(texts, st.integers(0, 20))
def test_no_stand_in_is_left_and_every_literal_is_back(text: str, seed: int) -> None:
    lines = text.split("\n")
    kept = [[line[slice(*span)] for span in ALWAYS.spans(line)] for line in lines]
    literals = Counter(one for own in kept for one in own)
    # In a line of Chinese signs, or in a word, they are text for the model, which may repeat it.
    chinese = {one for one in literals if not one.isascii()}
    words = {
        one
        for line, own in zip(lines, kept, strict=True)
        for one in chinese
        if line.count(one) > own.count(one)
    }
    words |= {f"猫{one}" for one in literals}  # the sign may come to stand beside a literal
    for found in through(text, Careless(seed)):
        for literal, count in literals.items():  # a text may hold it as a part of words, too
            most = len(found) if literal in words else text.count(literal)
            assert count <= found.count(literal) <= most, found
        assert not [word for word in LEFT if word in found.casefold()], found
        assert found.count("\n") == text.count("\n")


@settings(max_examples=300, deadline=None)
@given(texts)
def test_a_translator_that_changes_nothing_changes_nothing(text: str) -> None:
    for found in through(text, repeating):
        assert "".join(found.split()) == "".join(text.split())
        assert found.count("...") == text.count("...")
        assert found.count("..") - 2 * found.count("...") == text.count("..") - 2 * text.count(
            "..."
        )


@pytest.mark.parametrize(
    ("sentence", "bare"),
    [
        ("See {a} {b} now.", "See now."),
        ("{a} is  late, {b}", "is late,"),
        ("see{a}now", "see now"),
        ("Hello {a}{b}!", "Hello!"),
        ("say `x`: yes", "say: yes"),
    ],
)
def test_a_sentence_without_its_literals(sentence: str, bare: str) -> None:
    assert without(sentence, [*ALWAYS.spans(sentence)]).text == bare


def through(text: str, translate: Translate) -> list[str]:
    """The translations of a text, the best and its alternatives."""
    request = TranslationRequest(BeamOptions(), protection=ALWAYS)
    sifted = Sifted.of([text], request, AS_TYPED)
    [found] = sifted.translations(translate(sifted.plain, False), translate)
    return [found.text, *(one.text for one in found.alternatives)]


def test_no_letter_is_added_behind_a_sign_that_begins_a_literal() -> None:
    def adding(texts: list[str], alignments: bool) -> Sequence[Translation]:
        return [said(one, [re.sub(r"(Tom|%KEY%)", r"\1s", one)]) for one in texts]

    loud = " ".join(NAMES + NUMBERS)  # no word is left to stand for the literal
    assert "%KEY%" in through(f"{loud} %KEY%", repeating)[0]
    assert "%KEY%s" not in through(f"{loud} %KEY%", adding)[0]


def test_a_note_names_the_literal_and_not_the_word_in_its_place() -> None:
    def noting(texts: list[str], alignments: bool) -> Sequence[Translation]:
        notes = ("the translation lacks the name 'Tom': check it",)
        return [
            Translation(source=one, text=one, tokens=(), token_log_probabilities=(), notes=notes)
            for one in texts
        ]

    [found] = Carrier(noting).carry([("See www.a.org now",)])
    assert found.notes == ("the translation lacks the name 'www.a.org': check it",)


def test_an_amount_that_is_carried_is_written_as_the_language_does() -> None:
    def garbling(texts: list[str], alignments: bool) -> Sequence[Translation]:
        return [said(one, [one.replace("3.5", "4")]) for one in texts]

    direction = Direction(source="en", target="de")
    request = TranslationRequest(BeamOptions(), direction=direction, protection=ALWAYS)
    sifted = Sifted.of(["The bag has 3.5 kg."], request, AS_TYPED)
    [found] = sifted.translations(garbling(list(sifted.plain), False), garbling)
    assert found.text == "The bag has 3,5 kg."


def test_only_what_is_placed_by_alignment_asks_for_one() -> None:
    asked: dict[str, bool] = {}

    def noting(texts: list[str], alignments: bool) -> Sequence[Translation]:
        asked.update(dict.fromkeys(texts, alignments))
        return repeating(texts, alignments)

    Carrier(noting).carry([("One two.",), ("Three\u00a0four.",)])
    assert asked == {"One two.": False, "Three four.": True}
