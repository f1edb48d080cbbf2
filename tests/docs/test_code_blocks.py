"""Every code block of the README and the documentation is run; what cannot be is checked.

The blocks of a page run in order, Python's in one namespace, in a folder that holds what the pages
speak of: some pairs, a text, a model. What a page shows as output has to come out.
"""

import contextlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from code_blocks import (
    Block,
    blocks,
    commands,
    inline_commands,
    pages,
    wrong_with,
    wrong_with_command,
)

from allyouneed.model_folder.folder import open_model_folder

ENGLISH = ["Hello!", "Good morning!", "I am hungry.", "Where is the station?", "It is raining."]
GERMAN = ["Hallo!", "Guten Morgen!", "Ich habe Hunger.", "Wo ist der Bahnhof?", "Es regnet."]
NUMBER = re.compile(r"-?\d+\.\d+")
CLOSE = 0.02  # engines of other processors differ by so much
SEPARATOR = "\x1e"
LONGEST = 300  # seconds of a block


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that a page's reader is in."""
    for part in ("train", "valid", "test"):
        (tmp_path / f"{part}.en").write_text("".join(f"{line}\n" for line in ENGLISH), "utf-8")
        (tmp_path / f"{part}.de").write_text("".join(f"{line}\n" for line in GERMAN), "utf-8")
    (tmp_path / "input.txt").write_text("A man rides a bike.\nGood morning!\n", "utf-8")
    bundled = open_model_folder("en-de").path
    shutil.copytree(bundled, tmp_path / "my-model")
    programs = tmp_path.parent / f"{tmp_path.name}-bin"
    programs.mkdir()
    start = "from allyouneed.cli.app import main; main()"
    for name, call in {"allyouneed": f" -c '{start}'", "python": ""}.items():
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{call} "$@"\n', "utf-8")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("ALLYOUNEED_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    threads = torch.get_num_threads()
    yield tmp_path
    torch.set_num_threads(threads)


def run_python(block: Block, namespace: dict[str, Any]) -> str:
    code = compile("\n" * (block.line) + block.text, str(block.page), "exec")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    return printed.getvalue()


def run_shell(block: Block) -> list[str]:
    """The output of each of the block's commands."""
    script = "".join(f"{command}\nprintf '{SEPARATOR}'\n" for command, _ in commands(block.text))
    bash = ["bash", "-euo", "pipefail", "-c", script]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(bash, **pipes, start_new_session=True) as running:
        try:
            out, err = running.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)  # what the shell started, too
            raise
    assert running.returncode == 0, f"{block.place}: {err}"
    return out.split(SEPARATOR)


def unlike(found: str, shown: str) -> str:
    """How an output differs from the one that is shown, "" where it does not. Numbers with a point
    may differ a little; a line of three dots stands for any lines."""
    pattern = []
    numbers = [float(number) for number in NUMBER.findall(shown)]
    for line in shown.rstrip().split("\n"):
        parts = [re.escape(part) for part in NUMBER.split(line.rstrip())]
        pattern.append(r"(?s:.*)" if line.strip() == "..." else r"(-?\d+\.\d+)".join(parts))
    matched = re.fullmatch(
        r"\n".join(pattern), "\n".join(map(str.rstrip, found.rstrip().split("\n")))
    )
    if matched is None:
        return f"not as shown:\n{found}"
    pairs = zip(map(float, matched.groups()), numbers, strict=True)
    return "".join(f"{new} for {old}; " for new, old in pairs if abs(new - old) > CLOSE)


def faults_of_page(page: Path) -> list[str]:
    """Runs a page's blocks in order. Lists the outputs that are not as the page shows them."""
    faults: list[str] = []
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed: str | None = ""
    for block in blocks(page):
        if block.file:
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.not_run:
            printed = None
        elif block.kind == "shown":
            if printed is not None and (difference := unlike(printed, block.text)):
                faults.append(f"{block.place}: {difference}")
        elif block.kind == "python":
            printed = run_python(block, namespace)
        elif block.kind == "shell":
            outputs = run_shell(block)
            for (command, shown), found in zip(commands(block.text), outputs, strict=False):
                if shown and (difference := unlike(found, shown)):
                    faults.append(f"{block.place}: {command}: {difference}")
            printed = "".join(outputs)
    return faults


def runnable(page: Path) -> bool:
    return any(b.kind in ("python", "shell") and not b.not_run for b in blocks(page))


@pytest.mark.parametrize("page", [page for page in pages() if runnable(page)], ids=str)
def test_the_blocks_of_a_page_run(page: Path, workplace: Path) -> None:
    assert faults_of_page(page) == []


@pytest.mark.parametrize("page", pages(), ids=str)
def test_nothing_is_wrong_with_the_rest(page: Path) -> None:
    wrong = [f"{block.place}: {what}" for block in blocks(page) for what in wrong_with(block)]
    wrong += [f"{page}: `{c}`: {w}" for c in inline_commands(page) for w in wrong_with_command(c)]
    assert wrong == []


def test_most_blocks_run_and_the_rest_says_why_not() -> None:
    every = [block for page in pages() for block in blocks(page) if block.kind != "shown"]
    left = [block for block in every if block.not_run]
    assert len(every) > 20
    assert len(left) < len(every) / 2, [block.place for block in left]
    assert [block.place for block in left if len(block.not_run.split()) < 3] == []
