"""The public door is narrow, in order, and every name behind it is explained."""

import importlib
import inspect
import re

import pytest

import allyouneed

PUBLIC = [
    "AllYouNeedError",
    "attention_view",
    "capture",
    "Chat",
    "EncoderModel",
    "EncoderOnly",
    "intervene",
    "load",
    "load_ensemble",
    "look",
    "Prediction",
    "Tokenizer",
    "trace",
    "train",
    "Transformer",
    "TransformerConfig",
    "Translation",
    "Translator",
]


def unexplained(module: object, names: list[str]) -> list[str]:
    """Names whose thing has no docstring of its own (a dataclass makes one up from its fields)."""
    return [
        name
        for name in names
        if not inspect.cleandoc(vars_doc(getattr(module, name)))
        or vars_doc(getattr(module, name)).startswith(f"{name}(")
    ]


def vars_doc(thing: object) -> str:
    return getattr(thing, "__dict__", {}).get("__doc__") or (
        "" if inspect.isclass(thing) else getattr(thing, "__doc__", None) or ""
    )


def test_the_public_names_are_a_promise() -> None:
    assert allyouneed.__all__ == PUBLIC
    assert set(PUBLIC) <= set(dir(allyouneed))


def test_every_list_of_public_names_is_in_order_and_explained(sources: dict[str, str]) -> None:
    for name, source in sources.items():
        if not re.search(r"^__all__\b", source, re.MULTILINE):
            continue
        module = importlib.import_module(name)
        assert module.__all__ == sorted(module.__all__, key=str.casefold), name
        assert unexplained(module, module.__all__) == [], name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="laod"):
        allyouneed.laod  # noqa: B018


def test_the_docstring_test_can_fail() -> None:
    class Corner:
        class Told:
            """Explained."""

        class Untold(Told):
            pass

        class MadeUp:
            """MadeUp(x: int)"""

    assert unexplained(Corner, ["Told", "Untold", "MadeUp"]) == ["Untold", "MadeUp"]
