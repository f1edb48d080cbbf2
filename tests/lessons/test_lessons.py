"""Every lesson runs in its own process, names its source, and names code that exists."""

import os
import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from allyouneed.cli.paper_map import line_of

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "lessons").glob("[0-9][0-9]_*.py"))
PARTS = ("*Grew from:*", "## What to remember", "## Where it is in the code")
EACH = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.stem)
pytest.importorskip("matplotlib", reason="lessons draw with matplotlib, the extra figures")


def words_of(lesson: Path) -> str:
    """The markdown cells of a lesson."""
    cells = re.split(r"^# %%", lesson.read_text("utf-8"), flags=re.MULTILINE)
    markdown = [cell for cell in cells if cell.startswith(" [markdown]")]
    return "\n\n".join(re.sub(r"^# ?", "", cell, flags=re.MULTILINE) for cell in markdown)


def exercises_of(lesson: Path) -> list[str]:
    return re.findall(r"lesson\.exercise\(\s*(\w+)", lesson.read_text("utf-8"))


def run(lesson: Path, pictures: Path) -> subprocess.CompletedProcess[str]:
    """Runs a lesson, small, in a process of its own."""
    surroundings = {**os.environ, "ALLYOUNEED_LESSONS": "fast", "OMP_NUM_THREADS": "1"}
    surroundings["ALLYOUNEED_LESSONS_FOLDER"] = str(pictures)
    ended = subprocess.run(
        [sys.executable, "-W", "error", str(lesson)],
        cwd=lesson.parent,
        env=surroundings,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended


@EACH
def test_the_lesson_runs(lesson: Path, tmp_path: Path) -> None:
    ended = run(lesson, tmp_path)
    assert ended.stderr == ""
    exercises = exercises_of(lesson)
    assert len(exercises) >= 2
    assert re.findall(r"^(\w+): still blank", ended.stdout, re.MULTILINE) == exercises
    assert "(expected: " in ended.stdout
    pictures = list(tmp_path.glob(f"{lesson.stem}-*.png"))
    assert len(pictures) >= lesson.read_text("utf-8").count("lesson.show(")  # more in a loop
    assert pictures


def test_a_learners_slip_is_a_hint_and_the_lesson_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "lessons"
    shutil.copytree(ROOT / "lessons", folder, ignore=shutil.ignore_patterns("__pycache__"))
    lesson = folder / "03_positions.py"
    blank = '    """PE(pos, 0) … PE(pos, d_model - 1)."""\n    ...\n'
    text = lesson.read_text("utf-8")
    assert blank in text
    slip = "    return [math.sin(pos / 10000 ** (i / d_model)) for i in range(d_model)]\n"
    lesson.write_text(text.replace(blank, slip), "utf-8")
    said = run(lesson, tmp_path).stdout
    assert "encoding: not yet. position 0 is 0 1 0 1: sine and cosine take turns\n" in said
    assert re.findall(r"^(\w+): still blank", said, re.MULTILINE) == ["shift_back", "rotate"]


@EACH
def test_the_lesson_is_whole(lesson: Path) -> None:
    words = words_of(lesson)
    assert re.search(rf"^# Lesson {int(lesson.stem[:2])} · ", words, re.MULTILINE)
    assert [part for part in PARTS if part not in words] == []
    assert f'Lesson("{lesson.stem}")' in lesson.read_text("utf-8")
    assert f"({lesson.name})" in (ROOT / "lessons" / "README.md").read_text("utf-8")


@EACH
def test_no_check_stands_below_its_exercise(lesson: Path) -> None:
    """A check computes the right answer to compare with, so it would give the answer away."""
    text = lesson.read_text("utf-8")
    checks = (lesson.parent / "checks" / lesson.name).read_text("utf-8")
    assert "def check_" not in text
    assert re.findall(r"^def check_(\w+)\(", checks, re.MULTILINE) == exercises_of(lesson)


@EACH
def test_what_the_lesson_names_in_the_code_is_there(lesson: Path) -> None:
    named = re.findall(r"`([\w/]+\.py):([\w.]+)`", words_of(lesson))
    assert len(named) >= 3
    package = Path(str(resources.files("allyouneed")))
    missing = [
        f"{file}:{symbol}"
        for file, symbol in named
        if not (package / file).is_file()
        or line_of((package / file).read_text("utf-8"), symbol) is None
    ]
    assert missing == []


def test_the_readme_lists_lessons_that_are_there() -> None:
    listed = re.findall(r"\((\d\d_\w+\.py)\)", (ROOT / "lessons" / "README.md").read_text("utf-8"))
    assert listed == [lesson.name for lesson in LESSONS]
