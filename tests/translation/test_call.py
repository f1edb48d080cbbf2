"""How a translator is called from Python: keywords, wrong values, what it shows of itself."""

import copy
import pickle
from typing import Any

import pytest

import allyouneed
from allyouneed.decoding.length_penalty import NoPenalty, Wu
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.errors import UsageError
from allyouneed.translation.translator import Translator

TEXT = "ab cd"


@pytest.mark.parametrize(
    ("keywords", "options"),
    [
        ({"length_penalty": 1.0}, BeamOptions(length_penalty=Wu(1.0))),
        ({"length_penalty": NoPenalty()}, BeamOptions(length_penalty=NoPenalty())),
        ({"beam": 1, "max_length": 3}, BeamOptions(beam=1, max_length=3)),
        ({"n_best": 6}, BeamOptions(beam=6, n_best=6)),
        ({"no_repeat_ngram": 2, "stop": "exact"}, BeamOptions(no_repeat_ngram=2, stop="exact")),
        ({"sample": True, "seed": 3}, SamplingOptions(seed=3)),
        ({"top_k": 2, "n_best": 3}, SamplingOptions(top_k=2, samples=3)),
        ({"temperature": 0.5, "samples": 2}, SamplingOptions(temperature=0.5, samples=2)),
    ],
    ids=str,
)
def test_options_by_name(keywords: dict[str, Any], options: Any, babbler: Translator) -> None:
    assert babbler(TEXT, **keywords) == babbler(TEXT, options=options)
    [line] = babbler.translate_lines([TEXT], **keywords)
    assert line == babbler(TEXT, options=options)


@pytest.mark.parametrize(
    ("keywords", "complaint"),
    [
        ({"beam": "4"}, r"beam='4' must be a whole number, at least 1"),
        ({"beam": 1.5}, r"beam=1\.5 must be a whole number"),
        ({"beam": True}, r"beam=True must be a whole number"),
        ({"beam": 0}, r"beam=0 must be at least 1"),
        ({"n_best": "2"}, r"n_best='2' must be a whole number"),
        ({"max_length": "9"}, r"max_length='9' must be a whole number"),
        ({"length_penalty": "1"}, r"length_penalty='1' must be a function of the length"),
        ({"temperature": "hot"}, r"temperature='hot' must be a number"),
        ({"seed": 1.5}, r"seed=1\.5 must be a whole number"),
        ({"lenght_penalty": 1.0}, r"'lenght_penalty' is no option.*did you mean length_penalty"),
        ({"zzz": 1}, r"'zzz' is no option of the search; there are beam, n_best, .*temperature"),
        ({"sample": True, "length_penalty": 1.0}, r"length_penalty: not an option of sampling"),
        ({"sample": False, "top_k": 1}, r"top_k: not an option of beam search"),
        ({"sample": True, "beam": 2}, r"beam=2 is for beam search, not for sampling"),
        ({"options": BeamOptions(), "top_k": 1}, r"top_k and options were given"),
        ({"options": 4}, r"options=4 must be BeamOptions or SamplingOptions"),
    ],
    ids=str,
)
def test_wrong_options(keywords: dict[str, Any], complaint: str, babbler: Translator) -> None:
    with pytest.raises(UsageError, match=complaint):
        babbler(TEXT, **keywords)


@pytest.mark.parametrize("text", [None, 5, b"bytes", [None], ["a", 5], {"a": 1}.values()])
def test_what_is_no_text(text: Any, babbler: Translator) -> None:
    with pytest.raises(UsageError, match="is no text; give a str, or a list of them"):
        babbler(text)


def test_a_result_prints_as_its_text(babbler: Translator) -> None:
    found = babbler(TEXT)
    assert str(found) == f"{found}" == found.text


def test_a_translator_says_what_it_is(babbler: Translator) -> None:
    bundled = allyouneed.load("en-de")
    assert repr(bundled).startswith(f"<Translator of en-de by {bundled.engine.name}: ")
    assert bundled.engine.description in repr(bundled)
    assert repr(babbler).startswith("<Translator of ")


@pytest.mark.parametrize("again", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_a_copy_opens_the_folder_again(again: Any) -> None:
    translator = allyouneed.load("en-de", "cpu-float32", threads=1)
    other = again(translator)
    assert other is not translator
    assert repr(other) == repr(translator)
    assert other("A man rides a bike.") == translator("A man rides a bike.")


def test_a_model_in_memory_cannot_be_copied(babbler: Translator) -> None:
    in_memory = Translator.of_model(babbler.model, babbler.tokenizer)
    with pytest.raises(UsageError, match="has no folder to be opened from; save the model"):
        copy.deepcopy(in_memory)
