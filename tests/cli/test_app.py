"""How the command line ends: exit codes, one-line errors, tracebacks only when asked for."""

import errno
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import allyouneed
from allyouneed.cli import app
from allyouneed.errors import DataError, RecipeError

COMMAND = [sys.executable, "-c", "from allyouneed.cli.app import main; main()"]


def test_without_a_verb_there_is_help(call) -> None:
    shown = call()
    assert shown.code == 0
    for verb in ("translate", "tokenize", "train", "evaluate", "score", "where"):
        assert verb in shown.out


def test_version(call) -> None:
    assert call("--version").out == f"allyouneed {allyouneed.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["wher"], "Did you mean 'where'?"),
        (["translate", "--beams", "3", "x"], "--beams"),
        (["translate", "--beam", "wide", "x"], "--beam"),
        (["score", "--source", "x"], "--target"),
        (["train"], "RECIPE"),
        (["translate", "--threads", "0", "x"], "--threads"),
    ],
)
def test_a_wrong_call_is_told_in_one_line(call, arguments: list[str], said: str) -> None:
    ended = call(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.startswith("error: ")
    assert said in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (DataError("x.de:3: not\nUTF-8"), 1, "error: x.de:3: not UTF-8\n"),
        (RecipeError("unknown key a.b"), 2, "error: unknown key a.b\n"),
        (
            PermissionError(13, "Permission denied", "out.de"),
            1,
            "error: out.de: Permission denied\n",
        ),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            1,
            "error: the output: No space left on device; free some space, then try again\n",
        ),
        (KeyError("x"), 1, "error: KeyError: 'x'; --debug shows the place\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_errors_of_the_work(
    call, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, said: str
) -> None:
    def fail(*_: object) -> int:
        raise error

    monkeypatch.setattr(app, "run", fail)
    ended = call("where")
    assert (ended.code, ended.out, ended.err) == (code, "", said)


def test_debug_shows_the_traceback(call) -> None:
    quiet = call("tokenize", "--model", "no-such-model", "x")
    loud = call("tokenize", "--debug", "--model", "no-such-model", "x")
    assert quiet.code == loud.code == 1
    assert "Traceback" not in quiet.err
    assert "Traceback" in loud.err
    assert loud.err.splitlines()[-1] == quiet.err.splitlines()[-1]


def test_a_reader_that_has_enough_is_no_error(model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "input").write_text("Übung.\n" * 20_000, encoding="utf-8")
    with (tmp_path / "input").open("rb") as lines:
        running = subprocess.Popen(
            [*COMMAND, "tokenize", "--model", model_folder],
            stdin=lines,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
        )
    assert running.stdout is not None
    first = running.stdout.readline().decode()  # UTF-8, whatever the environment says
    running.stdout.close()
    _, said = running.communicate(timeout=60)
    assert "\u2423" in first
    assert (running.returncode, said) == (0, b"")


@pytest.mark.parametrize(
    ("closed", "code", "lines", "said"),
    [(">&-", 2, 0, "error: standard output is closed"), ("2>&-", 0, 2, "")],
)
def test_closed_streams(closed: str, code: int, lines: int, said: str) -> None:
    """A note that nobody can be told of is no reason to lose what was asked for."""
    call = f"printf 'caf\\351\\n' | {shlex.join([*COMMAND, 'tokenize'])} {closed}"
    done = subprocess.run(["sh", "-c", call], capture_output=True, text=True)
    assert (done.returncode, done.stdout.count("\n")) == (code, lines)
    assert said in done.stderr


def test_what_is_no_text_is_written_as_the_replacement_character() -> None:
    done = subprocess.run(
        [*COMMAND, "translate", "--json", b"caf\xe9"], capture_output=True, check=True
    )
    assert json.loads(done.stdout)["source"] == "caf\ufffd"


def test_ctrl_c_ends_without_a_traceback(model_folder: Path) -> None:
    waiting = subprocess.Popen(
        [*COMMAND, "tokenize", "--model", model_folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert waiting.stdin is not None
    assert waiting.stdout is not None
    waiting.stdin.write("Hello.\n")
    waiting.stdin.flush()
    assert waiting.stdout.readline() != ""  # a line is answered while the next is awaited
    waiting.send_signal(2)
    _, said = waiting.communicate(timeout=60)
    assert (waiting.returncode, said) == (130, "")


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_a_first_translation_starts_no_threads_for_numpy() -> None:
    script = """if True:
        import os, sys
        from allyouneed.cli.app import BLAS_THREADS, import_numpy
        import_numpy()
        print(len(os.listdir("/proc/self/task")), BLAS_THREADS in os.environ)
        print("numpy" in sys.modules)
    """
    free = {name: value for name, value in os.environ.items() if name != app.BLAS_THREADS}
    done = subprocess.run(
        [sys.executable, "-c", script], env=free, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1", "False", "True"]
