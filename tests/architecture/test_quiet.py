"""Nothing happens on import, and nothing below cli/ prints."""

import ast
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

QUIET_STATEMENTS = (
    ast.AnnAssign,
    ast.Assign,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.FunctionDef,
    ast.If,
    ast.Import,
    ast.ImportFrom,
    ast.Try,
    ast.TypeAlias if sys.version_info >= (3, 12) else ast.Assign,
)

# Runs in a fresh interpreter: the libraries first, then the package, with an ear on what it does.
WATCHED_IMPORT = """
import importlib, json, os, sys, warnings
sys.dont_write_bytecode = True
modules, libraries = json.loads(sys.argv[1]), json.loads(sys.argv[2])
for name in ["torch", *libraries]:
    importlib.import_module(name)
import torch
deeds = []
def listen(event, arguments):
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        deeds.append(f"opened {arguments[0]} to write")
    elif event.split(".")[0] in {"socket", "subprocess"} or event in {"os.putenv", "os.system"}:
        deeds.append(event)
def state():
    return {"environment": dict(os.environ), "warnings": list(warnings.filters),
            "dtype": torch.get_default_dtype(), "threads": torch.get_num_threads(),
            "determinism": torch.are_deterministic_algorithms_enabled(),
            "random state": torch.get_rng_state().tolist(), "path": sys.path[:]}
before = state()
sys.addaudithook(listen)
for name in modules:
    importlib.import_module(name)
after = state()
deeds += [f"changed {name}" for name in before if before[name] != after[name]]
sys.stderr.write("\\n".join(deeds))
"""


def acts_on_import(sources: Mapping[str, str]) -> list[str]:
    """Statements at module level that do something instead of naming something."""
    return [
        f"{module}:{node.lineno}: {ast.unparse(node).splitlines()[0]}"
        for module, source in sources.items()
        for node in ast.parse(source).body
        if not isinstance(node, QUIET_STATEMENTS)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        and not module.endswith(".__main__")
    ]


def prints(sources: Mapping[str, str]) -> list[str]:
    """Every use of `print`, the standard streams or a terminal library below cli/."""
    found = []
    for module, source in sources.items():
        if module.startswith("allyouneed.cli"):
            continue
        for node in ast.walk(ast.parse(source)):
            name = ""
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                name = node.func.id if node.func.id in {"input", "print"} else ""
            elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "sys":
                name = f"sys.{node.attr}" if node.attr in {"stderr", "stdin", "stdout"} else ""
            elif isinstance(node, ast.Import):
                name = " ".join(a.name for a in node.names if is_terminal_library(a.name))
            elif isinstance(node, ast.ImportFrom):
                name = node.module if is_terminal_library(node.module or "") else ""
            if name:
                found.append(f"{module}:{node.lineno}: {name}")
    return found


def is_terminal_library(name: str) -> bool:
    return name.split(".")[0] in {"click", "rich", "typer"}


def third_party(sources: Mapping[str, str]) -> list[str]:
    """What the modules import when they are imported, outside the package itself."""
    names = set()
    for source in sources.values():
        for node in ast.parse(source).body:
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module or "")
    return sorted(name for name in names if name.split(".")[0] not in {"", "allyouneed"})


def watched_import(sources: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    arguments = [json.dumps(sorted(sources)), json.dumps(third_party(sources))]
    command = [sys.executable, "-W", "error", "-c", WATCHED_IMPORT, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_modules_only_name_things(sources: dict[str, str]) -> None:
    assert acts_on_import(sources) == []


def test_importing_everything_leaves_no_trace(sources: dict[str, str], tmp_path: Path) -> None:
    run = watched_import(sources, tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_nothing_below_cli_prints(sources: dict[str, str]) -> None:
    assert prints(sources) == []


def test_help_does_not_load_torch() -> None:
    script = (
        "import sys; sys.argv = ['allyouneed', *sys.argv[1:]]\n"
        "from allyouneed.cli.app import main\n"
        "try: main()\n"
        "finally: assert not {'torch', 'numpy', 'tokenizers'} & set(sys.modules), 'too much'\n"
    )
    for arguments in (["--help"], ["translate", "--help"], ["--version"]):
        command = [sys.executable, "-c", script, *arguments]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        assert "allyouneed" in run.stdout


@pytest.mark.parametrize("deed", ["print('hello')", "torch.manual_seed(1)", "for x in y: pass"])
def test_the_import_test_can_fail(deed: str) -> None:
    assert acts_on_import({"allyouneed.text.x": f"import torch\n{deed}"}) == [
        f"allyouneed.text.x:2: {deed.removesuffix(' pass')}"
    ]


def test_the_watched_import_can_fail(tmp_path: Path) -> None:
    deeds = [
        "print('hello')",
        "open('left-behind', 'w').close()",
        "torch.manual_seed(1)",
        "os.environ['X'] = '1'",
        "subprocess.run(['true'])",
    ]
    libraries = "import os, subprocess, torch"
    (tmp_path / "noisy.py").write_text("\n".join([libraries, *deeds]))
    run = watched_import({"noisy": libraries}, tmp_path)
    assert run.stdout == "hello\n"
    assert run.stderr.splitlines() == [
        "opened left-behind to write",
        "os.putenv",
        "subprocess.Popen",
        "changed environment",
        "changed random state",
    ]


@pytest.mark.parametrize(
    "deed", ["print(1)", "sys.stderr.write('x')", "import rich.table", "from typer import echo"]
)
def test_the_print_test_can_fail(deed: str) -> None:
    assert len(prints({"allyouneed.training.loop": deed})) == 1
    assert prints({"allyouneed.cli.train": deed}) == []
