"""The command line is a promise: its verbs and options stand in golden/cli.txt.

When a change of it is meant, write the file anew: `python tests/architecture/test_command_line.py`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from allyouneed.cli.app import build

GOLDEN = Path(__file__).with_name("golden") / "cli.txt"


def surface(command: Any, path: str = "allyouneed") -> Iterator[str]:
    """Every verb, its arguments and its options with their defaults, a line each."""
    yield path
    for parameter in sorted(command.params, key=lambda p: (p.param_type_name, p.name)):
        if parameter.param_type_name == "argument":
            many = " ..." if parameter.nargs == -1 else ""
            need = "" if parameter.required else " (optional)"
            yield f"  {parameter.name}{many}{need}"
        else:
            need = " (required)" if parameter.required else ""
            default = f" = {parameter.default!r}" if parameter.default is not None else ""
            yield f"  {', '.join(parameter.opts)}{default}{need}"
    for name in sorted(getattr(command, "commands", {})):
        yield from surface(command.commands[name], f"{path} {name}")


def the_command_line() -> str:
    return "\n".join(surface(typer.main.get_command(build()))) + "\n"


def test_the_command_line_is_a_promise() -> None:
    assert the_command_line() == GOLDEN.read_text("utf-8")


def test_shared_options_mean_the_same_in_every_verb() -> None:
    seen: dict[str, set[tuple[str, str]]] = {}
    for verb in typer.main.get_command(build()).commands.values():  # type: ignore[attr-defined]
        for option in verb.params:
            if option.name in {"device", "threads", "engine", "json", "debug"}:
                seen.setdefault(option.name, set()).add((option.help, repr(option.default)))
    assert set(seen) == {"device", "threads", "engine", "json", "debug"}
    assert {name: len(meanings) for name, meanings in seen.items()} == dict.fromkeys(seen, 1)


def test_the_golden_test_can_fail() -> None:
    app = build()
    app.command("dance")(lambda: None)
    assert "allyouneed dance" in "\n".join(surface(typer.main.get_command(app)))


if __name__ == "__main__":
    GOLDEN.write_text(the_command_line(), encoding="utf-8")
