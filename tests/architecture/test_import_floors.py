"""Imports point down: each floor of the house imports from floors below it, never sideways."""

import ast
import sys
from collections.abc import Iterator, Mapping

FLOORS = [
    "errors",
    "checks",
    "files device pipeline",
    "core",
    "text",
    "data decoding",
    "model_folder",
    "engine evaluation interop",
    "translation encoder_only",
    "loading",
    "training insight",
    "documents chat",
    "serving bulk widget",
    "cli",
    "__main__",
]
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names.split()}

# What core/ has no business with: files, configuration, processes, output.
NOT_FOR_CORE = {"argparse", "configparser", "io", "json", "logging", "os", "pathlib", "tomllib"}


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything imported, inside functions too; not for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{start}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        else:
            yield from imports(node)


def floor_name(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def climbing_imports(sources: Mapping[str, str]) -> list[str]:
    """Every import that does not point down, in words."""
    complaints = []
    for module, source in sources.items():
        here = floor_name(module)
        if here and here not in FLOOR:
            complaints.append(f"{module}: on no floor; add it to FLOORS")
            continue
        for line, name in imports(ast.parse(source)):
            if name.startswith("."):
                complaints.append(f"{module}:{line}: write the import of {name} absolutely")
            if name.split(".")[0] != "allyouneed" or name == "allyouneed.__version__":
                continue
            there = floor_name(name)
            if there not in FLOOR:
                complaints.append(f"{module}:{line}: imports {name} through the public door")
            elif here and here != there and FLOOR[there] >= FLOOR[here]:
                complaints.append(f"{module}:{line}: {here} must not import {there} ({name})")
    return complaints


def import_cycles(sources: Mapping[str, str]) -> list[str]:
    """Every way round from a module to itself, as `a → b → a`."""
    graph = {
        module: {
            target
            for _, name in imports(ast.parse(source))
            for target in (name, name.rpartition(".")[0])[: 1 if name in sources else 2]
            if target in sources
        }
        for module, source in sources.items()
    }
    cycles: list[str] = []
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        if module in path:
            cycles.append(" → ".join((*path[path.index(module) :], module)))
        elif module not in done:
            for target in sorted(graph[module]):
                visit(target, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())
    return cycles


def strangers_in_core(sources: Mapping[str, str]) -> list[str]:
    """What core/ imports besides torch, errors and the standard library's quiet parts."""
    allowed = (sys.stdlib_module_names - NOT_FOR_CORE) | {"torch"}
    return [
        f"{module}:{line}: core/ must not import {name}"
        for module, source in sources.items()
        if floor_name(module) == "core"
        for line, name in imports(ast.parse(source))
        if name.split(".")[0] not in allowed
        and not name.startswith(("allyouneed.core.", "allyouneed.errors."))
    ]


def test_imports_point_down(sources: dict[str, str]) -> None:
    assert climbing_imports(sources) == []


def test_imports_go_round_nowhere(sources: dict[str, str]) -> None:
    assert import_cycles(sources) == []


def test_core_imports_torch_only(sources: dict[str, str]) -> None:
    assert any(floor_name(module) == "core" for module in sources)
    assert strangers_in_core(sources) == []


def test_the_floor_test_can_fail() -> None:
    for source, complaint in {
        "from allyouneed.cli.app import main": "text must not import cli",
        "def f():\n    import allyouneed.data.store": "text must not import data",
        "from allyouneed import load": "public door",
        "from . import clean": "absolutely",
    }.items():
        assert complaint in " ".join(climbing_imports({"allyouneed.text.tokenizer": source}))
    assert climbing_imports({"allyouneed.attic.x": ""}) == [
        "allyouneed.attic.x: on no floor; add it to FLOORS"
    ]
    sideways = {"allyouneed.data.store": "from allyouneed.decoding.beam import beam_search"}
    assert climbing_imports(sideways) != []


def test_the_floor_test_lets_good_imports_pass() -> None:
    good = "from allyouneed import __version__\nfrom allyouneed.core.config import BASE\nimport re"
    assert climbing_imports({"allyouneed.text.tokenizer": good}) == []
    typing_only = "if TYPE_CHECKING:\n    from allyouneed.cli.app import main"
    assert climbing_imports({"allyouneed.text.tokenizer": typing_only}) == []


def test_the_cycle_test_can_fail() -> None:
    round_trip = {
        "allyouneed.core.a": "from allyouneed.core.b import thing",
        "allyouneed.core.b": "from allyouneed.core import c",
        "allyouneed.core.c": "def f():\n    from allyouneed.core.a import other",
    }
    assert import_cycles(round_trip) == [
        "allyouneed.core.a → allyouneed.core.b → allyouneed.core.c → allyouneed.core.a"
    ]


def test_the_core_test_can_fail() -> None:
    for source in ("import numpy as np", "from pathlib import Path", "import allyouneed.text.x"):
        assert strangers_in_core({"allyouneed.core.masks": source}) != []
