"""What must be whole or not there is written by `files.py` alone."""

import ast

# The compiler's output is renamed by a script that also runs where the package is not installed
# yet; a library without the digest beside it is compiled again. Checkpoints are moved about.
ALLOWED = {
    "allyouneed.files",
    "allyouneed.engine.native.build",
    "allyouneed.training.checkpoint",
}


def renames(call: ast.AST) -> bool:
    """Whether it renames or syncs a file. `str.replace` has two arguments, `Path.replace` one."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    name, of = call.func.attr, ast.unparse(call.func.value)
    one = len(call.args) + len(call.keywords) == 1 and all(k.arg == "target" for k in call.keywords)
    return name in ("rename", "fsync") or (name == "replace" and (of == "os" or one))


def writers(sources: dict[str, str]) -> set[str]:
    return {
        module for module, text in sources.items() if any(map(renames, ast.walk(ast.parse(text))))
    }


def test_one_module_writes_whole_files(sources: dict[str, str]) -> None:
    assert writers(sources) <= ALLOWED
    assert "allyouneed.files" in writers(sources)


def test_the_test_can_fail() -> None:
    assert writers({"a": "beside.rename(path)", "b": "whole_file(path)"}) == {"a"}
    replacing = {
        "a": 'Path(a).replace(b.with_suffix(".x"))',
        "b": "os.replace(a, b)",
        "c": "a.replace(target=b)",
        "d": 'text.replace("(", ")")',
        "e": "written.replace(parameters=single)",
    }
    assert writers(replacing) == {"a", "b", "c"}
