"""What must be whole or not there is written by `files.py` alone."""

import re

# Downloads keep their unfinished file on purpose, to go on from; the compiler's output is renamed
# by a script that also runs where the package is not installed yet; checkpoints are moved about.
RENAMES = re.compile(r"\.rename\(|os\.replace\(|os\.rename\(|fsync\(")
ALLOWED = {
    "allyouneed.files",
    "allyouneed.engine.native.build",
    "allyouneed.training.checkpoint",
}


def writers(sources: dict[str, str]) -> set[str]:
    return {module for module, source in sources.items() if RENAMES.search(source)}


def test_one_module_writes_whole_files(sources: dict[str, str]) -> None:
    assert writers(sources) <= ALLOWED
    assert "allyouneed.files" in writers(sources)


def test_the_test_can_fail() -> None:
    assert writers({"a": "beside.rename(path)", "b": "whole_file(path)"}) == {"a"}
