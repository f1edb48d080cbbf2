"""`allyouneed select-vocabulary`: a model that copies needs the pieces of the source."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from allyouneed.cli import select_vocabulary as verb
from allyouneed.decoding.options import BeamOptions
from allyouneed.loading import load
from allyouneed.model_folder.folder import VOCABULARY_SELECTION

SUBJECTS = ("The dog", "A man", "The station", "Two women", "The street")
VERBS = ("sleeps", "rides", "talks", "likes coffee")
TEXTS = [f"{subject} {verb}." for subject in SUBJECTS for verb in VERBS] * 6  # 120


@pytest.fixture
def model(copier_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the model that copies, in the working directory beside some texts."""
    monkeypatch.chdir(tmp_path)
    Path("texts").write_text("".join(f"{text}\n" for text in TEXTS), encoding="utf-8")
    Path("few").write_text("".join(f"{text}\n" for text in TEXTS[:6]), encoding="utf-8")
    Path("other").write_text("Ein Hund.\n" * 6, encoding="utf-8")
    shutil.copytree(copier_folder, "model")
    return Path("model")


def learn(call, model: Path, *options: object):
    return call(
        *("select-vocabulary", "--model", model, "--source", "texts", "--target", "texts"),
        *options,
    )


def test_learn_measure_translate(call, model: Path) -> None:
    done = learn(call, model, "--evaluate", "few", "few", "--json")
    assert (done.code, done.err) == (0, "")
    (line,) = done.lines
    found = json.loads(line)
    assert (found["pairs"], found["left_out"]) == (119, {})
    assert found["coverage"]["held out"]["sentences"] == 1
    assert found["coverage"]["few"]["covered"] == 1
    assert 260 <= found["coverage"]["few"]["selected"] < found["vocabulary"]
    bleu = found["evaluation"]["metrics"]["BLEU"]
    assert bleu["baseline"]["score"] == pytest.approx(100)
    assert bleu["system"]["score"] == pytest.approx(100)
    assert (model / VOCABULARY_SELECTION).is_file()
    copied = call("translate", "--model", model, "--vocabulary-selection", "The dog sleeps.")
    assert copied.lines == ["The dog sleeps."]


def test_a_model_is_evaluated_with_its_selection_and_without(call, model: Path) -> None:
    """The selection is of other words, so that it shows; the baseline has none."""
    Path("german").write_text("Ein Hund.\n" * len(TEXTS), encoding="utf-8")
    learn(call, model, "--target", "german")
    files = ("--source", "few", "--reference", "few", "--json", "--engine", "core")
    plain = json.loads(call("evaluate", "--model", model, *files).out)
    assert plain["scores"]["BLEU"]["score"] == pytest.approx(100)
    done = call(
        *("evaluate", "--model", model, "--vocabulary-selection", "--against", model), *files
    )
    bleu = json.loads(done.out)["metrics"]["BLEU"]
    assert bleu["baseline"]["score"] == pytest.approx(100)
    assert bleu["system"]["score"] < 50


def test_it_is_learnt_from_the_models_own_translations(call, model: Path) -> None:
    done = call("select-vocabulary", "--model", model, "--source", "texts", "--json")
    assert (done.code, done.err) == (0, "")
    alone = load_file(model / VOCABULARY_SELECTION)
    assert json.loads(done.out)["pairs"] == 119
    own = load("./model", engine="core")(TEXTS, options=BeamOptions(beam=1))
    Path("theirs").write_text("".join(f"{one.text}\n" for one in own), encoding="utf-8")
    assert learn(call, model, "--target", "theirs").code == 0
    by_pairs = load_file(model / VOCABULARY_SELECTION)
    assert alone.keys() == by_pairs.keys()
    assert all(np.array_equal(alone[name], by_pairs[name]) for name in alone)
    Path("german").write_text("Ein Hund.\n" * len(TEXTS), encoding="utf-8")
    learn(call, model, "--target", "german")
    elsewhere = load_file(model / VOCABULARY_SELECTION)
    assert not all(np.array_equal(alone[name], elsewhere[name]) for name in alone)
    call("select-vocabulary", "--model", model, "--source", "texts")
    copied = call("translate", "--model", model, "--vocabulary-selection", "The dog sleeps.")
    assert copied.lines == ["The dog sleeps."]


@pytest.mark.parametrize(("typed", "beam"), [([], 1), (["--beam", "3"], 3)])
def test_the_models_own_translations_are_greedy(
    call, model: Path, monkeypatch: pytest.MonkeyPatch, typed: list[str], beam: int
) -> None:
    seen: list[int] = []

    def translate_corpus(translator, sources, options) -> list[str]:
        seen.append(options.beam)
        return list(sources)

    monkeypatch.setattr(verb, "translate_corpus", translate_corpus)
    call("select-vocabulary", "--model", model, "--source", "texts", *typed)
    assert seen == [beam]


def test_what_is_lost_is_measured_with_the_selection(call, model: Path) -> None:
    done = learn(call, model, "--candidates", 1, "--evaluate", "other", "other", "--json")
    found = json.loads(done.out)
    assert found["coverage"]["other"]["covered"] < 1
    chrf = found["evaluation"]["metrics"]["chrF"]
    assert chrf["system"]["score"] < chrf["baseline"]["score"]


def test_tables(call, model: Path) -> None:
    done = learn(call, model, "--evaluate", "few", "few")
    assert str(model / VOCABULARY_SELECTION) in done.out
    assert "119 pairs" in done.out
    assert "100.00%" in done.out
    assert "selected pieces against all pieces" in done.out
    assert "BLEU: nrefs:1" in done.out


def test_pairs_that_are_left_out_are_noted(call, model: Path) -> None:
    Path("texts").write_text("A man.\n\n" + "dog " * 300 + "\n", encoding="utf-8")
    done = learn(call, model)
    assert done.code == 0
    assert "note: pairs left out (empty): 1" in done.err
    assert "pairs left out (longer than" in done.err


def test_the_bundled_model_is_left_alone(call, model: Path) -> None:
    ended = learn(call, Path("en-de"))
    assert ended.code == 2
    assert "part of the package" in ended.err
    assert "cp -r" in ended.err


def test_a_model_that_does_not_translate_is_left_alone(
    call, model: Path, encoder_folder: Path
) -> None:
    done = learn(call, encoder_folder)
    assert done.code == 1
    assert "holds an encoder without a decoder" in done.err
    assert not (encoder_folder / VOCABULARY_SELECTION).exists()


def test_few_pairs_say_nothing_of_what_is_covered(call, model: Path) -> None:
    done = call("select-vocabulary", "--model", model, "--source", "few", "--target", "few")
    assert done.code == 0
    assert "note: there are fewer than 100 pairs, so the" in done.err
    assert done.out.endswith("pairs\n")  # and no table without rows


def test_files_are_named_in_one_way(call, model: Path) -> None:
    ended = call("select-vocabulary", "--model", model, "--target", "texts")
    assert ended.code == 2
    assert "name two files" in ended.err
    assert not (model / VOCABULARY_SELECTION).exists()


def test_translating_without_one_says_how_to_learn_it(call, model: Path) -> None:
    ended = call("translate", "--model", model, "--vocabulary-selection", "A dog.")
    assert ended.code == 2
    assert "allyouneed select-vocabulary" in ended.err
