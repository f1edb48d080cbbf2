"""Which language is meant: by name, by exclusion, or an error that lists those that there are."""

import pytest

from allyouneed.errors import ConfigError, UsageError
from allyouneed.text.languages import Direction, Languages

CODES = ("de", "en", "fr", "zh-Hant")
MARKS = {code: (number,) for number, code in enumerate(CODES, 5)}
ANY = Languages(
    sources=CODES,
    targets=CODES,
    marks=MARKS,
    source_begins_with="source",
    translation_begins_with="target",
    also={"deu_Latn": "de", "zho_Hant": "zh-Hant"},
)
SMALL = Languages(sources=CODES, targets=CODES, marks=MARKS, source_begins_with="target")
FROM_ENGLISH = Languages(
    sources=("en",), targets=("de", "fr"), marks=MARKS, source_begins_with="target"
)
HUB = Languages(
    sources=CODES,
    targets=CODES,
    marks=MARKS,
    source_begins_with="target",
    only=frozenset({("en", "de"), ("de", "en"), ("fr", "en")}),
)


def test_marks_of_a_direction() -> None:
    assert ANY.direction("de", "fr") == Direction("de", "fr", (5,), (7,))
    assert ANY.direction("DEU_Latn", "zh_hant") == Direction("de", "zh-Hant", (5,), (8,))
    assert SMALL.direction(target="fr") == Direction(
        "", "fr", (7,), sources=("de", "en", "zh-Hant")
    )
    assert SMALL.direction("de", "fr") == Direction("de", "fr", (7,), ())
    assert FROM_ENGLISH.direction(target="de") == Direction("en", "de", (5,), ())
    assert HUB.direction("fr") == Direction("fr", "en", (6,), ())
    assert HUB.direction(target="de") == Direction("en", "de", (5,), ())
    assert HUB.direction(target="en") == Direction("", "en", (6,), sources=("de", "fr"))
    assert Languages.of_pair("en", "de").direction() == Direction("en", "de")
    assert Languages.of_pair("en", "de").direction("EN", "de") == Direction("en", "de")
    assert Languages().direction() == Direction()


def test_a_language_is_named_by_its_code_or_in_english() -> None:
    assert ANY.direction("German", "chinese (traditional)") == ANY.direction("de", "zh-Hant")
    by_name = Languages.of_pair("English", "German")
    assert list(by_name.directions()) == [("en", "de")]
    assert by_name.direction("english", "DE") == by_name.direction() == Direction("en", "de")
    assert list(Languages.of_pair("Klingon", "").sources) == ["Klingon"]


@pytest.mark.parametrize("name", ["de-DE", "de_AT", "DE-ch", "ger", "deu", "German", "de-Latn-DE"])
def test_a_region_or_script_that_the_model_does_not_know_is_left_out(name: str) -> None:
    assert Languages.of_pair("en", "de").direction("en-US", name) == Direction("en", "de")


def test_a_region_that_the_model_knows_counts() -> None:
    model = Languages(sources=("en",), targets=("pt", "pt-BR", "zh"), marks={})
    assert [model.direction("en", one).target for one in ("pt-br", "pt-PT", "por", "zh-Hans")] == [
        "pt-BR",
        "pt",
        "pt",
        "zh",
    ]
    with pytest.raises(UsageError, match="into target='zh-Hans'"):
        ANY.direction("de", "zh-Hans")  # it has the other script alone


@pytest.mark.parametrize(
    ("languages", "asked", "said"),
    [
        (ANY, ("de", None), r"translates into en, fr, zh-Hant; name one: target='en' \(--to en\)"),
        (ANY, (None, "de"), r"from en, fr, zh-Hant; name one: source='en' \(--from en\)"),
        (
            ANY,
            ("de", "frr"),
            (
                r"into target='frr'; did you mean 'fr'\? It has: de \(German\), en \(English\), "
                r"fr \(French\), zh-Hant \(Chinese \(traditional\)\)\. `allyouneed models` lists"
            ),
        ),
        (ANY, ("de", "Frensh"), r"into target='Frensh'; did you mean 'fr'\? It has: de"),
        (ANY, ("qqq", "fr"), r"from source='qqq'\. It has: de \(German\), en \(English\), fr "),
        (SMALL, (None, None), "this model translates into de, en, fr, zh-Hant; name one"),
        (HUB, ("fr", "de"), "this model translates from fr into en, not into de"),
        (
            Languages.of_pair("en", "de"),
            ("de", "en"),
            (
                r"not translate from source='de'\. It has: en \(English\)\. `allyouneed models` "
                r"lists the models at hand, `allyouneed import` takes in others$"
            ),
        ),
        (Languages(), (None, "de"), "folder names no languages; leave source and target"),
    ],
)
def test_what_cannot_be_asked_for(
    languages: Languages, asked: tuple[str | None, str | None], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        languages.direction(*asked)


def test_all_directions() -> None:
    assert list(HUB.directions()) == [("de", "en"), ("en", "de"), ("fr", "en")]
    assert len(list(ANY.directions())) == 12
    assert list(FROM_ENGLISH.directions()) == [("en", "de"), ("en", "fr")]
    assert ANY.codes == CODES


@pytest.mark.parametrize("languages", [ANY, SMALL, FROM_ENGLISH, HUB])
def test_it_is_kept(languages: Languages) -> None:
    assert Languages.from_dict(languages.to_dict(), 9) == languages


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sources": None}, "cannot be read"),
        ({"marks": {"de": [5]}}, "the language 'en' has no mark"),
        ({"marks": {"de": [99]}}, r"marks.de=\[99\] must be ids below 9|has no mark"),
        ({"marks": [1]}, "cannot be read"),
        ({"directions": [["en", "xx"]]}, "en-xx has a language not listed"),
        ({"directions": [["en"]]}, "cannot be read"),
        ({"source_begins_with": "end"}, "source_begins_with='end' is not one of"),
        ({"translation_begins_with": "source"}, "is not one of 'nothing', 'target'"),
        ({"marsk": {}}, "unknown key marsk; did you mean marks"),
    ],
)
def test_what_cannot_be_kept(change: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Languages.from_dict(ANY.to_dict() | change, 9)
