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
        ({"num_beams": 4}, r"'num_beams' is no option of the search; did you mean beam\?"),
        ({"nbest": 4}, r"'nbest' is no option of the search; did you mean n_best\?"),
        ({"n-best": 4}, r"'n-best' is no option of the search; did you mean n_best\?"),
        ({"from_": "en"}, r"'from_' is no option of the search; did you mean source\?"),
        ({"to": "de"}, r"'to' is no option of the search; did you mean target\?"),
        ({"scores": True}, r"'scores' is no keyword.*; every result has average_log_likelihood"),
        ({"json": True}, r"'json' is no keyword of a call; every result has to_dict\(\)"),
        ({"stream": True}, r"'stream' is no keyword of a call; call translator\.stream\(text\)"),
        ({"threads": 2}, r"'threads' is no keyword of a call; give it to allyouneed\.load"),
        ({"no-protect": True}, r"'no-protect' is no keyword of a call; use protect=False"),
        ({"protect": 5}, r"protect=5 must be True, False or a list of regular expressions"),
        ({"protect": [5]}, r"protect=\[5\] must be True, False or a list of regular expressions"),
        ({"greedy": True}, r"'greedy' is no keyword of a call; use beam=1"),
        ({"model": "en-de"}, r"'model' is no keyword of a call; give it to allyouneed\.load"),
        ({"resume": True}, r"'resume' is no keyword of a call; it is an option of `allyouneed tr"),
        ({"debug": True}, r"'debug' is no keyword of a call; it is an option of `allyouneed tr"),
        ({"alignment": True}, r"'alignment' is no option of the search; did you mean alignments"),
        ({"glossary": {}}, r"'glossary' is no option of the search; did you mean terms\?"),
        ({"src": "en"}, r"'src' is no option of the search; did you mean source\?"),
        ({"tgt": "de"}, r"'tgt' is no option of the search; did you mean target\?"),
        ({"temperature": 0}, r"temperature=0 must be above 0; .* use greedy search: beam=1"),
        ({"sample": "yes"}, r"sample='yes' cannot be used; give True or False"),
        ({"alignments": "x"}, r"alignments='x' cannot be used; give True or False"),
        ({"prefix": 5}, r"prefix=5 is no text; give a str$"),
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


@pytest.mark.parametrize(
    "text", [None, 5, b"bytes", [None], ["a", 5], {"a": 1}.values(), {"a"}, {"a": 1}]
)
def test_what_is_no_text(text: Any, babbler: Translator) -> None:
    with pytest.raises(UsageError, match="is no text; give a str, or a list of them"):
        babbler(text)


def test_every_option_of_the_command_line_is_a_keyword_or_answered() -> None:
    from dataclasses import fields
    from inspect import signature

    from allyouneed.cli import translate_options as groups
    from allyouneed.cli.options import Running
    from allyouneed.translation.keywords import NAMES, PLACES, SearchKeywords

    keywords = {*signature(Translator.__call__).parameters, *SearchKeywords.__annotations__}
    options = {
        field.name
        for group in (
            groups.TranslationLanguages,
            groups.TranslationSampling,
            groups.TranslationSearch,
            groups.TranslationResults,
            groups.TranslationProtection,
            groups.Documents,
            Running,
        )
        for field in fields(group)
    } | {"model"}
    assert options <= keywords | {*NAMES, *PLACES}
    assert not keywords & {*NAMES, *PLACES}
    assert {*NAMES.values()} <= keywords


@pytest.mark.parametrize(
    ("keywords", "options"),
    [
        ({}, BeamOptions(beam=1)),
        ({"max_length": 4}, BeamOptions(beam=1, max_length=4)),
        ({"beam": 1, "length_penalty": 1.0}, BeamOptions(beam=1, length_penalty=Wu(1.0))),
        ({"temperature": 0.7, "seed": 3}, SamplingOptions(temperature=0.7, seed=3)),
        ({"options": SamplingOptions(seed=2)}, SamplingOptions(seed=2)),
    ],
    ids=str,
)
def test_options_of_a_stream_by_name(
    keywords: dict[str, Any], options: Any, babbler: Translator
) -> None:
    assert "".join(babbler.stream(TEXT, **keywords)) == babbler(TEXT, options=options).text


@pytest.mark.parametrize(
    ("keywords", "complaint"),
    [
        ({"beam": 4}, "beam=4 with stop='common' cannot be streamed"),
        ({"beams": 4}, "'beams' is no option of the search; did you mean beam"),
        ({"beam": 2, "options": BeamOptions(beam=1)}, "beam=2, n_best=1 and options were given"),
        ({"beam": 2, "sample": True}, "beam=2 is for beam search, not for sampling"),
        ({"prefix": 5}, "prefix=5 is no text; give a str$"),
    ],
    ids=str,
)
def test_wrong_options_of_a_stream(
    keywords: dict[str, Any], complaint: str, babbler: Translator
) -> None:
    with pytest.raises(UsageError, match=complaint):
        babbler.stream(TEXT, **keywords)


def test_lists_that_are_none(babbler: Translator) -> None:
    lines: Any = [None]
    for wrong in (None, 5, "one text", b"bytes"):
        with pytest.raises(UsageError, match=r"takes lists of texts, not .*; put a single one in"):
            babbler.translate_lines(wrong)
        with pytest.raises(UsageError, match="score takes lists of texts, not"):
            babbler.score(wrong, ["a"])
    with pytest.raises(UsageError, match="None is no text"):
        list(babbler.translate_lines(lines))
    with pytest.raises(UsageError, match="None is no text"):
        babbler.score(["a"], lines)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"name_or_folder": 5}, "5 is no model; give a name or the path of a model folder"),
        ({"name_or_folder": None}, "None is no model"),
        ({"name_or_folder": "en-de", "threads": "2"}, "threads='2' must be a whole number"),
        ({"name_or_folder": "en-de", "threads": 1.5}, "threads=1.5 must be a whole number"),
    ],
    ids=str,
)
def test_wrong_arguments_of_load(arguments: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        allyouneed.load(**arguments)


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
