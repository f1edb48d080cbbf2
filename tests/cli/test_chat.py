"""The verb chat: through a pipe, for programs, and at a terminal of its own."""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from allyouneed.chat import Chat
from allyouneed.cli.chat_commands import COMMANDS, Leave, answer
from allyouneed.cli.talk import talk
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.errors import UsageError
from allyouneed.loading import load


@pytest.fixture(scope="session")
def parrot(tmp_path_factory: pytest.TempPathFactory, copier_folder: Path) -> Path:
    """A model folder whose model replies what it is told."""
    folder = tmp_path_factory.mktemp("parrot") / "model"
    shutil.copytree(copier_folder, folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["history"] = {"turns": 1, "marks": ["", ""]}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def greedy(call, parrot: Path, stdin: bytes, *more: str):
    return call("chat", "--model", parrot, "--beam", "1", "--engine", "core", *more, stdin=stdin)


def test_one_line_in_one_reply_out(call, parrot: Path) -> None:
    done = greedy(call, parrot, b"b a d c\n\nd c\n")
    assert (done.code, done.lines, done.err) == (0, ["b a d c", "", "d c"], "")


def test_programs_get_an_object_for_every_line(call, parrot: Path) -> None:
    done = greedy(call, parrot, b"b a\n/history\n/reset\n/beam 2\n/why\nd\n", "--json")
    assert (done.code, done.err) == (2, "")
    reply, history, reset, beam, why, after = map(json.loads, done.lines)
    assert why["command"] == "/why"
    assert "no reply yet" in why["error"]
    assert after["reply"] == "d"
    assert reply == {"turn": "b a", "reply": "b a", "notes": []}
    said = [{"who": "you", "text": "b a"}, {"who": "model", "text": "b a"}]
    assert history == {"command": "/history", "answer": said}
    assert reset == {"command": "/reset", "answer": {"forgotten": 2}}
    assert beam["answer"]["beam"] == 2


def test_why_in_a_pipe_goes_beside_the_replies(call, parrot: Path) -> None:
    done = greedy(call, parrot, b"b a\n/why\n/quit\nnever\n")
    assert (done.code, done.lines) == (0, ["b a"])
    assert re.search(r"said +probability +other ways +looked at\n", done.err)
    assert re.search(r"\n␣a +\d\.\d\d  .*  a [01]\.\d\d", done.err)


def test_notes_are_told(call, parrot: Path) -> None:
    done = greedy(call, parrot, b"a " * 30 + b"\n")
    assert "note: 31 tokens, more than the 24 that the model knows well" in done.err
    assert len(done.lines) == 1


def test_a_line_that_cannot_be_used_does_not_end_the_conversation(call, parrot: Path) -> None:
    done = greedy(call, parrot, b"b a\n/usr/bin\n" + b"a " * 600 + b"\nd c\n/quit\n")
    assert (done.code, done.lines) == (2, ["b a", "", "d c"])
    assert "note: /usr/bin: there is no command /usr" in done.err
    assert "write a shorter text" in done.err
    done = greedy(call, parrot, b"a " * 600 + b"\n", "--json")
    assert json.loads(done.lines[0]).keys() == {"turn", "error"}


def test_an_unknown_command_says_which_there_are(call, parrot: Path) -> None:
    done = greedy(call, parrot, b"/resett\n")
    assert done.code == 2
    assert "there is no command /resett; did you mean /reset?" in done.err
    assert all(f"/{name}" in done.err for name in COMMANDS)


def test_samples_follow_from_the_seed(call, parrot: Path) -> None:
    def drawn(*options: str) -> list[str]:
        hot = ("--temperature", "30", "--top-p", "1", "--max-length", "9", "--engine", "core")
        return call("chat", "--model", parrot, *hot, *options, stdin=b"b a d c\nb a\n").lines

    assert drawn("--seed", "5") == drawn("--seed", "5")
    assert drawn("--seed", "5") != drawn("--seed", "6")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--beam", "2", "--top-p", "0.5"), "--top-p is for sampling, but --beam 2 asks"),
        (("--first", "3"), "need --evaluate FILE"),
        (("--temperature", "0"), "temperature=0.0 must be above 0"),
    ],
)
def test_options_that_do_not_go_together(
    call, parrot: Path, options: tuple[str, ...], said: str
) -> None:
    done = call("chat", "--model", parrot, *options)
    assert done.code == 2
    assert said in done.err


def test_a_translator_cannot_chat(call, copier_folder: Path) -> None:
    done = call("chat", "--model", copier_folder)
    assert done.code == 2
    assert "was not trained to reply" in done.err


def test_variety_is_measured_on_a_file(call, parrot: Path, tmp_path: Path) -> None:
    turns = tmp_path / "turns.tsv"
    turns.write_text("b a\td d\nc\td d\na c\tnever\n")
    common = ("chat", "--model", parrot, "--beam", "1", "--evaluate", turns, "--first", "2")
    found = json.loads(call(*common, "--json").out)
    assert found["model"]["texts"] == 2
    assert (found["model"]["words"], found["model"]["distinct_1"]) == (3, 1.0)
    assert (found["file"]["distinct_1"], found["file"]["commonest_share"]) == (1 / 4, 1.0)
    table = call(*common).out
    assert "2 turns of" in table
    assert re.search(r"file .* 4 .* 0\.250 .* 0\.250 .* 100\.0% d d", table)


def test_spaced_files_are_joined_first(call, parrot: Path, tmp_path: Path) -> None:
    (tmp_path / "turns.tsv").write_text("b ?\ta .\n")
    options = ("--evaluate", tmp_path / "turns.tsv", "--spaced", "--json", "--engine", "core")
    found = json.loads(call("chat", "--model", parrot, *options).out)
    assert found["file"]["commonest"] == "a."


def test_commands_change_how_replies_are_found(parrot: Path) -> None:
    chat = Chat(load(parrot, engine="core"))
    assert answer(chat, "/temperature 0.5").text.startswith("replies are sampled: temperature 0.5")
    assert chat.options == SamplingOptions(
        temperature=0.5, top_p=0.9, no_repeat_ngram=3, max_length=80
    )
    assert answer(chat, "/beam 1").text == "replies are found by greedy search"
    assert chat.options == BeamOptions(beam=1, no_repeat_ngram=3, max_length=80)
    assert answer(chat, "/beam").text == "replies are found by greedy search"
    answer(chat, "/temperature 1.5")
    assert chat.options.temperature == 1.5
    before = chat.options
    for wrong in ("/beam 0", "/beam 100000", "/beam x", "/temperature hot", "/temperature -1", "/"):
        with pytest.raises(UsageError):
            answer(chat, wrong)
    assert chat.options == before
    assert "/why" in answer(chat, "/help").text
    assert answer(chat, "/history").text == "there are no turns yet"
    with pytest.raises(Leave):
        answer(chat, "/quit")


def test_history_shows_what_is_out_of_sight(parrot: Path) -> None:
    chat = Chat(load(parrot, engine="core"), BeamOptions(beam=1))
    chat.reply("b a")
    assert answer(chat, "/history").text == "  you: b a  (out of sight)\nmodel: b a  (out of sight)"


class Terminal:
    """A program at a terminal of its own."""

    def __init__(self, *arguments: object) -> None:
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "allyouneed", *map(str, arguments)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "dumb", "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )
        os.close(theirs)
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def comes(self, text: str, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while text not in self.seen:
            if not select.select([self.ours], [], [], max(0, until - time.monotonic()))[0]:
                return False
            self.seen += os.read(self.ours, 1 << 12).decode(errors="replace")
        return True

    def wait_for(self, text: str) -> str:
        """What has come up to and with this text."""
        assert self.comes(text, seconds=120), f"{text!r} did not come, but {self.seen!r}"
        before, found, self.seen = self.seen.partition(text)
        return before + found

    def interrupt(self, until: str) -> None:
        """Ctrl-C, again where it fell between two looks of the line editor."""
        for _ in range(60):
            self.process.send_signal(signal.SIGINT)
            if self.comes(until, seconds=2):
                break
        self.wait_for(until)


@pytest.fixture
def terminal(parrot: Path) -> Iterator[Terminal]:
    at = Terminal("chat", "--model", parrot, "--beam", "1", "--engine", "core")
    yield at
    at.process.kill()
    at.process.wait()
    os.close(at.ours)


def test_a_person_talks_and_leaves(terminal: Terminal) -> None:
    terminal.wait_for("> ")
    terminal.type("b a d c\n")
    terminal.wait_for("\nb a d c\r\n")
    terminal.wait_for("> ")
    terminal.type("/nonsense\n")
    terminal.wait_for("there is no command /nonsense")
    terminal.wait_for("> ")
    terminal.type("half a li")
    terminal.wait_for("half a li")
    terminal.interrupt(until="> ")
    terminal.type("/history\n")
    assert "half" not in terminal.wait_for("model: b a d c").rpartition("/history")[2]
    terminal.wait_for("> ")
    terminal.type("\x04")
    assert terminal.process.wait(timeout=120) == 0


def test_an_interrupt_stops_the_reply_and_not_the_program(
    parrot: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = Chat(load(parrot, engine="core"), BeamOptions(beam=1))
    whole, typed = chat.stream, iter(["b a d c", "b a d c", "/why", ""])
    interrupted = []

    def stream(text: str) -> Iterator[str]:
        for piece in whole(text):
            yield piece
            if not interrupted and piece.endswith("a"):
                interrupted.append(piece)
                raise KeyboardInterrupt

    def line(prompt: str) -> str:
        said = next(typed, None)
        if said is None:
            raise EOFError
        return said

    monkeypatch.setattr(chat, "stream", stream)
    monkeypatch.setattr("builtins.input", line)
    talk(chat)
    shown = capsys.readouterr()
    first, second, header, *_ = shown.out.splitlines()
    assert (first, second) == ("b a", "b a d c")
    assert header.startswith("said")
    assert [turn.text for turn in chat.turns if turn.own] == ["b a", "b a d c"]
