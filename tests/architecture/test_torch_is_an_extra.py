"""`pip install .` brings no torch: what needs none works, and every other door names the command
that installs it. What the extra `torch` brings is refused here to fresh interpreters, as if it were
not installed."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from allyouneed.cli.app import VERBS
from allyouneed.engine.native.library import NoLibrary, find_library

ROOT = Path(__file__).resolve().parents[2]
REFUSAL = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "tokenizers", "huggingface_hub"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
"""
COMMAND = "pip install 'allyouneed[torch]'"
WITHOUT = {
    "translate": (["translate", "Good morning!"], "Guten Morgen!"),
    "alignments": (["translate", "Good morning!", "--alignments"], "Guten Morgen!\t0-0 1-1"),
    "attention": (["translate", "Good morning!", "--attention"], "█"),
    "streaming": (["translate", "Good morning!", "--stream"], "Guten Morgen!"),
    "a sample": (["translate", "Good morning!", "--sample", "--top-k", "1"], "Guten Morgen!"),
    "float32": (["translate", "Good morning!", "--engine", "cpu-float32"], "Guten Morgen!"),
    "a selected vocabulary": (["translate", "Good morning!", "--json", "--n-best", "2"], "Guten"),
    "tokenize": (["tokenize", "Hello."], "</s>"),
    "evaluate": (["evaluate", "--source", "s", "--reference", "r"], "BLEU"),
    "a plan of training": (["train", "reverse", "--dry-run"], "252,672 parameters"),
    "where": (["where", "label smoothing"], "label_smoothed_loss"),
    "help": (["--help"], "translate"),
    "version": (["--version"], "allyouneed"),
}
PAIRS = ["--source", "s", "--target", "r"]
OTHERS = {  # they say more than the result, on standard error
    "align": (["align", *PAIRS], "\n"),
    "calibrate": (["calibrate", "--model", "copy", "--pairs", "p.tsv", "--evaluate"], "AUROC"),
    "select-vocabulary": (["select-vocabulary", "--model", "copy", *PAIRS], "learned from 2 pairs"),
    "models": (["models"], "en-de"),
    "keys": (["keys", "list", "--keys", "keys.sqlite"], ""),
}
DOORS = {
    "train": ["train", "reverse"],
    "measuring a plan": ["train", "reverse", "--dry-run", "--measure"],
    "score": ["score", "--source", "s", "--target", "r"],
    "look": ["look", "Hello.", "--html", "page.html"],
    "heads": ["heads"],
    "the core engine": ["translate", "Hello.", "--engine", "core"],
    "a GPU": ["translate", "Hello.", "--device", "cuda"],
    "predict": ["predict", "Hello.", "--model", "m"],
    "fill": ["fill", "Hello [MASK].", "--model", "m"],
    "encode": ["encode", "Hello.", "--model", "m"],
    "export": ["export", "--to", "marian", "exported"],
}
# These need a model of another kind, a network, or another extra. Their own tests run them.
ELSEWHERE = {"chat", "fetch", "import", "mcp", "serve"}
NAMES = ["train", "look", "capture", "intervene", "trace", "Transformer", "EncoderModel"]


@pytest.fixture(scope="module")
def library() -> None:
    """The native engine is compiled, so that no fresh interpreter has to."""
    try:
        find_library()
    except NoLibrary as error:
        pytest.skip(str(error))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two sentence pairs, and what refuses torch."""
    (tmp_path / "s").write_text("Good morning!\nA dog.\n")
    (tmp_path / "r").write_text("Guten Morgen!\nEin Hund.\n")
    (tmp_path / "sitecustomize.py").write_text(REFUSAL)
    return tmp_path


def run(folder: Path, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    paths = [str(folder), str(ROOT / "src")]
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", ["torch", "tokenizers"])
def test_the_extra_is_refused(name: str, folder: Path) -> None:
    done = run(folder, ["-c", f"import {name}"])
    assert f"ModuleNotFoundError: No module named '{name}'" in done.stderr


def test_learning_a_vocabulary_names_the_command(folder: Path) -> None:
    script = """
import allyouneed
from allyouneed.text.tokenizer import Tokenizer
try:
    Tokenizer.train(["a"], 300)
except allyouneed.AllYouNeedError as error:
    print(error)
"""
    done = run(folder, ["-c", script])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("learning a vocabulary needs tokenizers, which is not installed")
    assert COMMAND in done.stdout


@pytest.mark.parametrize("deed", WITHOUT)
def test_what_needs_no_torch(deed: str, folder: Path, library: None) -> None:
    arguments, wanted = WITHOUT[deed]
    done = run(folder, ["-m", "allyouneed", *arguments])
    assert (done.returncode, done.stderr) == (0, "")
    assert wanted in done.stdout


@pytest.mark.parametrize("deed", OTHERS)
def test_others_that_need_no_torch(deed: str, folder: Path, library: None) -> None:
    shutil.copytree(ROOT / "src" / "allyouneed" / "models" / "en-de", folder / "copy")
    (folder / "p.tsv").write_text("Good morning!\tGuten Morgen!\nA dog.\tEin Hund.\n")
    arguments, wanted = OTHERS[deed]
    done = run(folder, ["-m", "allyouneed", *arguments])
    assert done.returncode == 0, done.stderr
    assert COMMAND not in done.stderr
    assert wanted in done.stdout


def test_every_verb_is_tried() -> None:
    tried = [*(arguments for arguments, _ in {**WITHOUT, **OTHERS}.values()), *DOORS.values()]
    assert {arguments[0] for arguments in tried} >= {*VERBS} - ELSEWHERE
    assert {*VERBS} > ELSEWHERE


@pytest.mark.parametrize("deed", DOORS)
def test_what_needs_torch_names_the_command(deed: str, folder: Path, library: None) -> None:
    done = run(folder, ["-m", "allyouneed", *DOORS[deed]])
    assert done.returncode in (1, 2)
    assert done.stderr.count("\n") == 1
    assert COMMAND in done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_public_names_name_the_command(name: str, folder: Path) -> None:
    script = f"""
import allyouneed
try:
    allyouneed.{name}
except allyouneed.AllYouNeedError as error:
    print(error)
"""
    done = run(folder, ["-c", script])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"allyouneed.{name} needs torch")
    assert COMMAND in done.stdout


def test_methods_of_a_translator_name_the_command(folder: Path, library: None) -> None:
    script = """
import json
import allyouneed
translator, told = allyouneed.load("en-de"), []
for deed in (lambda: translator.model, lambda: translator.score(["a"], ["b"])):
    try:
        deed()
    except allyouneed.AllYouNeedError as error:
        told.append(str(error))
print(json.dumps(told))
"""
    done = run(folder, ["-c", script])
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert len(told) == 2
    assert all(COMMAND in line for line in told)


def test_a_machine_without_torch_and_without_a_compiler(folder: Path) -> None:
    script = """
from allyouneed.engine.native import library
library.found = lambda *_: (_ for _ in ()).throw(library.NoLibrary("there is no C++ compiler"))
from allyouneed.cli.app import main
main(["translate", "Hello."])
"""
    done = run(folder, ["-c", script])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "the native engine cannot run (there is no C++ compiler)" in done.stderr
    assert COMMAND in done.stderr


def test_the_extra_all_has_every_extra_for_users() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    [everything] = extras["all"]
    named = set(everything.removeprefix("allyouneed[").removesuffix("]").split(","))
    assert named == set(extras) - {"all", "docs", "dev"}
    bases = {re.split(r"[>=;]", one)[0] for one in project["dependencies"]}
    assert not bases & {re.split(r"[>=;]", one)[0] for one in extras["torch"]}
