"""The main path runs on a system that lacks what only Unix has.

macOS and Windows are not at hand here. A fresh interpreter loses `fcntl`, forks, users, the signals
of Unix, /proc and the syncing of folders instead, and then translates, serves and trains.
"""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from allyouneed.engine.native.library import NoLibrary, find_library

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 300  # seconds for one interpreter
# Runs before everything else, because Python imports sitecustomize first.
TAKEN_AWAY = """
import asyncio, importlib, os, pathlib, signal, sys

for name in os.environ["FIRST"].split():
    importlib.import_module(name)

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name in {"fcntl", "grp", "pwd", "resource", "termios"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules.pop(name, None)
for name in (
    "register_at_fork", "fork", "forkpty", "getuid", "geteuid", "getgid", "getegid", "chown",
    "sched_getaffinity", "sched_setaffinity", "sysconf", "getpgid", "killpg", "setsid",
    "mkfifo",
):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGXCPU", "SIGPIPE", "SIGALRM"):
    delattr(signal, name)
for name in ("pthread_kill", "pthread_sigmask", "setitimer", "alarm"):
    delattr(signal, name)

def no_handler(*_):
    raise NotImplementedError

asyncio.AbstractEventLoop.add_signal_handler = no_handler
asyncio.unix_events._UnixSelectorEventLoop.add_signal_handler = no_handler

open_descriptor, is_file = os.open, pathlib.Path.is_file

def open_no_folder(path, *arguments, **more):
    if not isinstance(path, int) and os.path.isdir(path):
        raise PermissionError(13, "Permission denied", str(path))
    return open_descriptor(path, *arguments, **more)

def no_proc(path):
    return not str(path).startswith("/proc/") and is_file(path)

os.open, pathlib.Path.is_file = open_no_folder, no_proc
import allyouneed.files
allyouneed.files.WINDOWS = True
"""
SHORT = [
    *("training.steps=2", "schedule.steps=2", "schedule.warmup=1", "validation.sentences=4"),
    *("training.checkpoint_every_steps=1", "training.validate_every_steps=2"),
]
SERVE = """
import signal, threading, time, urllib.request
from allyouneed.cli.app import main

def ask():
    for _ in range(1000):
        try:
            with urllib.request.urlopen("http://127.0.0.1:{port}/ready", timeout=10):
                break
        except OSError:
            time.sleep(0.1)
    data = b"q=Good+morning!&source=en&target=de"
    with urllib.request.urlopen("http://127.0.0.1:{port}/translate", data, 60) as answer:
        print(answer.read().decode(), flush=True)
    signal.raise_signal(signal.SIGINT)

threading.Thread(target=ask, daemon=True).start()
main(["serve", "--model", "en-de", "--port", "{port}", "--keys", "keys.sqlite"])
"""


@pytest.fixture(scope="module", autouse=True)
def compiled() -> Path:
    """The native engine is compiled, so that no fresh interpreter has to."""
    try:
        return find_library().path
    except NoLibrary as error:
        pytest.skip(str(error))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory from which Python imports what takes things away."""
    (tmp_path / "sitecustomize.py").write_text(TAKEN_AWAY)
    return tmp_path


def run(folder: Path, *arguments: str, first: str = "") -> str:
    """What a fresh interpreter prints in the folder. The modules `first` are imported before things
    are taken away, because they tell systems apart by name."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT / "src")]),
            "XDG_DATA_HOME": str(folder / "data"),
            "FIRST": first,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def test_things_are_taken_away(folder: Path) -> None:
    script = """
import asyncio, os, signal
from pathlib import Path
print(hasattr(os, "fork"), hasattr(os, "getuid"), hasattr(signal, "SIGHUP"))
print(Path("/proc/cpuinfo").is_file())
for deed in (lambda: __import__("fcntl"), lambda: os.open(".", os.O_RDONLY)):
    try:
        deed()
    except (ImportError, OSError) as error:
        print(type(error).__name__)
"""
    said = run(folder, "-c", script).split()
    assert said == [*["False"] * 4, "ModuleNotFoundError", "PermissionError"]


def test_the_processor_is_asked_for_its_best_variant(folder: Path, compiled: Path) -> None:
    """By the engine's portable variant, because there is no /proc/cpuinfo."""
    script = "from allyouneed.engine.native.library import find_library; print(find_library().path)"
    assert run(folder, "-c", script).strip() == str(compiled)


def test_translating_a_file(folder: Path) -> None:
    (folder / "note.md").write_text("# Good morning!\n")
    assert run(folder, "-m", "allyouneed", "translate", "Good morning!") == "Guten Morgen!\n"
    run(folder, "-m", "allyouneed", "translate", "note.md", "--to", "note.de.md")
    assert (folder / "note.de.md").read_text() == "# Guten Morgen!\n"


def test_serving_until_ctrl_c(folder: Path) -> None:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    said = run(folder, "-c", SERVE.replace("{port}", str(port)))
    assert json.loads(said)["translatedText"] == "Guten Morgen!"


@pytest.mark.slow
def test_training_and_resuming(folder: Path) -> None:
    """Locks, checkpoints and folders that are renamed are all used."""
    command = ["-m", "allyouneed", "train", "reverse", "--threads", "1", "--into", "run", *SHORT]
    model = run(folder, *command, first="filelock sacrebleu torch")
    assert (folder / model.strip() / "model.safetensors").is_file()
    assert run(folder, *command, "--resume", first="filelock sacrebleu torch") == model
