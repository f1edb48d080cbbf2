"""`allyouneed translate`, with a model that gives back what it is given."""

import json
import math
import os
import pty
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from allyouneed.engine import choice

COMMAND = [sys.executable, "-c", "from allyouneed.cli.app import main; main()", "translate"]


def test_text_as_arguments(call, copier_folder: Path) -> None:
    texts = ["A man rides a bike.", "Der Hund schläft."]
    done = call("translate", "--model", copier_folder, "--engine", "core", *texts)
    assert (done.code, done.err) == (0, "")
    assert done.lines == texts


def test_every_line_gives_one_line(call, copier_folder: Path) -> None:
    text = "A man.\n\n  \nA\x0bB\u2028C\n</s>\r\nlast"
    done = call("translate", "--model", copier_folder, stdin=text.encode())
    assert done.code == 0
    assert done.lines == text.split("\n")


def test_a_closed_standard_input(copier_folder: Path) -> None:
    command = " ".join(map(shlex.quote, [*COMMAND, "--model", str(copier_folder)]))
    run = subprocess.run(
        ["sh", "-c", f"{command} <&-"], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("error: standard input is closed")


def test_no_lines_give_none(call, copier_folder: Path) -> None:
    done = call("translate", "--model", copier_folder, "--engine", "core", stdin=b"")
    assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.parametrize(
    "line", ["a\x00b", "שלום world", "👩‍👩‍👧 emoji", "e\u0301 ligature ﬁ", "\ufffd"]
)
def test_odd_lines_come_through(call, copier_folder: Path, line: str) -> None:
    assert call("translate", "--model", copier_folder, stdin=line.encode()).lines == [line]


def test_what_is_no_utf8_is_noted_with_its_line(call, copier_folder: Path) -> None:
    done = call("translate", "--model", copier_folder, stdin=b"one\nt\xffo\n")
    assert done.lines == ["one", "t\ufffdo"]
    assert "note: line 2: byte 2 (0xFF) is not UTF-8" in done.err


def test_utf16_is_translated(call, copier_folder: Path) -> None:
    done = call("translate", "--model", copier_folder, stdin="für\nA man.\n".encode("utf-16"))
    assert (done.code, done.lines) == (0, ["für", "A man."])
    assert done.err == "note: standard input is UTF-16; the results are UTF-8\n"


@pytest.mark.parametrize("options", [(), ("--stream",)])
def test_names_of_documents_are_told(
    call, copier_folder: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    document, nowhere = tmp_path / "d.docx", tmp_path / "no.docx"
    document.touch()
    verb = ("translate", "--model", copier_folder, *options)
    done = call(*verb, document)
    assert (done.code, done.lines) == (0, [str(document)])
    assert f"add --output {tmp_path / 'd.translated.docx'}" in done.err
    assert f"there is no file {nowhere}; it is translated as text" in call(*verb, nowhere).err
    done = call("translate", *options, document, "--to", "fr")
    assert f"add --output {tmp_path / 'd.fr.docx'}" in done.err


def test_a_lone_surrogate_is_noted(call, copier_folder: Path) -> None:
    done = call("translate", "--model", copier_folder, "a\udcffb")
    assert done.lines == ["a\ufffdb"]
    assert "note: text 1: 1 lone surrogate" in done.err


def test_a_line_longer_than_the_model_is_translated_in_parts(call, copier_folder: Path) -> None:
    line = "A man rides a bike. " * 200
    done = call("translate", "--model", copier_folder, stdin=line.encode())
    assert done.lines == [line]
    assert "note: line 1: longer than" in done.err


def test_a_note_that_many_lines_share_is_told_once_and_counted(call, copier_folder: Path) -> None:
    long = "A man rides a bike. "
    lines = [long * 200, "short", *[long * (100 + n) for n in range(12)]]
    done = call("translate", "--model", copier_folder, stdin="\n".join(lines).encode())
    assert done.lines == lines
    first, summary = [line for line in done.err.splitlines() if "line" in line]
    assert first.startswith("note: line 1: longer than")
    assert summary == "note: 12 more lines like line 1: 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ..."


def test_results_go_into_a_file(call, copier_folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    done = call("translate", "--model", copier_folder, "--output", file, stdin="a\n\né\n".encode())
    assert (done.code, done.out) == (0, "")
    assert file.read_bytes() == "a\n\né\n".encode()


def test_a_file_of_results_is_whole_or_as_it_was(call, copier_folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    file.write_text("before")
    wrong = ("--prefix", "x" * 10_000)
    done = call("translate", "--model", copier_folder, *wrong, "--output", file, stdin=b"a\n")
    assert done.code != 0
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]
    nowhere = tmp_path / "no" / "out.txt"
    done = call("translate", "--model", copier_folder, "--output", nowhere, stdin=b"a\n")
    assert (done.code, done.out) == (2, "")
    assert f"--output {nowhere}: there is no folder {nowhere.parent}" in done.err
    done = call("translate", "--model", copier_folder, "--output", tmp_path, stdin=b"a\n")
    assert (done.code, done.out) == (2, "")
    assert f"--output {tmp_path} is a folder; name a file" in done.err
    done = call("translate", "--output", nowhere, "Hello.")
    assert (done.code, list(tmp_path.iterdir())) == (2, [file])


def at_a_terminal(tmp_path: Path, *arguments: str) -> str:
    """What standard error, a terminal, gets while the lines of a file are translated."""
    ours, theirs = pty.openpty()
    file = tmp_path / "in.txt"
    file.write_text("A man.\n" * 40)
    with file.open("rb") as stdin:
        done = subprocess.Popen(
            [*COMMAND, *arguments], stdin=stdin, stdout=subprocess.DEVNULL, stderr=theirs
        )
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # the terminal is closed
            while more := os.read(ours, 1 << 16):
                shown += more
        assert done.wait(60) == 0
    os.close(ours)
    return shown.decode()


def test_a_file_has_a_bar_at_a_terminal(copier_folder: Path, tmp_path: Path) -> None:
    shown = at_a_terminal(tmp_path, "--model", str(copier_folder))
    assert "100 %  40 lines" in shown


def test_texts_have_no_bar(copier_folder: Path, tmp_path: Path) -> None:
    assert at_a_terminal(tmp_path, "--model", str(copier_folder), "A man.") == ""


def test_an_answer_comes_before_the_next_line(copier_folder: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "--model", copier_folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for line in ("A man.\n", "\n", "A dog.\n"):
            running.stdin.write(line)
            running.stdin.flush()
            assert running.stdout.readline() == line
        running.stdin.close()
        assert running.stdout.read() == ""
    assert running.returncode == 0


def test_scores_stand_before_the_text(call, copier_folder: Path) -> None:
    (line,) = call("translate", "--model", copier_folder, "--scores", "A man.").lines
    h, probability, text = line.split("\t")
    assert text == "A man."
    assert -0.01 < float(h) < 0
    assert float(probability) == pytest.approx(math.exp(float(h)), abs=1e-4)


def test_n_best_are_numbered_and_links_follow(call, copier_folder: Path) -> None:
    done = call(
        "translate", "--model", copier_folder, "--n-best", 5, "--alignments", stdin=b"a b\nc"
    )
    rows = [line.split("\t") for line in done.lines]
    assert [row[:2] for row in rows] == [[str(n), str(r)] for n in (1, 2) for r in range(1, 6)]
    assert rows[0][2:] == ["a b", "0-0 1-1"]
    assert len({row[2] for row in rows[:5]}) == 5


def test_json_holds_everything(call, copier_folder: Path) -> None:
    done = call(
        *("translate", "--model", copier_folder, "--json", "--n-best", 2, "--attention"),
        *("--alignments", "A bike.", ""),
    )
    first, blank = map(json.loads, done.lines)
    assert first["text"] == "A bike."
    assert first["average_log_likelihood"] == pytest.approx(
        first["log_probability"] / len(first["tokens"])
    )
    assert first["probability"] == pytest.approx(math.exp(first["average_log_likelihood"]))
    assert first["alignment"] == "0-0 1-1"
    assert len(first["alternatives"]) == 2
    assert first["alternatives"][0]["text"] == "A bike."
    weights = first["attention"]["weights"]
    assert len(weights) == len(first["attention"]["target"]) == len(first["tokens"])
    assert all(sum(row) == pytest.approx(1, abs=1e-4) for row in weights)
    assert (blank["text"], blank["tokens"], blank["attention"]) == ("", [], None)


def test_the_picture_shows_what_was_looked_at(call, copier_folder: Path) -> None:
    text, head, *rows = call("translate", "--model", copier_folder, "--attention", "A dog").lines
    assert text == "A dog"
    assert head.split()[-2:] == ["g", "</s>"]
    marks = [row.index("█") for row in rows]
    assert marks == sorted(marks)  # a copy is read from left to right
    assert len(set(marks)) == len(marks)


def test_a_prefix_is_what_it_begins_with(call, copier_folder: Path) -> None:
    done = call("translate", "--model", copier_folder, "--prefix", "The", "A dog.")
    assert done.lines[0].startswith("The")


def test_lengths_are_kept(call, copier_folder: Path) -> None:
    done = call("translate", "--model", copier_folder, "--json", "--max-length", 4, "A man rides.")
    assert len(json.loads(done.lines[0])["tokens"]) <= 4
    done = call("translate", "--model", copier_folder, "--json", "--min-length", 12, "A dog")
    assert len(json.loads(done.lines[0])["tokens"]) >= 12


def test_samples_follow_from_the_seed_however_they_arrive(call, model_folder: Path) -> None:
    options = ("translate", "--model", model_folder, "--json", "--sample", "--temperature", 3)

    def drawn(seed: int, *texts: str, stdin: bytes = b"") -> list[str]:
        lines = call(*options, "--seed", seed, *texts, stdin=stdin).lines
        return [json.loads(line)["text"] for line in lines]

    one = drawn(1, "Hello.", "Bye.")
    assert drawn(1, stdin=b"Hello.\nBye.\n") == one
    assert drawn(1, "Bye.") == one[1:]
    assert drawn(2, "Hello.", "Bye.") != one


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--temperature", "2"], "--temperature is for sampling"),
        (["--top-k", "2"], "--top-k is for sampling"),
        (["--sample", "--beam", "3"], "--beam is for beam search"),
        (["--sample", "--length-penalty", "1"], "--length-penalty is for beam search"),
        (["--beam", "2", "--n-best", "3"], "n_best=3"),
        (["--beam", "0"], "beam=0"),
        (["--beam", "1001"], "beam=1001 must be at most 1000"),
        (["--sample", "--n-best", "10001"], "samples=10001 must be at most 10000"),
        (["--length-penalty", "-1"], "alpha=-1"),
        (["--sample", "--top-p", "2"], "top_p=2"),
        (["--max-length", "1"], "max_length=1"),
        (["--device", "abacus"], "abacus"),
        (["--engine", "steam"], "steam"),
    ],
)
def test_options_that_contradict_or_do_not_exist(
    call, copier_folder: Path, options: list[str], said: str
) -> None:
    ended = call("translate", "--model", copier_folder, *options, "x")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: ")
    assert said in ended.err
    assert ended.err.count("\n") == 1


def test_what_runs_is_said_to_those_who_ask(call, copier_folder: Path) -> None:
    done = call("translate", "--model", copier_folder, "--engine", "core", "--debug", "--json", "A")
    assert done.err == "note: engine core: float32, torch, the paper's code on CPU\n"
    assert json.loads(done.lines[0])["engine"] == "core"


def test_what_runs_instead_is_always_said(
    call, copier_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "_why_not_native", lambda folder: "no compiler")
    done = call("translate", "--model", copier_folder, "A", "B")
    assert done.lines == ["A", "B"]
    assert done.err == (
        "note: the native engine cannot run (no compiler); core runs instead, with torch\n"
    )


def test_literals_stay_unless_told_otherwise(call) -> None:
    text = "Write to anna@example.org about {name}."
    (kept,) = call("translate", text).lines
    assert "anna@example.org" in kept
    assert "{name}" in kept
    (streamed,) = call("translate", "--stream", text).lines
    assert "anna@example.org" in streamed
    path = "C:\\Users\\Tom\\letter.txt"
    assert path in call("translate", f"Open {path}, please.").out
    assert path not in call("translate", "--no-protect", f"Open {path}, please.").out
    (own,) = call("translate", "--protect", "Big Apple", "We live in the Big Apple.").lines
    assert "Big Apple" in own
    done = call("translate", "--no-protect", "--protect", "x+", text)
    assert done.code == 2
    assert "--protect and --no-protect contradict each other; leave one out" in done.err


def test_placeholders_of_documents_always_stay(call, tmp_path: Path) -> None:
    document = tmp_path / "a.txt"
    document.write_text("Hello.\n")
    done = call("translate", "--no-protect", document, "--to", tmp_path / "b.txt")
    assert (done.code, done.out) == (2, "")
    assert "--no-protect is for text; placeholders of documents are always copied" in done.err


@pytest.mark.parametrize(
    "languages", [("--from", "de", "--to", "en"), ("--to", "en-US"), ("--from", "German")]
)
def test_the_bundled_model_of_the_direction_is_taken(call, languages: tuple[str, ...]) -> None:
    called = call("translate", *languages, "Guten Morgen!")
    assert (called.code, called.out) == (0, "Good morning!\n")
    assert "the bundled model de-en translates this direction" in called.err
    usual = call("translate", "--from", "en", "--to", "de-AT", "Good morning!")
    assert (usual.out, usual.err) == ("Guten Morgen!\n", "")


def test_a_language_that_no_model_has_is_refused(call) -> None:
    called = call("translate", "--to", "tlh", "Good morning!")
    assert called.code != 0
    told = " ".join(called.err.split())
    assert "no bundled model translates into tlh; they translate " in told
    assert "en-de" in told
