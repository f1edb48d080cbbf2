"""Pages that the package itself writes: a line `% made: NAME` in a page gives way to Markdown.

So the command line, the keys of recipes and the reference of the code are never stale.
"""

import importlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args

import typer
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

import allyouneed
from allyouneed.cli.app import build
from allyouneed.training.recipe.schema import CommonRecipe
from allyouneed.training.recipe.toml_file import SCHEMAS, packaged_recipes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PACKAGE = Path(allyouneed.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
LESSON = re.compile(r"\[([^\]]+)\]\((?:\.\./)?lessons/(\d\d_\w+)\.py\)")
MARK = re.compile(r"^% made: (\S+)(?: (.+))?$", re.MULTILINE)


def command_line() -> str:
    """Every verb with its help, its arguments and its options."""
    group: Any = typer.main.get_command(build())
    return "\n\n".join(_verb(name, command) for name, command in _verbs(group))


def _verbs(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every verb by its name, the verbs of a verb (`keys add`) after it."""
    for name, command in sorted(group.commands.items()):
        yield f"{before}{name}", command
        if hasattr(command, "commands"):
            yield from _verbs(command, f"{before}{name} ")


def _verb(name: str, command: Any) -> str:
    shown = [p for p in command.params if not getattr(p, "hidden", False)]
    arguments = [p for p in shown if p.param_type_name == "argument"]
    options = [p for p in shown if p.param_type_name == "option"]
    usage = " ".join(
        ["allyouneed", name, *(_usage(argument) for argument in arguments), "[OPTIONS]"]
    )
    rows = [(f"`{argument.name}`", argument) for argument in arguments]
    rows += [(_spelling(option), option) for option in options]
    table = ["| | |", "|---|---|"]
    table += [f"| {spelling} | {_text(what.help)}{_default(what)} |" for spelling, what in rows]
    return "\n".join([f"## {name}", "", f"`{usage}`", "", command.help, "", *table])


def _usage(argument: Any) -> str:
    text = f"{argument.name.upper()}{'...' if argument.nargs == -1 else ''}"
    return text if argument.required else f"[{text}]"


def _spelling(option: Any) -> str:
    value = "" if option.is_flag else f" {option.metavar or 'VALUE'}"
    return f"`{', '.join(option.opts)}{value.replace('|', ' or ')}`"


def _default(parameter: Any) -> str:
    if parameter.required:
        return " **Required.**"
    default = parameter.default
    if default in (None, False, "", ()) or callable(default):
        return ""
    return f" Default: `{default}`."


def recipe_keys() -> str:
    """Every table of a recipe and its keys, from the models that check them; a table that only
    some tasks have, or have in another way, says which."""
    tasks: dict[tuple[str, type[BaseModel]], list[str]] = {}
    for task, schema in SCHEMAS.items():
        for path, model in _tables(schema, ""):
            tasks.setdefault((path, CommonRecipe if not path else model), []).append(task)
    ordered = sorted(tasks, key=lambda table: [path for path, _ in tasks].index(table[0]))
    return "\n\n".join(_section(path, model, tasks[path, model]) for path, model in ordered)


def _tables(model: type[BaseModel], path: str) -> Iterator[tuple[str, type[BaseModel]]]:
    yield path, model
    for name, field in model.model_fields.items():
        for below in _models(field.annotation):
            many = "tuple" in str(field.annotation)
            yield from _tables(below, f"{path}.{name}".strip(".") + ("[]" if many else ""))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _section(path: str, model: type[BaseModel], tasks: list[str]) -> str:
    brackets = f"[[{path[:-2]}]]" if path.endswith("[]") else f"[{path}]"
    named = get_args(model.model_fields["name"].annotation) if "name" in model.model_fields else ()
    title = f"`{brackets}`" if path else "The top of the file"
    if path == "schedule":
        title += f' with `name = "{named[0]}"`'
    rows = [
        f"| `{name}` | {_kind(field.annotation)} | {_value(field)} | {_text(field.description)} |"
        for name, field in model.model_fields.items()
        if not any(_models(field.annotation))
    ]
    doc = (model.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    head = ["| key | value | without it | |", "|---|---|---|---|"]
    if len(tasks) < len(SCHEMAS):
        title += " · " + ", ".join(tasks)
    return "\n".join([f"## {title}", "", doc, "", *(head + rows if rows else [])])


def _text(description: str | None) -> str:
    return (description or "").replace("|", "\\|").replace("<", "&lt;")


def _kind(annotation: Any) -> str:
    """A key's values in words: `"a"` or `"b"`, number, text, ..."""
    if annotation in _WORDS:
        return _WORDS[annotation]
    if str(annotation).startswith("typing.Literal"):
        return " or ".join(f'`"{choice}"`' for choice in get_args(annotation))
    if NoneType in get_args(annotation):
        return _kind(get_args(annotation)[0])
    if str(annotation).startswith("tuple"):
        return " and ".join(_kind(part) for part in get_args(annotation) if part is not ...)
    found = [_kind(part) for part in get_args(annotation)[:1]] if annotation is not None else []
    return found[0] if found else str(annotation)


_WORDS: dict[Any, str] = {
    int: "whole number",
    float: "number",
    str: "text",
    bool: "`true` or `false`",
    Path: "path",
}


def _value(field: Any) -> str:
    if field.is_required():
        return "must be given"
    if field.default in (None, PydanticUndefined, ""):
        return ""
    return f"`{str(field.default).lower() if isinstance(field.default, bool) else field.default}`"


def recipes() -> str:
    """The packaged recipes, whole."""
    return "\n\n".join(
        f"## `{name}`\n\n```toml\n{text.rstrip()}\n```" for name, text in packaged_recipes().items()
    )


def modules(folder: str) -> str:
    """The reference of every module in a folder of the package ("." for the package itself)."""
    names = []
    for path in sorted((PACKAGE / folder).glob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if parts[-1] not in ("__init__", "__main__"):
            names.append(".".join(parts))
    return "\n\n".join(
        f"## `{name.removeprefix('allyouneed.')}`\n\n"
        f"```{{eval-rst}}\n.. automodule:: {name}\n   :members:\n```"
        for name in names
    )


def paper() -> str:
    """PAPER.md without its title; each symbol leads to its place in the reference."""
    text = (PACKAGE / "PAPER.md").read_text("utf-8").split("\n", 1)[1]
    return re.sub(r"`([\w/]+)\.py:([\w.]+)`", _symbol, text)


def _symbol(found: re.Match[str]) -> str:
    """A link to the symbol, or to the nearest thing around it that the reference describes."""
    module = "allyouneed." + found[1].replace("/", ".")
    thing: Any = importlib.import_module(module)
    described = module
    for name in found[2].split("."):
        thing = getattr(thing, name, None)
        if not callable(thing) or not getattr(thing, "__doc__", None):
            break
        described += f".{name}"
    return f"{{py:obj}}`{found[1]}.py:{found[2]} <{described}>`"


def changes() -> str:
    """CHANGELOG.md without its title."""
    return (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n", 1)[1]


MADE: dict[str, Callable[..., str]] = {
    "command-line": command_line,
    "recipe-keys": recipe_keys,
    "recipes": recipes,
    "modules": modules,
    "paper": paper,
    "changes": changes,
}


def filled(text: str) -> str:
    """A page with what its marks stand for, and links to lessons that lead to their pages."""

    def made(found: re.Match[str]) -> str:
        return MADE[found[1]](*([found[2]] if found[2] else []))

    # docs/lessons leads elsewhere, where the builder looks for no pages
    return LESSON.sub(r"{doc}`\1 </lessons/\2>`", MARK.sub(made, text))


def _fill(app: "Sphinx", docname: str, source: list[str]) -> None:
    if (app.srcdir / f"{docname}.md").exists():
        source[0] = filled(source[0])


def setup(app: "Sphinx") -> dict[str, bool]:
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
