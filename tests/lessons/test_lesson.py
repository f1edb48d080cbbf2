"""Tools of the lessons: ranges that hold, exercises that recognise mistakes, saved pictures."""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

LESSONS = Path(__file__).resolve().parents[2] / "lessons"
pytest.importorskip("matplotlib", reason="lessons draw with matplotlib, the extra figures")


def module(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture
def shared() -> ModuleType:
    return module(LESSONS / "lesson.py", "lesson")


@pytest.fixture
def lesson(shared: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A lesson with the checks of `CHECKS` and the hidden answers of `write` below."""
    monkeypatch.setattr(shared, "HERE", tmp_path)
    monkeypatch.setenv("ALLYOUNEED_LESSONS", "fast")
    monkeypatch.delenv("ALLYOUNEED_LESSONS_FOLDER", raising=False)
    for folder in ("answers", "checks"):
        (tmp_path / folder).mkdir()
    (tmp_path / "checks" / "00_twice.py").write_text(CHECKS)
    write(
        tmp_path, "def twice(x):\n    return 2 * x\n\n\ndef twice__square(x):\n    return x * x\n"
    )
    return shared.Lesson("00_twice")


def write(folder: Path, answers: str) -> None:
    (folder / "answers" / "00_twice.py").write_text(answers)


CHECKS = """
def check_twice(twice, *, most=3):
    yield twice(2).real == 4, "two times two is four"
    yield twice(most) == 2 * most, f"for {most} it gave something else than {2 * most}"
"""


def test_a_right_answer_is_right(lesson: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def twice(x: float) -> float:
        return x + x

    lesson.exercise(twice)
    assert capsys.readouterr().out == "twice: right!\n"


def test_a_wrong_answer_gives_the_first_hint(
    lesson: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    def twice(x: float) -> float:
        return x**2

    lesson.exercise(twice)
    assert capsys.readouterr().out == "twice: not yet. for 3 it gave something else than 6\n"


def test_a_check_is_given_values_of_the_lesson(
    lesson: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    def twice(x: float) -> float:
        return 4

    lesson.exercise(twice, most=5)
    assert capsys.readouterr().out == "twice: not yet. for 5 it gave something else than 10\n"


def test_an_error_is_a_hint_with_its_line(lesson: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def twice(x: float) -> float:
        y = x
        return y / 0

    lesson.exercise(twice)
    out = capsys.readouterr().out
    assert out == "twice: not yet. Its line 3 stopped with ZeroDivisionError: division by zero\n"


def test_a_forgotten_return_is_a_hint(lesson: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def twice(x: float) -> None:
        x + x

    lesson.exercise(twice)
    assert "does it end in `return`?" in capsys.readouterr().out


def test_a_blank_one_is_answered_and_its_slips_found(
    lesson: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    def twice(x: float) -> float:  # type: ignore[empty-body]
        """Two times x."""

    lesson.exercise(twice)
    out = capsys.readouterr().out
    assert "twice: still blank" in out
    assert "The check recognises 1 common mistake and gives a hint for each." in out
    assert "lessons/answers/00_twice.py" in out


@pytest.mark.parametrize(
    ("answers", "complaint"),
    [
        (
            "def twice(x):\n    return x\n",
            "the hidden answer to twice does not pass: two times two",
        ),
        ("def twice(x):\n    return 2 * x\n", "the check lets anything pass"),
        (
            "def twice(x):\n    return 2 * x\n\n\ndef twice__sum(x):\n    return x + x\n",
            "the check lets twice__sum pass",
        ),
    ],
)
def test_answers_and_checks_that_are_no_good_are_errors(
    lesson: Any, tmp_path: Path, answers: str, complaint: str
) -> None:
    def twice(x: float) -> float:  # type: ignore[empty-body]
        ...

    write(tmp_path, answers)
    with pytest.raises(AssertionError, match=complaint):
        lesson.exercise(twice)


def test_what_is_blank(shared: ModuleType) -> None:
    def with_words(x: int) -> None:
        """Words."""

    def dots(x: int) -> None: ...

    def constant(x: int) -> int:
        return 3

    def generator(x: int) -> Iterator[int]:
        yield x

    assert shared.is_blank(with_words)
    assert shared.is_blank(dots)
    assert not shared.is_blank(constant)
    assert not shared.is_blank(generator)


def test_a_number_lies_in_its_range_or_ends_the_lesson(
    lesson: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    lesson.expect("variance", 64.2, 60, 68)
    assert capsys.readouterr().out == "variance: 64.2   (expected: 60 … 68)\n"
    with pytest.raises(AssertionError, match="variance: 70 does not lie in 60 … 68"):
        lesson.expect("variance", 70, 60, 68)
    with pytest.raises(AssertionError, match="nan does not lie in"):
        lesson.expect("variance", float("nan"), 60, 68)


def test_same_compares_shapes_and_values(shared: ModuleType) -> None:
    assert shared.same([1.0, 2.0], [1.0, 2.000001])
    assert not shared.same([1.0, 2.0], [1.0, 2.1])
    assert not shared.same([1.0, 1.0], 1.0)
    assert not shared.same(float("nan"), float("nan"))


def test_what_has_to_be_refused(shared: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert "invalid literal" in shared.refused(ValueError, lambda: int("x"))
    assert capsys.readouterr().out.startswith("ValueError: invalid literal")
    with pytest.raises(AssertionError, match="no ValueError was raised"):
        shared.refused(ValueError, lambda: int("1"))
    with pytest.raises(TypeError):
        shared.refused(ValueError, lambda: int([]))


def test_sizes_are_for_people_or_for_tests(
    lesson: Any, shared: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lesson.size(1000, fast=10) == 10
    monkeypatch.delenv("ALLYOUNEED_LESSONS")
    assert shared.Lesson("00_twice").size(1000, fast=10) == 1000
    monkeypatch.setenv("ALLYOUNEED_LESSONS", "quick")
    with pytest.raises(SystemExit, match="'quick' is not one of 'whole', 'fast'"):
        shared.Lesson("00_twice")


def test_pictures_are_kept_where_the_variable_says(
    lesson: Any,
    shared: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    figure, plots = shared.panels(2)
    assert len(plots) == 2
    lesson.show(figure, "empty", "two empty plots")
    assert "pictures are not saved" in capsys.readouterr().out
    monkeypatch.setenv("ALLYOUNEED_LESSONS_FOLDER", str(tmp_path / "pictures"))
    shared.Lesson("00_twice").show(figure, "empty", "two empty plots")
    assert (tmp_path / "pictures" / "00_twice-empty.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out == ""


def test_a_notebook_shows_pictures(
    lesson: Any, shared: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    display = pytest.importorskip("IPython.display")
    shown: list[Any] = []
    monkeypatch.setattr(shared, "in_notebook", lambda: True)
    monkeypatch.setattr(display, "display", shown.append)
    lesson.show(shared.panels()[0], "empty", "an empty plot")
    (picture,) = shown
    assert picture.data.startswith(b"\x89PNG")
    assert picture.alt == "an empty plot"


def test_the_live_view_is_a_widget_a_part_of_a_page_or_a_file(
    lesson: Any,
    shared: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("IPython")
    monkeypatch.setattr(shared, "_save_view", lambda texts, path: path.write_text('<p>"a" & b</p>'))
    assert lesson.live_view("two", "A man.", "A boy.") is None  # a script, small
    assert capsys.readouterr().out == "(the live view: allyouneed look 'A man.' 'A boy.')\n"
    monkeypatch.setattr(shared, "in_notebook", lambda: True)
    page = lesson.live_view("two", "A man.").data  # a page that is built
    assert 'srcdoc="&lt;p&gt;&quot;a&quot; &amp; b&lt;/p&gt;"' in page
    monkeypatch.delenv("ALLYOUNEED_LESSONS")
    monkeypatch.setattr("allyouneed.look", lambda *texts: texts, raising=False)
    assert shared.Lesson("00_twice").live_view("two", "A man.") == ("A man.",)  # a reader
    monkeypatch.setattr(shared, "in_notebook", lambda: False)
    monkeypatch.setenv("ALLYOUNEED_LESSONS_FOLDER", str(tmp_path / "kept"))
    shared.Lesson("00_twice").live_view("two", "A man.")
    assert (tmp_path / "kept" / "00_twice-two.html").is_file()


def test_a_view_that_cannot_be_saved_says_why(shared: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"no view was saved: .*there is no folder"):
        shared._save_view(["A man."], tmp_path / "nowhere" / "view.html")


def test_the_runner_reports_a_lesson_that_fails_or_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runner = module(LESSONS / "__main__.py", "runner")
    (tmp_path / "01_good.py").write_text("print('hello')")
    (tmp_path / "02_bad.py").write_text("assert 1 == 2, 'one is not two'")
    (tmp_path / "lesson.py").write_text("assert False")
    assert [path.name for path in runner.lessons(tmp_path)] == ["01_good.py", "02_bad.py"]
    monkeypatch.setattr(runner, "lessons", lambda: sorted(tmp_path.glob("0*.py")))
    assert runner.main() == 1
    said = capsys.readouterr()
    assert [line.split()[-1] for line in said.out.splitlines()] == ["ok", "FAILED"]
    assert "one is not two" in said.err
    monkeypatch.setattr(runner, "lessons", lambda: [tmp_path / "01_good.py"])
    assert runner.main() == 0
    monkeypatch.setattr(runner, "LONGEST", 0.0)
    assert runner.main() == 1
    assert "longer than 0 s" in capsys.readouterr().err


def test_the_folder_runs(tmp_path: Path) -> None:
    """`python lessons` is what `make lessons` calls."""
    for name in ("__main__.py",):
        (tmp_path / name).write_text((LESSONS / name).read_text("utf-8"), "utf-8")
    (tmp_path / "01_one.py").write_text("pass")
    ended = subprocess.run([sys.executable, str(tmp_path)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("01_one")
