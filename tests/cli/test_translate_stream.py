"""`allyouneed translate --stream`, and how a run over many lines ends."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from allyouneed.translation.translator import Translator

COMMAND = [sys.executable, "-c", "from allyouneed.cli.app import main; main()", "translate"]


@pytest.fixture
def command(copier_folder: Path) -> list[str]:
    return [*COMMAND, "--engine", "core", "--model", str(copier_folder)]


def test_a_stream_is_the_greedy_translation(call, copier_folder: Path) -> None:
    text = "für 😀\n  A man rides a bike. Where is the station? The dog sleeps.\n"
    verb = ("translate", "--model", copier_folder, "--engine", "core")
    streamed, whole = call(*verb, "--stream", text, "a"), call(*verb, "--beam", 1, text, "a")
    assert (streamed.code, streamed.out) == (0, whole.out)
    assert streamed.out == f"{text}\na\n"
    assert "longer than the 24 tokens" in streamed.err


def test_every_line_streams_into_one_line(call, copier_folder: Path) -> None:
    text = "A man.\n\n  \nB\u2028C\nlast"
    verb = ("translate", "--model", copier_folder, "--engine", "core", "--stream")
    assert call(*verb, stdin=text.encode()).lines == text.split("\n")


def test_a_sample_streams_too(call, model_folder: Path) -> None:
    verb = ("translate", "--model", model_folder, "--engine", "core", "--sample", "--seed", 4)
    lengths = ("--max-length", 12)
    streamed = call(*verb, *lengths, "--stream", stdin=b"ab\ncd\n")
    assert streamed.out == call(*verb, *lengths, stdin=b"ab\ncd\n").out != ""


def test_it_is_written_while_it_grows(
    call, copier_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str] = []

    def stream(self: Translator, *_: object, **__: object):
        for piece in ("A ", "man", "."):
            yield piece
            seen.append(capsys.readouterr().out)

    monkeypatch.setattr(Translator, "stream", stream)
    done = call("translate", "--model", copier_folder, "--engine", "core", "--stream", "x")
    assert (seen, done.out) == (["A ", "man", "."], "\n")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--beam", "4"], "--stream shows each word as soon as it is found, but --beam 4 may"),
        (["--beam", "0"], "--beam 0"),
        (["--n-best", "2"], "--n-best 2 may change earlier words"),
        (["--n-best", "2", "--sample"], "--n-best 2"),
        (["--json"], "--json needs the whole translation"),
        (["--scores"], "--scores needs the whole translation"),
        (["--alignments"], "--alignments needs the whole"),
        (["--attention"], "--attention needs the whole translation, but --stream"),
    ],
)
def test_what_cannot_be_streamed(call, copier_folder: Path, options: list[str], said: str) -> None:
    ended = call("translate", "--model", copier_folder, "--stream", *options, "x")
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert "leave one of them out" in ended.err
    assert ended.err.count("\n") == 1


# Many lines


def test_many_lines_come_through_in_order(call, copier_folder: Path) -> None:
    lines = [f"line {n % 7} of {n}" for n in range(3000)]  # more than one portion
    text = "\n".join(lines).encode()
    verb = ("translate", "--model", copier_folder, "--engine", "core", "--beam", 1)
    assert call(*verb, stdin=text).lines == lines


def test_whoever_has_read_enough_may_close_the_pipe(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "in").write_text("A man rides a bike.\n" * 50_000)
    with (
        (tmp_path / "in").open() as lines,
        subprocess.Popen(
            command, stdin=lines, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as running,
    ):
        assert running.stdout is not None
        assert running.stdout.readline() == "A man rides a bike.\n"
        running.stdout.close()
        assert running.wait(30) == 0
        assert running.stderr is not None
        assert running.stderr.read() == ""


@pytest.mark.parametrize("closed", [False, True], ids=["waiting for input", "in a batch"])
def test_an_interrupt_ends_it_at_once(closed: bool, command: list[str]) -> None:
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(b"A man.\n")
        running.stdin.flush()
        assert running.stdout.readline() == b"A man.\n"
        if closed:
            running.stdin.write(b"A man rides a bike.\n" * 3000)
            running.stdin.flush()
            time.sleep(0.3)
        began = time.monotonic()
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=30)
        assert time.monotonic() - began < 5
    assert (running.returncode, said) == (130, b"")


def test_lines_before_an_error_are_given_out(
    call, copier_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from allyouneed.cli import lines

    def broken(*_: object):
        yield ["A man.", "A dog."]
        raise OSError(5, "Input/output error", "standard input")

    monkeypatch.setattr(lines, "arriving_lines", broken)
    ended = call("translate", "--model", copier_folder, "--engine", "core", stdin=b"")
    assert (ended.code, ended.lines) == (1, ["A man.", "A dog."])
    assert "standard input: Input/output error" in ended.err
