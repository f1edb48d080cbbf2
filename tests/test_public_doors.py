"""Every public callable answers a value of a wrong type or size with an error of this project: one
line that says what to give. No raw TypeError or AttributeError comes out."""

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import allyouneed
from allyouneed.errors import AllYouNeedError, UsageError
from allyouneed.evaluation.report import evaluate
from allyouneed.text.encoder_tokenizer import EncoderTokenizer
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation.translator import Translator

LONG = "word " * 20_000
ODD: list[Any] = [
    *(None, 5, -1, 10**30, 1.5, math.nan, True, b"bytes", [], [None], {}, {"a": 1}, object()),
    *("", LONG),
]

Door = Callable[[Any], object]


@pytest.fixture(scope="module")
def translator(small_model: Callable[..., Any], small_tokenizer: Tokenizer) -> Translator:
    return Translator.of_model(small_model(), small_tokenizer)


@pytest.fixture(scope="module")
def doors(translator: Translator, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Door]:
    tokenizer, model = translator.tokenizer, translator.model
    path: Any = tmp_path_factory.mktemp("model") / "tokenizer.json"

    def config(name: str) -> Door:
        return lambda value: allyouneed.TransformerConfig(**{name: value})

    def call(name: str) -> Door:
        return lambda value: translator("A man.", **{name: value})

    return {
        "load": allyouneed.load,
        "load(engine=)": lambda value: allyouneed.load(path.parent, engine=value),
        "load(device=)": lambda value: allyouneed.load(path.parent, device=value),
        "load(threads=)": lambda value: allyouneed.load(path.parent, threads=value),
        "load_ensemble": allyouneed.load_ensemble,
        "load_ensemble([])": lambda value: allyouneed.load_ensemble([value]),
        "translator": lambda value: translator(value if value is not LONG else "word " * 50),
        "translator([])": lambda value: translator([value if value is not LONG else "word"]),
        **{
            f"translator({name}=)": call(name)
            for name in ("beam", "n_best", "options", "prefix", "source", "target", "markup")
        },
        **{
            f"translator({name}=)": call(name)
            for name in ("protect", "terms", "temperature", "seed", "max_length", "length_penalty")
        },
        "translator(ignore_tags=)": lambda value: translator(
            "A.", markup="html", ignore_tags=value
        ),
        "stream": lambda value: list(translator.stream(value if value is not LONG else "word")),
        "translate_lines": lambda value: list(translator.translate_lines(value)),
        "translate_lines([])": lambda value: list(
            translator.translate_lines([value if value is not LONG else "word"])
        ),
        "translate_lines(read_ahead=)": lambda value: list(
            translator.translate_lines([], read_ahead=value)
        ),
        "translate_chunks": lambda value: list(translator.translate_chunks(value)),
        "translate_chunks([])": lambda value: list(
            translator.translate_chunks([value if value is not LONG else "word"])
        ),
        "score(source)": lambda value: translator.score(value, "Ein Mann."),
        "score(target)": lambda value: translator.score("A man.", value),
        "attention": lambda value: translator.attention(value, "Ein Mann."),
        "Translator.of_model": lambda value: Translator.of_model(value, tokenizer),
        "Translator.of_model(tokenizer)": lambda value: Translator.of_model(model, value),
        "encode": tokenizer.encode,
        "encode_ids": tokenizer.encode_ids,
        "encode_ids([])": lambda value: tokenizer.encode_ids([value]),
        "decode": tokenizer.decode,
        "decode([])": lambda value: tokenizer.decode([value]),
        "spans": tokenizer.spans,
        "piece": tokenizer.piece,
        "mark": translator.tokenizer.mark,  # type: ignore[attr-defined]
        "Tokenizer.load": Tokenizer.load,
        "Tokenizer.from_json": Tokenizer.from_json,
        "Tokenizer.train": lambda value: Tokenizer.train(value, 300),
        "Tokenizer.train(vocabulary)": lambda value: Tokenizer.train(["a"], value),
        "train": allyouneed.train,
        "train(overrides=)": lambda value: allyouneed.train("nonsense", overrides=value),
        "train(device=)": lambda value: allyouneed.train("nonsense", device=value),
        "Chat": lambda value: allyouneed.Chat(value),
        "trace": lambda value: allyouneed.trace(translator, value if value is not LONG else "word"),
        "trace(translator)": lambda value: allyouneed.trace(value, "A man."),
        "capture": lambda value: allyouneed.capture(value).__enter__(),
        "intervene": lambda value: allyouneed.intervene(
            value, switch_off=["decoder.layers.0.feed_forward"]
        ).__enter__(),
        "attention_view(tokens_x)": lambda value: allyouneed.attention_view(value, ["a"], [[[1]]]),
        "attention_view(weights)": lambda value: allyouneed.attention_view(["a"], ["a"], value),
        **{
            f"TransformerConfig({name}=)": config(name)
            for name in ("vocabulary", "d_model", "heads", "d_ff", "max_positions", "dropout")
        },
        "Transformer": allyouneed.Transformer,
        "EncoderModel.open": allyouneed.EncoderModel.open,
        "evaluate(hypotheses)": lambda value: evaluate(value, ["a"]),
        "evaluate(references)": lambda value: evaluate(["a"], value),
    }


def test_every_public_callable_is_tried(doors: dict[str, Door]) -> None:
    tried = {word for name in doors for word in name.replace("(", ".").split(".")}
    results = {"Prediction", "Translation"}  # values that the doors give
    parts = {"EncoderOnly"}  # is put together from parts of the core
    others = {"AllYouNeedError", "look", "Translator"}  # tests/widget/test_notebook.py has look
    assert {*allyouneed.__all__} - results - parts - others <= tried


@pytest.mark.parametrize("value", ODD, ids=lambda value: repr(value)[:12])
def test_an_odd_value_gives_a_result_or_an_error_of_ours(
    value: Any, doors: dict[str, Door], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # of `train`, whose folder would be runs/NAME
    faults = []
    for name, door in doors.items():
        try:
            door(value)
        except AllYouNeedError as error:
            if len(str(error)) < 20 or "\n" in str(error):
                faults.append(f"{name}: {str(error)[:200]}")
        except Exception as error:
            faults.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
    assert faults == []


@pytest.mark.parametrize(
    ("door", "value", "complaint"),
    [
        ("encode", None, "text=None cannot be used; give a str"),
        ("encode", b"bytes", "text=b'bytes' cannot be used; give a str"),
        ("encode_ids", "text", "texts='text' cannot be used; give a list of texts"),
        ("decode", 5, "ids=5 cannot be used; give a list of ids"),
        ("decode", ["a"], "id 'a' is outside this vocabulary of 300 pieces"),
        ("piece", [], r"id \[\] is outside this vocabulary of 300 pieces"),
        ("Tokenizer.load", 5, "path=5 cannot be used; give the path of a tokenizer.json"),
        (
            "load(device=)",
            5,
            "device=5 cannot be used; give the name of a torch device",
        ),
        ("load_ensemble", 5, "models=5 cannot be used; give a list of names or folders"),
        ("train", None, "recipe=None cannot be used; give the name of a packaged recipe"),
        ("train(overrides=)", "a=b", r"overrides='a=b' cannot be used; give a list such as \[\"tr"),
        ("Chat", "en-de", "translator='en-de' cannot be used; give the result of allyouneed.load"),
        ("capture", None, "model=None cannot be used; give a model, such as the result of allyoun"),
        ("trace(translator)", "en-de", "translator='en-de' cannot be used; give a translator"),
        ("evaluate(references)", "text", "references='text' cannot be used; give a list of texts"),
        ("translate_lines(read_ahead=)", 1.5, "read_ahead=1.5 must be a whole number, at least 1"),
        ("attention", None, "text=None cannot be used; give a str"),
    ],
)
def test_the_error_names_the_value_and_what_to_give(
    door: str, value: Any, complaint: str, doors: dict[str, Door]
) -> None:
    with pytest.raises(UsageError, match=complaint):
        doors[door](value)


def test_an_encoders_tokenizer_checks_as_well(encoder_tokenizer: EncoderTokenizer) -> None:
    odd: Iterable[Any] = (None, 5, b"bytes")
    for value in odd:
        with pytest.raises(UsageError, match="cannot be used; give a str"):
            encoder_tokenizer.encode(value)
