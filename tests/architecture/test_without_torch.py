"""Translating by the native engine needs no torch, nor anything else that takes long to import."""

import subprocess
import sys

import pytest

HEAVY = ["torch", "pyarrow", "sacrebleu", "transformers", "backports.zstd", "pandas", "scipy"]

# Runs in a fresh interpreter, with an engine that says "ok" in place of the native one.
STUB = """
import sys
import allyouneed.engine.choice as choice
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.model_folder.folder import open_model_folder

class Stub:
    name, description, selection = "cpu-int8", "a stub", None
    def __init__(self, folder):
        self.config, self.notes, self.tokenizer = folder.config, [], folder.tokenizer
    def search(self, sources, options, prefixes=None, *others, **more):
        ids = tuple(self.tokenizer.encode("This is ok.").ids)
        log_p = (-0.01,) * len(ids)
        return [[Hypothesis(ids, log_p, sum(log_p), sum(log_p), True)] for _ in sources]

choice._why_not_native = lambda folder: None
choice._native = lambda folder, name, threads: (Stub(folder), [])
"""
DEEDS = {
    "importing the translator": "import allyouneed.translation.translator",
    "importing the verb": "import allyouneed.cli.translate",
    "a translation": "import allyouneed; print(allyouneed.load('en-de')('I am here.').text)",
    "lines": (
        "import allyouneed\n"
        "for found in allyouneed.load('en-de').translate_lines(['a', '', 'b\\nc']):\n"
        "    print(found.text)"
    ),
    "the verb": (
        "from allyouneed.cli.app import main\n"
        "sys.argv[1:] = ['translate', 'I am here.', '--beam', '3', '--scores', '--json']\n"
        "try: main()\n"
        "except SystemExit: pass"
    ),
    "weights as arrays": "print(len(open_model_folder('en-de').load_arrays()), 'ok')",
}
TELL = f"\nfor name in {HEAVY}: assert name not in sys.modules, name"


def run(script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", STUB + script + TELL]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("deed", DEEDS)
def test_nothing_heavy_is_imported(deed: str) -> None:
    done = run(DEEDS[deed])
    assert (done.returncode, done.stderr) == (0, "")
    assert "ok" in done.stdout or deed.startswith("importing")


def test_the_library_alone_imports_no_schema_either() -> None:
    done = run(
        DEEDS["a translation"] + "\nassert not {'pydantic', 'rich', 'typer'} & {*sys.modules}"
    )
    assert (done.returncode, done.stdout) == (0, "This is ok.\n"), done.stderr


def test_the_verb_without_options_sets_up_no_parser() -> None:
    done = run(
        "from allyouneed.cli.app import main\n"
        "try: main(['translate', 'I am here.'])\n"
        "except SystemExit: pass\n"
        "assert not {'pydantic', 'rich.console', 'typer', 'concurrent.futures'} & {*sys.modules}"
    )
    assert (done.returncode, done.stdout) == (0, "This is ok.\n"), done.stderr


def test_the_test_can_fail() -> None:
    done = run(DEEDS["a translation"] + "; allyouneed.load('en-de').model")
    assert done.returncode == 1
    assert "AssertionError: torch" in done.stderr
