"""Tools that all lessons share: asserted numbers, pictures, and exercises that check themselves.

A lesson is a script in percent format, so it is also a notebook and a page. It reads two variables
of the environment:

`ALLYOUNEED_LESSONS=fast`          runs with smaller sizes, for tests
`ALLYOUNEED_LESSONS_FOLDER=DIR`    the folder in which a script saves its pictures and views
"""

import dis
import html
import importlib.util
import inspect
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

HERE = Path(__file__).resolve().parent
MODES = ("", "whole", "fast")
DOTS = 130  # an inch of a picture

Check = Callable[..., Iterator[tuple[Any, str]]]
"""check(function) yields (right?, hint) pairs. The first hint that is not right is shown."""


class Lesson:
    """One lesson. Its first cell makes `Lesson("01_attention")`, which also seeds torch.

    `fast` is true where the lesson runs with small sizes.
    """

    def __init__(self, name: str, seed: int = 0) -> None:
        mode = os.environ.get("ALLYOUNEED_LESSONS", "")
        if mode not in MODES:
            raise SystemExit(f"ALLYOUNEED_LESSONS={mode!r} is not one of 'whole', 'fast'")
        self.name, self.fast = name, mode == "fast"
        folder = os.environ.get("ALLYOUNEED_LESSONS_FOLDER")
        self._folder = Path(folder) if folder else None
        self._told = False
        torch.manual_seed(seed)

    def size(self, whole: int, fast: int) -> int:
        """The size of an experiment: `whole` for people, `fast` for tests."""
        return fast if self.fast else whole

    def expect(self, what: str, value: float | Tensor, low: float, high: float) -> None:
        """Prints a measured number and the range that it must lie in.

        Raises:
            AssertionError: the number does not lie in this range.
        """
        number = float(torch.as_tensor(value).detach())
        if not low <= number <= high:
            raise AssertionError(f"{what}: {number:.6g} does not lie in {low:g} … {high:g}")
        print(f"{what}: {number:.4g}   (expected: {low:g} … {high:g})")

    def show(self, figure: Figure, name: str, alt: str) -> None:
        """Shows a picture in a notebook; a script saves it in the folder as LESSON-NAME.png.

        `alt` describes the picture for readers who cannot see it.
        """
        if self._folder:
            self._folder.mkdir(parents=True, exist_ok=True)
            figure.savefig(self._folder / f"{self.name}-{name}.png", dpi=DOTS)
        if in_notebook():
            from IPython.display import Image, display

            drawn = io.BytesIO()
            figure.savefig(drawn, format="png", dpi=DOTS)
            display(Image(data=drawn.getvalue(), alt=alt, width=figure.get_figwidth() * 96))
        elif not self._folder and not self._told:
            self._told = True
            print("(pictures are not saved; set ALLYOUNEED_LESSONS_FOLDER=DIR to save them in DIR)")

    def live_view(self, name: str, *texts: str) -> Any:
        """The live view of one or two sentences with the bundled model, as a widget in a notebook.

        A notebook that is run to become a page (a folder is set, or the sizes are small) gets the
        saved view inside the page. A script saves the view in the folder as LESSON-NAME.html.
        """
        if in_notebook():
            if self.fast or self._folder:
                return _framed(texts)
            import allyouneed

            return allyouneed.look(*texts)
        if self._folder and not self.fast:
            self._folder.mkdir(parents=True, exist_ok=True)
            _save_view(texts, self._folder / f"{self.name}-{name}.html")
        else:
            print(f"(the live view: allyouneed look {' '.join(map(repr, texts))})")
        return None

    def exercise(self, function: Callable[..., Any], **given: Any) -> None:
        """Checks a learner's function, and prints that it is right, or a hint.

        The check is `check_NAME` in checks/LESSON.py; `given` are values of the lesson that it
        needs. While the body of the function is `...`, the hidden answer is checked instead: the
        function of the same name in answers/LESSON.py. So are the mistakes there, functions called
        NAME__MISTAKE, each of which the check must recognise.

        Raises:
            AssertionError: the hidden answer is not right, or the check lets a mistake pass, or
                there is no mistake to test it with.
        """
        name = function.__name__
        check = partial(getattr(part_of("checks", self.name), f"check_{name}"), **given)
        if not is_blank(function):
            hint = first_hint(function, check)
            print(f"{name}: right!" if hint is None else f"{name}: not yet. {hint}")
            return
        answers = part_of("answers", self.name)
        hint = first_hint(getattr(answers, name), check)
        if hint is not None:
            raise AssertionError(f"the hidden answer to {name} does not pass: {hint}")
        mistakes = [found for found in vars(answers) if found.startswith(f"{name}__")]
        passing = [one for one in mistakes if first_hint(getattr(answers, one), check) is None]
        if passing or not mistakes:
            raise AssertionError(f"{name}: the check lets {', '.join(passing) or 'anything'} pass")
        print(f"{name}: still blank. Write its body and run this cell again.")
        common = "1 common mistake" if len(mistakes) == 1 else f"{len(mistakes)} common mistakes"
        print(f"  The check recognises {common} and gives a hint for each.")
        print(f"  One right answer is in lessons/answers/{self.name}.py.")


def first_hint(function: Callable[..., Any], check: Check) -> str | None:
    """The check's hint about a function, or None where the function is right."""
    try:
        for right, hint in check(function):
            if not right:
                return hint
    except Exception as error:  # an error in a learner's function becomes a hint
        return f"{_place(function, error)}{type(error).__name__}: {error}"
    return None


def is_blank(function: Callable[..., Any]) -> bool:
    """Whether the body is empty: `...`, a docstring, or both."""
    idle = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"}
    steps = list(dis.get_instructions(function))
    return all(
        step.opname in idle and (not step.opname.endswith("CONST") or step.argval is None)
        for step in steps
    )


def part_of(folder: str, name: str) -> ModuleType:
    """The hidden answers of a lesson, or the checks of its exercises, by their folder."""
    path = HERE / folder / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{folder}_{name}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"{path} is missing: the lesson {name} needs its {folder}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def same(found: Any, wanted: Any, within: float = 1e-5) -> bool:
    """Whether two tensors (or numbers) have the same shape and differ by at most `within`."""
    found, wanted = torch.as_tensor(found), torch.as_tensor(wanted)
    if found.shape != wanted.shape:
        return False
    return bool(((found.double() - wanted.double()).abs() <= within).all())


def refused(kind: type[Exception], call: Callable[[], Any]) -> str:
    """The message of the error that a call must raise.

    Raises:
        AssertionError: the call does not raise it.
    """
    try:
        call()
    except kind as error:
        print(f"{kind.__name__}: {error}")
        return str(error)
    raise AssertionError(f"no {kind.__name__} was raised")


def panels(columns: int = 1, *, width: float = 9.0, height: float = 3.2) -> tuple[Figure, Any]:
    """A white figure with plots side by side, and the plot or a list of the plots."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes: Sequence[Axes] = figure.subplots(1, columns, squeeze=False)[0]
    for plot in axes:
        plot.spines[["top", "right"]].set_visible(False)
    return figure, axes[0] if columns == 1 else list(axes)


def in_notebook() -> bool:
    """Whether this code runs in a notebook's kernel."""
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def _place(function: Callable[..., Any], error: Exception) -> str:
    """The line of the learner's function that raised the error, in words; where another function
    raised it, the likely reason."""
    first = inspect.unwrap(function).__code__.co_firstlineno
    trace = error.__traceback__
    line = None
    while trace is not None:
        if trace.tb_frame.f_code is function.__code__:
            line = trace.tb_lineno - first + 1
        trace = trace.tb_next
    if line is None:
        return "Its result could not be used (does it end in `return`?): "
    return f"Its line {line} stopped with "


def _save_view(texts: Sequence[str], path: Path) -> None:
    command = [sys.executable, "-m", "allyouneed", "look", "--html", str(path), *texts]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode:
        raise RuntimeError(f"no view was saved: {ended.stderr}")


def _framed(texts: Sequence[str]) -> Any:
    """The saved view in a frame of a page."""
    from IPython.display import HTML

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "view.html"
        _save_view(texts, path)
        view = html.escape(path.read_text("utf-8"))
    style = "width: 100%; height: 45em; border: 1px solid #ccc"
    return HTML(f'<div><iframe title="live view" style="{style}" srcdoc="{view}"></iframe></div>')
