"""`allyouneed heads`: a table, JSON, a picture, and calls that are wrong."""

import json
from pathlib import Path

import pytest

from allyouneed.insight.head_measures import MEASURES

NAMES = [
    *(f"encoder.layers.0.self_attention[{head}]" for head in range(2)),
    *(f"decoder.layers.0.self_attention[{head}]" for head in range(2)),
    *(f"decoder.layers.0.cross_attention[{head}]" for head in range(2)),
]


@pytest.fixture
def files(tmp_path: Path, copier_folder: Path) -> list[object]:
    for name in ("s", "t"):
        (tmp_path / name).write_text("A man.\nA dog here.\n", encoding="utf-8")
    (tmp_path / "gold").write_text("0-0 1-1\n0-0 1?1 2-2\n", encoding="utf-8")
    there = ["--source", tmp_path / "s", "--target", tmp_path / "t"]
    return ["heads", "--model", copier_folder, *there]


def test_a_table_with_a_row_for_each_head(call, files: list[object]) -> None:
    done = call(*files)
    assert (done.code, done.err) == (0, "")
    assert "2 sentences" in done.lines[0]
    for name in MEASURES:
        assert name in done.out
    rows = [[cell.strip() for cell in line.split("│")] for line in done.lines if "│" in line]
    assert [row[1:4] for row in rows] == [
        [kind, "0", str(head)] for kind in ("encoder", "decoder", "cross") for head in (0, 1)
    ]
    for row in rows:
        assert all(0 <= float(cell) < 100 for cell in row[4:-1] if cell)
    assert rows[0][-4] == ""  # an encoder looks at no start token
    assert "" not in rows[0][4:-4]


def test_json_with_gold_and_importance(call, files: list[object], tmp_path: Path) -> None:
    done = call(*files, "--gold", tmp_path / "gold", "--importance", "--json")
    assert (done.code, done.err, len(done.lines)) == (0, "", 1)
    report = json.loads(done.out)
    assert [head["head"] for head in report["heads"]] == NAMES
    assert (report["sentences"], report["bleu"] > 50) == (2, True)
    cross = [head for head in report["heads"] if head["kind"] == "cross"]
    assert all(0 <= head["alignment_error"] <= 1 for head in cross)
    assert all({"loss_change", "bleu_change"} <= head.keys() for head in report["heads"])
    assert max(head["loss_change"] for head in report["heads"]) > 0.1


def test_importance_in_the_table(call, files: list[object]) -> None:
    done = call(*files, "--importance")
    assert "loss change" in done.out
    assert "with all heads: loss" in done.lines[0]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_picture(call, files: list[object], tmp_path: Path, ending: str) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / f"heads.{ending}"
    done = call(*files, "--picture", path)
    assert (done.code, done.err) == (0, f"note: {path} written\n")
    assert path.stat().st_size > 5_000
    assert "entropy" in done.out


def test_what_cannot_be_done_is_said_before_the_work(
    call, files: list[object], tmp_path: Path
) -> None:
    done = call(*files, "--picture", tmp_path / "heads.gif")
    assert (done.code, done.out) == (2, "")
    assert "heads.gif: the name of a figure must end in one of .png, .svg, .pdf" in done.err
    done = call(*files[:3])
    assert (done.code, done.out) == (2, "")
    assert "--tsv" in done.err
    (tmp_path / "gold").write_text("0-0\n", encoding="utf-8")
    done = call(*files, "--gold", tmp_path / "gold")
    assert (done.code, done.out) == (2, "")
    assert "1 gold alignments for 2 pairs" in done.err
