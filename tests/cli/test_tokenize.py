"""`allyouneed tokenize`."""

import json
from pathlib import Path

from allyouneed.cli.tokenize import piece_table
from allyouneed.text.tokenizer import Tokenizer

TEXT = "I am looking for a place to eat."


def test_pieces_stand_above_their_ids_and_2_ends(call, copier_folder: Path) -> None:
    pieces, ids = call("tokenize", "--model", copier_folder, TEXT).lines
    numbers = [int(id) for id in ids.split()]
    assert numbers[-1] == 2
    assert pieces.split()[-1] == "</s>"
    assert len(pieces.split()) == len(numbers)
    assert numbers == Tokenizer.load(copier_folder / "tokenizer.json").encode(TEXT).ids


def test_json_has_spans(call, copier_folder: Path) -> None:
    (line,) = call("tokenize", "--model", copier_folder, "--json", TEXT).lines
    values = json.loads(line)
    assert values["ids"][-1] == 2
    assert len(values["ids"]) == len(values["pieces"]) == len(values["spans"])
    parts = [TEXT[start:end] for start, end in values["spans"]]
    assert "".join(parts) == TEXT


def test_lines_of_standard_input(call, copier_folder: Path) -> None:
    done = call("tokenize", "--model", copier_folder, "--json", stdin=b"one\n\nb\xff\n")
    assert [json.loads(line)["text"] for line in done.lines] == ["one", "", "b\ufffd"]
    assert json.loads(done.lines[1])["ids"] == [2]
    assert done.err.startswith("note: line 3: byte 2 (0xFF)")


def test_a_lone_surrogate_is_noted(call, copier_folder: Path) -> None:
    done = call("tokenize", "--model", copier_folder, "x", "\ud800")
    assert done.code == 0
    assert done.err.startswith("note: text 2: 1 lone surrogate")


def test_tables_are_no_wider_than_asked() -> None:
    pieces, ids = [" place", "\n", "."] * 3, [1000, 1, 2] * 3
    lines = list(piece_table(pieces, ids, width=14))
    assert lines == ["␣place · .", "1000   1 2"] * 3
