"""Recipes: TOML files with everything that a training run depends on.

`load_recipe` reads and checks a recipe by packaged name or path. `to_toml` writes the resolved
recipe with all its keys.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from allyouneed.checks import expect, shortened
from allyouneed.errors import RecipeError, nearest
from allyouneed.training.recipe.encoder_schema import (
    ClassifyRecipe,
    MaskedLanguageRecipe,
    TagRecipe,
)
from allyouneed.training.recipe.reply_schema import ReplyRecipe
from allyouneed.training.recipe.schema import CommonRecipe, Recipe

__all__ = ["CommonRecipe", "load_recipe", "packaged_recipes", "Recipe", "to_toml"]

# The schema for each `task` of a recipe. `tasks/table.py` has the tasks themselves.
SCHEMAS: dict[str, type[CommonRecipe]] = {
    "translate": Recipe,
    "reply": ReplyRecipe,
    "masked-lm": MaskedLanguageRecipe,
    "classify": ClassifyRecipe,
    "tag": TagRecipe,
}

# The default [schedule] for fine-tuning (a recipe with training.init). The paper's schedule is for
# new weights: its warm-up is longer than most fine-tuning runs.
FINE_TUNING = {"name": "constant", "learning_rate": 1e-4}

KeyPath = tuple[str | int, ...]


def packaged_recipes() -> dict[str, str]:
    """The TOML text of every recipe of the package, by name."""
    folder = resources.files("allyouneed") / "recipes"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return {file.name.removesuffix(".toml"): file.read_text(encoding="utf-8") for file in files}


def load_recipe(name_or_path: str | Path, overrides: Sequence[str] = ()) -> CommonRecipe:
    """Reads a packaged recipe or a file, applies overrides such as "model.d_model=256", and checks
    the result.

    A word without a suffix or separator is a packaged name; everything else is a path.

    Raises:
        RecipeError: the recipe or an override is wrong; the message names the file (or the
            override), the key and a remedy.
    """
    place, text, folders = _read(name_or_path)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(_syntax_error(place, text, error)) from None
    for override in overrides:
        _override(table, override)
    training = table.get("training")
    if isinstance(training, dict) and training.get("init") is not None:
        table.setdefault("schedule", FINE_TUNING)
    if overrides:
        place += f" with {' '.join(overrides)}"
    schema = _schema(table, place)
    try:
        return schema.model_validate_json(
            json.dumps(table, default=str), context={"folders": (*folders, Path.cwd())}
        )
    except ValidationError as error:
        raise RecipeError(_explain(error, schema, place)) from None


def to_toml(recipe: CommonRecipe) -> str:
    """The recipe as TOML text that `load_recipe` reads back as the same recipe.

    Defaults are written out, except in the corpora, where defaults for other kinds of corpora would
    be misleading.
    """
    table = recipe.model_dump(mode="json", exclude_none=True)
    for part in ("train", "valid"):
        table["data"][part] = [
            corpus.model_dump(mode="json", exclude_defaults=True)
            for corpus in getattr(recipe.data, part)
        ]
    return "\n".join(_lines(table, "")) + "\n"


# Reading


def _read(name_or_path: str | Path) -> tuple[str, str, list[Path]]:
    """(the name of the recipe in messages, its text, the folders for its relative paths)."""
    path = Path(name_or_path).expanduser()
    if isinstance(name_or_path, str) and path.name == name_or_path and not path.suffix:
        packaged = packaged_recipes()
        if name_or_path in packaged:
            with resources.as_file(resources.files("allyouneed") / "recipes") as folder:
                return f"recipe {name_or_path}", packaged[name_or_path], [folder]
        meant = _did_you_mean(nearest(name_or_path, packaged))
        raise RecipeError(
            f"no recipe is called {shortened(name_or_path)}; packaged are {', '.join(packaged)}; "
            f"give a recipe of your own as a path, FILE.toml{meant}"
        )
    try:
        return str(path), path.read_bytes().decode("utf-8-sig"), [path.absolute().parent]
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise RecipeError(
            f"{path}:{line}: byte {error.start} is not UTF-8; save the recipe as UTF-8"
        ) from None
    except OSError as error:
        raise RecipeError(
            f"{path}: cannot read the recipe: {error.strerror}; correct the path, or name a "
            f"packaged recipe, one of {', '.join(packaged_recipes())}"
        ) from None


def _schema(table: Mapping[str, Any], place: str) -> type[CommonRecipe]:
    """The schema for the recipe's task."""
    task = table.get("task", "translate")
    if not isinstance(task, str) or task not in SCHEMAS:
        meant = _did_you_mean(nearest(str(task), SCHEMAS))
        known = ", ".join(map(repr, SCHEMAS))
        raise RecipeError(f"{place}: task = {shortened(task)}: should be one of {known}{meant}")
    return SCHEMAS[task]


def _syntax_error(place: str, text: str, error: tomllib.TOMLDecodeError) -> str:
    found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
    line = (found and found[1]) or text.count("\n") + 1
    reason = str(error)[: found.start()] if found else str(error)
    return f"{place}:{line}: not TOML: {reason}"


def _override(table: dict[str, Any], override: str) -> None:
    """Sets one key of the table. The value is TOML; anything else is a string."""
    expect(override, str, "override", 'a str such as "training.epochs=5"')
    path, equals, value = override.partition("=")
    if any("\ud800" <= sign <= "\udfff" for sign in override):
        raise RecipeError(f"override {override!r} is not valid Unicode")
    keys = path.strip().split(".")
    if not equals or not all(keys):
        raise RecipeError(f"override {override!r} must have the form section.key=value")
    node: Any = table
    done: list[str | int] = []
    for key in keys[:-1]:
        step = _step(node, key, override)
        node = node.setdefault(step, {}) if isinstance(node, dict) else node[step]
        done.append(step)
        if not isinstance(node, dict | list):
            raise RecipeError(f"override {override!r}: {_dotted(done)} is a value, not a section")
    node[_step(node, keys[-1], override)] = _value(value.strip())


def _step(node: dict[str, Any] | list[Any], key: str, override: str) -> str | int:
    """The key of a table, or the index of an existing item of a list."""
    if isinstance(node, dict):
        return key
    if not key.isdecimal() or int(key) >= len(node):
        raise RecipeError(f"override {override!r}: {key!r} should be a number below {len(node)}")
    return int(key)


def _value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return parsed["value"] if parsed.keys() == {"value"} else text


# Explaining


def _explain(error: ValidationError, schema: type[CommonRecipe], place: str) -> str:
    """The error in one line. An unknown key comes first, because it may explain a missing one."""
    problems = error.errors(include_url=False)
    problem = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])
    section, path = _walk(schema, problem["loc"])
    key = _dotted(path)
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "extra_forbidden":
        name = str(path[-1])
        close = nearest(name, section.model_fields)
        meant = _dotted((*path[:-1], close)) if close else _elsewhere(schema, name)
        known = f"; known: {', '.join(section.model_fields)}"
        hint = _did_you_mean(meant) if meant != key else ""
        what = f"unknown key {key}{hint or known}"
    elif kind == "missing":
        field = section.model_fields.get(str(path[-1]))  # None: an item of a list
        what = f"{key} is missing{f': {field.description}' if field else ''}"
    elif kind in ("union_tag_invalid", "union_tag_not_found"):
        names = [name for part in _sections(_annotation(section, key)) for name in _names(part)]
        said = f"= {context['tag']!r}" if "tag" in context else "is missing"
        what = f"{key}.name {said}: should be one of {', '.join(names)}"
    elif kind == "value_error":
        what = f"{key}: {context['error']}" if key else str(context["error"])
    elif kind == "tuple_type" and isinstance(problem["input"], dict):
        what = f"{key} is one table and may be several: write [[{key}]], with two brackets"
    elif kind == "string_pattern_mismatch":
        what = (
            f"{key} = {shortened(problem['input'])}: should have letters, digits, _, - and . only, "
            "and begin with neither of the last two"
        )
    else:
        expected = re.sub(r"^\w+ should ", "should ", problem["msg"])
        if sum(_walk(schema, each["loc"])[1] == path for each in problems) > 1:  # of several types
            expected = f"should be: {section.model_fields[str(path[-1])].description}"
        what = f"{key} = {shortened(problem['input'])}: {expected}"
    return f"{place}: {what}"


def _elsewhere(schema: type[CommonRecipe], name: str) -> str | None:
    """The dotted key with this name in another section of the recipe; None if there is none."""
    for key in schema.model_fields:
        if any(name in part.model_fields for part in _sections(_annotation(schema, key))):
            return f"{key}.{name}"
    return None


def _walk(
    schema: type[CommonRecipe], location: Sequence[str | int]
) -> tuple[type[BaseModel], KeyPath]:
    """The section of the last key of a location, and the path of the key in a recipe."""
    section: type[BaseModel] = schema
    below: list[type[BaseModel]] = [schema]
    path: list[str | int] = []
    for key in location:
        if isinstance(key, str) and not below:  # a type that pydantic has tried for the value
            break
        if isinstance(key, str) and len(below) > 1:  # the schedule's name, no key of the recipe
            below = [model for model in below if key in _names(model)]
            continue
        path.append(key)
        if isinstance(key, str):
            section = below[0] if below else section
            below = list(_sections(_annotation(section, key)))
    return section, tuple(path)


def _annotation(section: type[BaseModel], key: str) -> Any:
    field = section.model_fields.get(key)
    return field.annotation if field else None


def _names(section: type[BaseModel]) -> tuple[str, ...]:
    """The values of the key "name" that select this section among several for the same place."""
    return get_args(_annotation(section, "name"))


def _sections(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _sections(part)


def _did_you_mean(name: str | None) -> str:
    return f"; did you mean {name}?" if name else ""


def _dotted(path: Sequence[str | int]) -> str:
    return ".".join(map(str, path))


# Writing


def _lines(table: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """The lines of one table: plain keys first, then the tables below it."""
    for key, value in table.items():
        if not _is_table(value):
            yield f"{key} = {_literal(value)}"
    for key, value in table.items():
        for below in value if isinstance(value, list) else [value]:
            if isinstance(below, dict):
                yield ""
                yield f"[[{prefix}{key}]]" if isinstance(value, list) else f"[{prefix}{key}]"
                yield from _lines(below, f"{prefix}{key}.")


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and len(value) > 0 and isinstance(value[0], dict)
    )


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, float):
        return repr(value)
    # TOML's basic strings, whole numbers and booleans are JSON's, but for the delete character
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
