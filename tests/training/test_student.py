"""The packaged recipe `student`: text in one language and a teacher in, a whole small model out."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open

from allyouneed.cli.dry_run import plan
from allyouneed.data.corpus import Corpus
from allyouneed.data.readers import read_pairs
from allyouneed.errors import RecipeError
from allyouneed.loading import load
from allyouneed.model_folder.folder import VOCABULARY_SELECTION, WEIGHTS, open_model_folder
from allyouneed.training.distillation import SEARCH
from allyouneed.training.recipe.toml_file import load_recipe
from allyouneed.training.run import train

SMALL = (
    *("model.d_model=16", "model.heads=2", "model.d_ff=32", "vocabulary.size=280"),
    *("training.steps=6", "schedule.steps=6", "schedule.decay=2", "schedule.warmup=2"),
    *("training.batch_tokens=256", "training.precision=float32", "training.validate_every_steps=3"),
    *("validation.sentences=4", "guided_alignment.pairs=60"),
)


@pytest.fixture(scope="module")
def teacher(shared_runs: Any) -> Path:
    """A model that reverses letters, of two languages."""
    languages = ("source_language=de", "target_language=fr")
    done = shared_runs.start("teacher-of-student", "training.steps=8", "seed=7", *languages)
    folder: Path = done.model
    return folder


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """The keys of the one command line that name the files."""
    monkeypatch.chdir(tmp_path)
    pairs = list(read_pairs(Corpus(made="reverse", pairs=120, seed=1)))
    (tmp_path / "letters.txt").write_text("".join(f"{pair.source}\n" for pair in pairs))
    rows = (f"{pair.source}\t{pair.target}\n" for pair in pairs[:8])
    (tmp_path / "pairs.tsv").write_text("".join(rows))
    return "data.train.0.source=letters.txt", "data.valid.0.source=pairs.tsv"


def test_one_command_makes_a_whole_student(
    teacher: Path, files: tuple[str, ...], tmp_path: Path
) -> None:
    keys = [*files, f"data.train.0.distill={teacher}", *SMALL]
    notes: list[str] = []
    done = train(
        "student",
        overrides=keys,
        report=lambda record: notes.append(str(record.get("text"))),
        device="cpu",
    )
    assert done.model == Path("runs/student/model")
    assert any(note.startswith("distilled: 120 sentences of ") for note in notes)
    (made,) = (tmp_path / "runs/student/cache").glob("distilled-*.jsonl")
    rows = [json.loads(line) for line in made.read_text("utf-8").split("\n")[:-1]]
    assert {row["source"] for row in rows} <= set(
        (tmp_path / "letters.txt").read_text().split("\n")
    )
    texts = [row["source"] for row in rows[:5]]
    assert [row["target"] for row in rows[:5]] == [
        found.text for found in load(teacher)(texts, options=SEARCH)
    ]
    folder = open_model_folder(done.model)
    assert (folder.config.encoder_layers, folder.config.decoder_layers) == (6, 2)
    assert folder.languages == ("de", "fr")  # the teacher's
    assert folder.alignment_heads is not None
    assert (folder.path / VOCABULARY_SELECTION).is_file()
    with safe_open(folder.path / WEIGHTS, "numpy") as weights:
        assert weights.get_tensor("encoder.layers.5.feed_forward.W_1.weight").dtype == np.int8
    student = load(done.model, vocabulary_selection=True)
    assert isinstance(student(texts[0]).text, str)


def test_its_plan_counts_the_text_alone(teacher: Path, files: tuple[str, ...]) -> None:
    told = plan(load_recipe("student", [*files, f"data.train.0.distill={teacher}", *SMALL]))
    assert (told["pairs"], told["missing"], told["teachers"]) == (120, [], [str(teacher)])
    absent = plan(load_recipe("student", [*files, "data.train.0.distill=nobody", *SMALL]))
    assert absent["missing"] == ["nobody"]


@pytest.mark.parametrize("place", ["letters", "parts/a.txt"])
def test_text_whose_name_says_no_format(place: str, teacher: Path, files: tuple[str, ...]) -> None:
    """A file without a suffix, and a folder: the recipe's key says that they hold text alone."""
    Path("parts").mkdir()
    Path(place).write_bytes(Path("letters.txt").read_bytes())
    keys = [f"data.train.0.source={place.removesuffix('/a.txt')}", "data.train.0.format=text"]
    told = plan(load_recipe("student", [*keys, files[1], f"data.train.0.distill={teacher}"]))
    assert (told["pairs"], told["missing"]) == (120, [])


def test_text_alone_needs_a_teacher(files: tuple[str, ...]) -> None:
    with pytest.raises(RecipeError, match="the target sentences are missing"):
        load_recipe("student", ["data.train=[{source='letters.txt'}]", files[1]])
