"""The benchmark of detection, on few texts: the models help, and a text of several languages may be
told as any of them."""

from pathlib import Path

import pytest

pytest.importorskip("py3langid")

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


def test_the_models_help_to_tell_words_of_every_language() -> None:
    from detection import LANGUAGES, detectors, measured, words

    with detectors() as named:
        found = measured("words", words(60), named)
    assert [row["language"] for row in found] == [*LANGUAGES, "all"]
    for row in found:
        assert row["wrong"]["with models"] <= row["wrong"]["letters"] + 0.02 * row["texts"], row
    assert found[-1]["wrong"]["with models"] < 0.9 * found[-1]["wrong"]["letters"]


def test_the_texts_of_threads_are_told() -> None:
    from detection import THREADS, detectors

    with detectors() as named:
        assert named["with models"]([*THREADS]) == [*THREADS.values()]


def test_a_text_of_several_languages_may_be_told_as_any_of_them() -> None:
    from detection import drawn, measured

    texts = drawn({"de": ["Land", "Hund"], "nl": ["land", "hond"]}, 2)
    assert texts["Land"] == texts["land"] == {"de", "nl"}
    assert texts["Hund"] == {"de"}
    always = {"German": lambda asked: ["de"] * len(asked)}
    rows = measured("words", texts, always)
    assert [(row["language"], row["texts"], row["wrong"]["German"]) for row in rows] == [
        ("de", 3, 0),
        ("nl", 3, 1),
        ("all", 4, 1),
    ]
