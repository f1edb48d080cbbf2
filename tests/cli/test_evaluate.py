"""`allyouneed evaluate`: a model that copies is perfect on a test set that is the same twice."""

import gzip
import json
from pathlib import Path

import pytest

TEXTS = [
    f"The {size} dog {verb}." for size in ("big", "small") for verb in ("sleeps", "eats", "ran")
]
WRONG = [text.replace("dog", "cat").replace("big", "old") for text in TEXTS]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, texts in {"s": TEXTS, "r": TEXTS, "wrong": WRONG}.items():
        Path(name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    rows = "".join(f"{text}\t{text}\n" for text in TEXTS)
    Path("both.tsv.gz").write_bytes(gzip.compress(rows.encode()))
    return tmp_path


@pytest.fixture
def evaluated(call, files: Path):
    def run(*options: object) -> dict[str, dict[str, dict[str, object]]]:
        engine = ("--engine", "core") if {"--model", "--against"} & {*map(str, options)} else ()
        done = call("evaluate", "--json", *engine, *options)
        assert (done.code, done.err) == (0, "")
        (line,) = done.lines
        return json.loads(line)

    return run


def test_a_model_on_two_files(evaluated, copier_folder: Path) -> None:
    found = evaluated("--model", copier_folder, "--source", "s", "--reference", "r")
    assert found["sentences"] == 6
    for score in found["scores"].values():
        assert score["score"] == pytest.approx(100)
        assert "bs:1000|seed:12345" in score["signature"]


def test_a_model_on_one_compressed_file_writes_its_translations(
    evaluated, copier_folder: Path
) -> None:
    found = evaluated("--model", copier_folder, "--tsv", "both.tsv.gz", "--output", "out")
    assert found["scores"]["BLEU"]["score"] == pytest.approx(100)
    assert Path("out").read_text("utf-8").split("\n") == [*TEXTS, ""]


def test_given_translations_alone_need_no_model(evaluated) -> None:
    found = evaluated("--hypothesis", "wrong", "--reference", "r")
    assert 5 < found["scores"]["chrF"]["score"] < 95


def test_a_model_against_given_translations(evaluated, copier_folder: Path) -> None:
    found = evaluated(
        *("--model", copier_folder, "--hypothesis", "wrong", "--source", "s", "--reference", "r")
    )
    chrf = found["metrics"]["chrF"]
    assert chrf["baseline"]["score"] < chrf["system"]["score"] == pytest.approx(100)
    assert chrf["significant"] is True


def test_given_translations_against_a_model(evaluated, copier_folder: Path) -> None:
    found = evaluated("--against", copier_folder, "--hypothesis", "wrong", "--tsv", "both.tsv.gz")
    assert found["metrics"]["chrF"]["difference"] < -5


def test_a_model_against_itself(evaluated, copier_folder: Path) -> None:
    found = evaluated("--model", copier_folder, "--against", copier_folder, "--tsv", "both.tsv.gz")
    assert found["metrics"]["BLEU"]["difference"] == 0
    assert found["metrics"]["BLEU"]["significant"] is False


def test_tables(call, files: Path, copier_folder: Path) -> None:
    one = call("evaluate", "--hypothesis", "wrong", "--reference", "r")
    assert "wrong, 6 sentences" in one.out
    assert "±" in one.out
    assert "\nBLEU: nrefs:1|bs:1000|seed:12345|case:mixed" in one.out
    assert "\nBLEU lower-cased: nrefs:1|bs:1000|seed:12345|case:lc" in one.out
    two = call(
        *("evaluate", "--against", copier_folder, "--hypothesis", "wrong", "--tsv", "both.tsv.gz")
    )
    assert "wrong against" in two.out
    assert "difference" in two.out


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (
            ["--source", "s"],
            2,
            "the other side is missing; name two files, one for each side (--source and --ref",
        ),
        (
            ["--tsv", "both.tsv.gz", "--source", "s"],
            2,
            "--tsv is a file of both sides; leave the files",
        ),
        (["--hypothesis", "wrong"], 2, "name two files"),
        (
            ["--model", "a", "--against", "b", "--hypothesis", "s", "--reference", "r"],
            2,
            "two base",
        ),
        (["--hypothesis", "wrong", "--reference", "r", "--output", "x/y"], 2, "no folder x"),
        (["--hypothesis", "wrong", "--reference", "absent"], 1, "absent: no such file"),
        (["--hypothesis", "wrong", "--reference", "."], 1, " is a folder; name a file in it"),
        (["--hypothesis", "wrong", "--reference", "r", "--output", "."], 2, "is a folder"),
        (
            ["--hypothesis", "wrong", "--reference", "r", "--beam", "2", "--engine", "x"],
            2,
            "--beam, --engine: nothing is translated",
        ),
        (
            ["--hypothesis", "wrong", "--reference", "r", "--vocabulary-selection"],
            2,
            "--vocabulary-selection: nothing is translated",
        ),
        (
            ["--vocabulary-selection", "--against", "a", "--hypothesis", "s", "--tsv", "s"],
            2,
            "--vocabulary-selection needs --model; give --model in place of --hypothesis",
        ),
        (["--tsv", "s"], 1, "s:1: has 1 columns"),
        (["--hypothesis", "short", "--reference", "r"], 1, "1 hypotheses but 6 references"),
        (["--source", "short", "--reference", "r"], 1, "r has 6 lines"),
        (["--hypothesis", "latin", "--reference", "r"], 1, "byte 2 of the line (0xFC)"),
        (["--hypothesis", "empty", "--reference", "empty"], 1, "no sentences"),
    ],
)
def test_what_cannot_be_evaluated(
    call, files: Path, options: list[str], code: int, said: str
) -> None:
    (files / "short").write_text("one\n")
    (files / "latin").write_bytes("Tür\n".encode("latin-1"))
    (files / "empty").write_text("")
    ended = call("evaluate", *options)
    assert (ended.code, ended.out) == (code, "")
    assert ended.err.startswith("error: ")
    assert said in ended.err
    assert ended.err.count("\n") == 1
