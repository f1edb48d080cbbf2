"""Where a model has no direct way, texts go through a third language."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.errors import UsageError
from allyouneed.loading import load
from allyouneed.model_folder.folder import save_model_folder
from allyouneed.model_folder.traits import Traits
from allyouneed.text.languages import Languages
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation.confidence import SentenceConfidence
from allyouneed.translation.pivot import Relay, translate_through
from allyouneed.translation.result import Translation
from allyouneed.translation.translator import Translator

CODES = ("de", "en", "fr", "sv")
HUB = Languages(
    sources=CODES,
    targets=CODES,
    marks={code: (20 + number,) for number, code in enumerate(CODES)},
    source_begins_with="target",
    only=frozenset({("de", "en"), ("en", "de"), ("en", "fr"), ("de", "sv"), ("sv", "fr")}),
)
TEXTS = ["The dog sleeps.", "A man rides a bike.", "", "Where?"]
GREEDY = BeamOptions(beam=1, max_length=7)
TOLD = "translated through English, because no direct way is known"


@pytest.fixture(scope="module")
def hub(
    small_model: Callable[..., Transformer],
    small_tokenizer: Tokenizer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Translator:
    path: Path = tmp_path_factory.mktemp("models") / "hub"
    save_model_folder(path, small_model(d_model=32), small_tokenizer, Traits(multilingual=HUB))
    return load(path, "core", kind=Translator)


def test_two_steps_are_two_calls(hub: Translator) -> None:
    first = hub(TEXTS, options=BeamOptions(beam=1), source="de", target="en")
    second = hub([one.text for one in first], options=GREEDY, source="en", target="fr")
    found = hub(TEXTS, options=GREEDY, source="German", target="FR")
    assert [one.text for one in found] == [one.text for one in second]
    assert [one.tokens for one in found] == [one.tokens for one in second]
    assert [one.source for one in found] == TEXTS
    assert [TOLD in one.notes for one in found] == [bool(one.text.strip()) for one in found]
    assert hub(TEXTS[0], options=GREEDY, source="de", target="fr") == found[0]


def test_every_door_goes_through(hub: Translator) -> None:
    way = {"source": "de", "target": "fr"}
    texts = [one.text for one in hub(TEXTS, options=GREEDY, **way)]
    assert [one.text for one in hub.translate_lines(TEXTS, options=GREEDY, **way)] == texts
    [chunk] = hub.translate_chunks([TEXTS], GREEDY, **way)
    assert [one.text for one in chunk] == texts
    stream = hub.stream(TEXTS[0], GREEDY, **way)
    first = hub(TEXTS[0], source="de", target="en")
    assert "".join(stream) == hub(first.text, options=GREEDY, source="en", target="fr").text
    assert TOLD in stream.notes
    marked = hub("<b>A man</b> rides.", options=GREEDY, markup="html", **way)
    assert "<b>" in marked.text
    assert "</b>" in marked.text
    assert TOLD in marked.notes
    three = hub(TEXTS[0], n_best=3, max_length=7, **way)
    assert len(three.alternatives) == 3
    assert {one.source for one in three.alternatives} == {TEXTS[0]}


def test_two_translators_make_a_relay(hub: Translator) -> None:
    way = {"source": "de", "target": "fr"}
    relay = Relay(hub, hub, **way, via="en")
    found = hub(TEXTS, options=GREEDY, **way)
    assert relay(TEXTS, options=GREEDY, **way) == found
    assert list(relay.translate_lines(TEXTS, options=GREEDY)) == found
    assert list(relay.translate_chunks([TEXTS[:1], TEXTS[1:]], options=GREEDY)) == [
        found[:1],
        found[1:],
    ]
    streams = [relay.stream(TEXTS[0], options=GREEDY), hub.stream(TEXTS[0], GREEDY, **way)]
    assert len({"".join(stream) for stream in streams}) == 1
    assert relay.speaks.direction().target == "fr"
    for refused in (
        lambda: relay(TEXTS, terms={"dog": "chien"}),
        lambda: relay.glossary({"dog": "chien"}),
        lambda: relay.attention(TEXTS[0], found[0].text),
    ):
        with pytest.raises(UsageError, match=r"through|by way|goes through en"):
            refused()


def test_attention_is_of_the_languages_that_are_named(hub: Translator) -> None:
    into = [
        hub.attention(TEXTS[0], TEXTS[1], source_language="en", target_language=code)[0]
        for code in ("de", "fr")
    ]
    assert [pieces[1:] for pieces in into] == [hub.tokenizer.encode(TEXTS[0]).pieces] * 2
    assert into[0][0] != into[1][0]
    with pytest.raises(UsageError, match="name one"):
        hub.attention(TEXTS[0], TEXTS[1])


def test_a_direction_that_is_there_is_taken(hub: Translator) -> None:
    assert TOLD not in hub(TEXTS[0], options=GREEDY, source="de", target="sv").notes
    assert len(hub.directions) == 5


@pytest.mark.parametrize(
    ("asked", "via"),
    [
        (("de", "fr"), "en"),  # by sv, too, but English comes first
        (("en", "sv"), "de"),
        (("de", "en"), None),
        (("sv", "de"), None),  # two steps are not enough
        (("de", None), None),
        ((None, "fr"), None),
        (("de", "de"), None),
    ],
)
def test_the_language_between(asked: tuple[str | None, str | None], via: str | None) -> None:
    assert HUB.between(*asked) == via
    assert Languages.of_pair("de", "en").between(*asked) is None or asked[0] != "de"


def test_what_cannot_go_through(hub: Translator) -> None:
    for ask in (
        hub,
        lambda text, **how: hub.glossary(how.pop("terms"), **how),
        lambda text, **how: hub.translate_lines([text], **how),
    ):
        with pytest.raises(UsageError, match="from de into fr, because the text goes through en"):
            ask("x", source="de", target="fr", terms={"dog": "chien"})
    with pytest.raises(UsageError, match="translates from sv into fr, not into de"):
        hub("x", source="sv", target="de")
    with pytest.raises(UsageError, match="translates from de into en, sv, not into fr"):
        hub.score(["x"], ["y"], source="de", target="fr")


def step(text: str, **values: Any) -> Callable[..., list[Translation]]:
    """A translator that gives every text the same translation."""

    def translate(texts: list[str], **how: Any) -> list[Translation]:
        asked.append(how)
        return [
            Translation(
                source=one, text=text, tokens=("t",), token_log_probabilities=(-1.0,), **values
            )
            for one in texts
        ]

    asked: list[dict[str, Any]] = []
    translate.asked = asked  # type: ignore[attr-defined]
    return translate


def test_confidence_alignment_and_notes_are_those_of_both_steps() -> None:
    first = step("a b c", confidence=0.8, alignment=((0, 0), (0, 1), (1, 2)), notes=("cut",))
    second = step(
        "x y",
        confidence=0.5,
        word_confidences=(0.5, 0.25),
        alignment=((0, 1), (1, 1), (2, 0)),
        notes=("long",),
    )
    [found] = translate_through(first, second, ["eins zwei"], via="en")
    assert found.source == "eins zwei"
    assert found.confidence == pytest.approx(0.4)
    assert found.word_confidences == pytest.approx((0.4, 0.2))
    assert found.alignment == ((0, 1), (1, 0))
    assert found.notes == (TOLD, "into English: cut", "from English: long")


def test_sentences_have_the_confidence_of_both_steps() -> None:
    def sentences(*confidences: float) -> tuple[SentenceConfidence, ...]:
        return tuple(SentenceConfidence("s", "t", one, 1) for one in confidences)

    first = step("a. b.", confidence=0.5, sentence_confidences=sentences(0.9, 0.1))
    second = step("x. y.", confidence=0.85, sentence_confidences=sentences(0.8, 0.9))
    [found] = translate_through(first, second, ["1. 2."], via="en")
    assert [one.confidence for one in found.sentence_confidences] == pytest.approx([0.72, 0.09])
    assert found.confidence == pytest.approx((0.72 + 0.09) / 2)
    assert found.notes == (TOLD, "little confidence in 1 of 2 sentences: 's' (0.09); check them")
    joined = step("xy.", confidence=0.5, sentence_confidences=sentences(0.5))
    [found] = translate_through(first, joined, ["1. 2."], via="en")
    assert [one.confidence for one in found.sentence_confidences] == pytest.approx([0.25])


def test_little_confidence_may_come_of_both_steps_together() -> None:
    steps = step("a", confidence=0.4), step("b", confidence=0.4)
    [found] = translate_through(*steps, ["x"], via="en")
    assert [note for note in found.notes if note.startswith("little confidence: 0.16")]
    [found] = translate_through(step("a"), steps[1], ["x"], via="en")
    assert found.confidence is None
    assert found.word_confidences == ()


def test_the_first_step_searches_for_one_text() -> None:
    first, second = step("a"), step("b")
    options = BeamOptions(beam=5, n_best=3, min_length=4, max_length=9, no_repeat_ngram=3)
    translate_through(first, second, ["x"], via="en", options=options, prefix="B")
    drawn = SamplingOptions(samples=2)
    translate_through(first, second, ["x"], via="en", options=drawn, protect=["Acme"])
    asked = [how["options"] for how in first.asked]  # type: ignore[attr-defined]
    assert asked == [BeamOptions(beam=5, no_repeat_ngram=3), BeamOptions()]
    assert ["prefix" in how for how in first.asked] == [False, False]  # type: ignore[attr-defined]
    assert first.asked[1]["protect"] == ["Acme"]  # type: ignore[attr-defined]
    assert second.asked[0]["prefix"] == "B"  # type: ignore[attr-defined]
    assert [how["options"] for how in second.asked] == [options, drawn]  # type: ignore[attr-defined]
