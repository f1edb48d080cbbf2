"""Lets a verb take a dataclass as a group of options."""

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

Verb = Callable[..., None]


def with_single_options(verb: Verb) -> Verb:
    """The verb with one parameter for each option, as typer reads it.

    A parameter of `verb` whose type is a dataclass is a group: each field that the dataclass is
    made with becomes an option, and the verb receives the dataclass.
    """
    written = inspect.signature(verb, eval_str=True)
    groups: dict[str, Any] = {
        name: one.annotation
        for name, one in written.parameters.items()
        if is_dataclass(one.annotation)
    }
    if not groups:
        return verb
    options: dict[str, list[str]] = {}
    single: list[inspect.Parameter] = []
    for name, parameter in written.parameters.items():
        if name in groups:
            own = _options_of(groups[name])
            options[name] = [option.name for option in own]
            single += own
        else:
            single.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    def called(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{option: given.pop(option) for option in options[name]})
        verb(**given)

    called.__name__, called.__doc__ = verb.__name__, verb.__doc__
    called.__signature__ = written.replace(parameters=single)  # type: ignore[attr-defined]
    return called


def _options_of(group: Any) -> list[inspect.Parameter]:
    """A parameter for each field that the group is made with."""
    types = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=types[field.name],
        )
        for field in fields(group)
        if field.init
    ]
