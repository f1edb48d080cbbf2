"""`allyouneed calibrate`: a model that copies is right where the translation is the source."""

import json
import shutil
from pathlib import Path

import pytest

from allyouneed.loading import load
from allyouneed.model_folder.confidence import open_calibration
from allyouneed.translation.confidence import LITTLE
from allyouneed.translation.translator import Translator

KNOWN = ("The dog sleeps.", "A man rides.", "The station talks.", "Two women like coffee.")
STRANGE = ("Ζ ηθικη εχει", "qwrtzp xvkj 8-8-8", "ßüö ÆØÅ ñ", "(((((:::::)))))...")


@pytest.fixture
def model(copier_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the model that copies; it is right about what it knows, and about nothing else."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{text}\t{text}\n" for text in KNOWN] + [
        f"{text}\tnothing else\n" for text in STRANGE
    ]
    Path("pairs.tsv").write_text("".join(lines * 10), encoding="utf-8")
    shutil.copytree(copier_folder, "model")
    Path("model", "README.md").write_text("# A model\n\n## After\n\nText.\n", encoding="utf-8")
    return Path("model")


def test_fit_translate_measure(call, model: Path) -> None:
    before = load(model, kind=Translator)(KNOWN[0])
    assert before.confidence is None
    assert before.word_confidences == ()
    done = call("calibrate", "--model", model, "--pairs", "pairs.tsv", "--json")
    assert done.code == 0
    (line,) = done.lines
    found = json.loads(line)["pairs.tsv"]
    assert found["pairs"] == 80
    assert found["acceptable"] == pytest.approx(0.5)
    assert found["confidence"]["auroc"] > 0.95
    assert found["confidence"]["ece"] < 0.2
    card = (model / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# A model\n")
    assert "| pairs.tsv | 80 | 50% |" in card

    translator = load(model, kind=Translator)
    sure, doubtful = translator([KNOWN[0], STRANGE[1]])
    assert sure.confidence is not None
    assert doubtful.confidence is not None
    assert doubtful.confidence < LITTLE < 0.6 < sure.confidence
    assert len(sure.word_confidences) == len(sure.text.split())
    assert not sure.notes
    assert any("little confidence: 0." in note for note in doubtful.notes)
    assert sure.to_dict()["confidence"] == sure.confidence
    assert sure.text == before.text

    (shown,) = call("translate", "--model", model, "--scores", KNOWN[0]).lines
    assert shown.split("\t")[2:] == [f"{sure.confidence:.2f}", sure.text]

    files = {file.name: file.read_bytes() for file in model.iterdir()}
    done = call("calibrate", "--model", model, "--pairs", "pairs.tsv", "--evaluate", "--json")
    (line,) = done.lines
    assert json.loads(line)["pairs.tsv"]["confidence"]["auroc"] > 0.95
    assert {file.name: file.read_bytes() for file in model.iterdir()} == files

    again = call("calibrate", "--model", model, "--pairs", "pairs.tsv", "--first", 40, "--skip", 4)
    assert again.code == 0
    card = (model / "README.md").read_text(encoding="utf-8")
    assert card.count("## Confidence") == card.count("## After") == 1


def test_into_another_folder_and_with_sides_swapped(call, model: Path) -> None:
    shutil.copytree(model, "other")
    options = ("--pairs", "pairs.tsv", "--swap", "--into", "other")
    assert call("calibrate", "--model", model, *options).code == 0
    assert open_calibration(Path("other")) is not None
    assert open_calibration(model) is None


def test_a_file_names_its_direction(call, model: Path) -> None:
    config = json.loads((model / "config.json").read_text())
    config |= {"source_language": "English", "target_language": "French"}
    (model / "config.json").write_text(json.dumps(config))
    wrong = call("calibrate", "--model", model, "--pairs", "fr-en=pairs.tsv")
    assert wrong.code == 2
    assert "from source='fr'" in wrong.err
    shutil.copy("pairs.tsv", "odd=name.tsv")
    files = ("--pairs", "en-fr=pairs.tsv", "--pairs", "odd=name.tsv")
    done = call("calibrate", "--model", model, *files, "--json")
    assert json.loads(done.lines[0]).keys() == {"en-fr-pairs.tsv", "odd=name.tsv", "all"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--pairs", "pairs.tsv", "--evaluate"), "has no calibration yet"),
        (("--pairs", "pairs.tsv", "--first", 4), "all 4 examples are acceptable"),
        (("--pairs", "missing.tsv"), "missing.tsv"),
        (("--pairs", "pairs.tsv", "--into", "nowhere"), "nowhere"),
    ],
)
def test_wrong_calls_write_nothing(
    call, model: Path, options: tuple[object, ...], said: str
) -> None:
    done = call("calibrate", "--model", model, *options)
    assert done.code in (1, 2)
    assert said in done.err
    assert not (model / "confidence.json").exists()


def test_a_bundled_model_is_not_changed(call, model: Path) -> None:
    done = call("calibrate", "--model", "en-de", "--pairs", "pairs.tsv")
    assert done.code == 2
    assert "part of the package" in done.err


def test_files_of_the_future_are_left_alone_and_damaged_ones_told(call, model: Path) -> None:
    file = model / "confidence.json"
    file.write_text('{"format": "allyouneed confidence", "format_version": 99}', encoding="utf-8")
    assert load(model, kind=Translator)(KNOWN[0]).confidence is None
    for damaged in ("", "{}", '{"format": "x"}', "[[[[", '{"format": "allyouneed confidence"}'):
        file.write_text(damaged, encoding="utf-8")
        done = call("translate", "--model", model, KNOWN[0])
        assert done.code == 1
        assert "confidence.json cannot be read" in done.err
