"""Translations that have lost something: a note, and a second search."""

from dataclasses import replace
from typing import Any

import pytest

from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.options import BeamOptions
from allyouneed.model_folder.confidence import TEXT, Calibration
from allyouneed.translation.confidence import MOST_WITH_FAULT
from allyouneed.translation.job_search import NEAR, WIDER
from allyouneed.translation.lost import (
    CLAUSE,
    EMPTY,
    ITEMS,
    MARKS,
    NEGATION,
    NUMBER,
    REPEATS,
    TIME,
    lost,
    renamed,
    told_lost,
)
from allyouneed.translation.rules import TextRules
from allyouneed.translation.translator import Translator

EN_DE = ("en", "de")


@pytest.mark.parametrize(
    ("source", "target", "faults"),
    [
        ('"I can\'t," he said.', '"Ich kann nicht sagen.', (MARKS,)),
        ('He is a "friend".', "Er ist ein Freund.", (MARKS,)),
        ("Late (as always).", "Spät.", (MARKS,)),
        ("See [below].", "Siehe [unten.", (MARKS,)),
        ("He can't swim.", "Er kann schwimmen.", (NEGATION,)),
        ("He sold the house in which he was born to a friend.", "Er verkaufte es.", (CLAUSE,)),
        ('"No," he said.', '"Nein", sagte er.', ()),
        ("She said 'no way' again.", "Sie sagte es ‚wieder.", (MARKS, NEGATION)),
        ("She said 'never again'.", "Sie sagte 'nie wieder'.", ()),
        ("The boys' room isn't 'nice'.", 'Das Jungenzimmer ist nicht "nett".', ()),
        ("Come at half past seven.", "Komm um halb sieben.", (f"{TIME} 'half past seven'",)),
        ('"Yes," said Al.', '"Ja, "" sagte Al."', (EMPTY,)),
        ("Me too.", "Ich auch auch.", (f"{REPEATS} 'auch'",)),
        ("Milk, bread and salt", "Milch und Salz", (ITEMS,)),
        ("Me again, me again.", "Ich wieder, ich wieder.", ()),
        ('They use 5" screws.', "Sie nutzen 5-Zoll-Schrauben.", ()),
        ('They use 5" screws.', "Sie nutzen Schrauben.", (f"{NUMBER} 5",)),
        ("It cost $2.3 billion.", "Es kostete 2,3 Dollar.", (f"{NUMBER} 2.3 billion",)),
        ("He came a long way from the other side of town.", "他从城市的另一边走了很长的路。", ()),
    ],
)
def test_what_is_lost(source: str, target: str, faults: tuple[str, ...]) -> None:
    assert lost(source, target, EN_DE) == faults


def test_a_note_names_two_sentences_and_counts_the_others() -> None:
    [marks, negation] = told_lost(
        [("a", MARKS), ("b", MARKS), ("c", NEGATION), ("d", MARKS), ("e", MARKS)]
    )
    assert marks == f"the translation of 'a', 'b' and of 2 more {MARKS}: check it"
    assert renamed(negation, "c", "C") == f"the translation of 'C' {NEGATION}: check it"
    assert told_lost([]) == []


@pytest.fixture
def careless(copier: Translator, monkeypatch: pytest.MonkeyPatch) -> tuple[Translator, list[Any]]:
    """A model that says what it reads, with each bracket left out of its best hypothesis; and the
    options of each of its searches."""
    translator = Translator(
        copier.engine, copier.tokenizer, lambda: copier.model, TextRules(normaliser="plain-marks")
    )
    search, asked = copier.engine.search, list[Any]()
    brackets = {id for text in ("()", " (a)") for id in copier.tokenizer.encode(text).ids[:-1]}

    def without_brackets(one: Hypothesis) -> Hypothesis:
        kept = [n for n, id in enumerate(one.ids) if id not in brackets]
        ids = tuple(one.ids[n] for n in kept)
        return replace(
            one,
            ids=ids,
            token_log_probabilities=tuple(one.token_log_probabilities[n] for n in kept),
            log_probability=one.log_probability,
        )

    def careless_search(ids: Any, options: BeamOptions, *rest: Any, **named: Any) -> Any:
        asked.append(options)
        found = search(ids, options, *rest, **named)
        return [[without_brackets(best), *([best] * (options.n_best - 1))] for best, *_ in found]

    monkeypatch.setattr(copier.engine, "search", careless_search)
    return translator, asked


def test_a_faulty_translation_is_searched_for_again(
    careless: tuple[Translator, list[Any]],
) -> None:
    translator, asked = careless
    first, second = translator(["A man (a dog) sleeps.", "The dog sleeps."])
    assert first.text == "A man (a dog) sleeps."
    assert first.notes == second.notes == ()
    assert [one.beam for one in asked] == [4, WIDER]


def test_what_cannot_be_mended_is_told(careless: tuple[Translator, list[Any]]) -> None:
    translator, asked = careless
    found = translator("A man (a dog) sleeps.", beam=1)
    assert "(" not in found.text
    assert any(MARKS in note for note in found.notes)
    assert len(asked) == 1  # greedy search asks for one hypothesis


def test_little_confidence_in_a_translation_with_a_fault(
    careless: tuple[Translator, list[Any]],
) -> None:
    translator, _ = careless
    sure = Calibration(threshold=50, text=(5.0, *(0.0,) * len(TEXT)), word=(5.0, 0.0, 0.0, 0.0))
    rules = TextRules(normaliser="plain-marks", calibration=sure)
    sure_translator = Translator(
        translator.engine, translator.tokenizer, lambda: translator.model, rules
    )
    right, wrong = sure_translator(["The dog sleeps.", "A man (a dog) sleeps."], beam=1)
    assert right.confidence is not None
    assert right.confidence > 0.99
    assert wrong.confidence == MOST_WITH_FAULT
    [note] = wrong.notes  # the fault; little confidence has no note beside it
    assert MARKS in note


def test_an_improbable_hypothesis_mends_nothing(
    careless: tuple[Translator, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    translator, _ = careless
    search = translator.engine.search

    def doubtful(ids: Any, options: BeamOptions, *rest: Any, **named: Any) -> Any:
        found = search(ids, options, *rest, **named)
        return [
            [
                best,
                *(replace(one, log_probability=-(NEAR + 5) * len(one.ids)) for one in others),
            ]
            for best, *others in found
        ]

    monkeypatch.setattr(translator.engine, "search", doubtful)
    found = translator("A man (a dog) sleeps.")
    assert "(" not in found.text
    assert any(MARKS in note for note in found.notes)
