"""`allyouneed score`: a model that copies finds copies probable."""

import gzip
import json
import math
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    source, target = tmp_path / "s", tmp_path / "t.gz"
    source.write_text("A man.\nA dog.\n", encoding="utf-8")
    target.write_bytes(gzip.compress(b"A man.\nA cat.\n"))
    return source, target


def test_columns(call, copier_folder: Path, pair: tuple[Path, Path]) -> None:
    source, target = pair
    done = call("score", "--model", copier_folder, "--source", source, "--target", target)
    good, bad = [line.split("\t") for line in done.lines]
    assert (good[3], bad[3]) == ("A man.", "A cat.")
    assert float(good[0]) > -0.1
    assert float(bad[0]) < -3
    for row in (good, bad):
        assert float(row[2]) == pytest.approx(math.exp(float(row[1])), abs=1e-3)


def test_pairs_in_one_file(call, copier_folder: Path, pair: tuple[Path, Path]) -> None:
    both = pair[0].with_suffix(".tsv")
    both.write_text("A man.\tA man.\nA dog.\tA cat.\n", encoding="utf-8")
    of_two_files = call("score", "--model", copier_folder, "--source", pair[0], "--target", pair[1])
    assert call("score", "--model", copier_folder, "--tsv", both) == of_two_files
    assert "name two files" in call("score", "--model", copier_folder).err


def test_tokens_add_up(call, copier_folder: Path, pair: tuple[Path, Path]) -> None:
    source, target = pair
    done = call(
        "score", "--model", copier_folder, "--source", source, "--target", target, "--tokens"
    )
    whole = float(done.lines[0].split("\t")[0])
    tokens = []
    for line in done.lines[1:]:
        if not line.startswith("\t"):
            break
        tokens.append(float(line.split("\t")[1]))
    assert len(tokens) > 2
    assert sum(tokens) == pytest.approx(whole, abs=1e-3)


def test_a_model_that_gives_nothing_finite(
    call, copier_folder: Path, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    shutil.copytree(copier_folder, tmp_path / "nan")
    weights = load_file(copier_folder / "model.safetensors")
    weights["encoder.layers.0.self_attention.W_Q.weight"][0, 0] = math.nan
    save_file(weights, tmp_path / "nan" / "model.safetensors")
    done = call("score", "--model", tmp_path / "nan", "--source", pair[0], "--target", pair[1])
    assert (done.code, done.out) == (1, "")
    assert "pair 1: the model's log-probabilities are not finite" in done.err


def test_json(call, copier_folder: Path, pair: tuple[Path, Path]) -> None:
    source, target = pair
    done = call("score", "--model", copier_folder, "--source", source, "--target", target, "--json")
    values = [json.loads(line) for line in done.lines]
    assert [value["target"] for value in values] == ["A man.", "A cat."]
    for value in values:
        assert sum(value["token_log_probabilities"]) == pytest.approx(value["log_probability"])


def test_files_of_different_length(call, copier_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "s").write_text("a\nb\nc\n")
    (tmp_path / "t").write_text("a\nb\n")
    ended = call(
        "score", "--model", copier_folder, "--source", tmp_path / "s", "--target", tmp_path / "t"
    )
    assert ended.code == 1
    assert "has 3 lines" in ended.err
    assert "has 2: line 3 is the first without a partner" in ended.err


def test_a_pair_that_does_not_fit_is_placed(call, copier_folder: Path, tmp_path: Path) -> None:
    for name in ("s", "t"):
        (tmp_path / name).write_text(f"a\n{'word ' * 200}\n")
    ended = call(
        "score", "--model", copier_folder, "--source", tmp_path / "s", "--target", tmp_path / "t"
    )
    assert ended.code == 1
    assert f"{tmp_path / 't'}:1-2: of these lines, pair 2 has" in ended.err


def test_scores_are_the_core_models(call, copier_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "s").write_text("a\n")
    verb = ("score", "--model", copier_folder, "--source", tmp_path / "s", "--target")
    assert call(*verb, tmp_path / "s", "--engine", "core").code == 0
    ended = call(*verb, tmp_path / "s", "--engine", "cpu-int8")
    assert (ended.code, ended.out) == (2, "")
    assert "only the core model can; leave --engine out" in ended.err
