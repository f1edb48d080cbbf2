"""What every lesson uses: numbers that are asserted, pictures, and exercises that check themselves.

A lesson is a script in percent format, so it is also a notebook and a page. Two variables matter:

`ALLYOUNEED_LESSONS=fast`          smaller sizes, the same kind of assertions (for tests)
`ALLYOUNEED_LESSONS_FOLDER=DIR`    where a script leaves its pictures and saved views
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

Check = Callable[[Callable[..., Any]], Iterator[tuple[Any, str]]]
"""check(function) yields (right?, hint) one after the other, up to the first that is not right."""


class Lesson:
    """One lesson: `Lesson("01_attention")` in its first cell. Seeds torch.

    `fast` says whether the sizes are the small ones.
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
        """Prints a measured number with the range that it has to lie in.

        Raises:
            AssertionError: it does not.
        """
        number = float(torch.as_tensor(value).detach())
        if not low <= number <= high:
            raise AssertionError(f"{what}: {number:.6g} does not lie in {low:g} … {high:g}")
        print(f"{what}: {number:.4g}   (expected: {low:g} … {high:g})")

    def show(self, figure: Figure, name: str, alt: str) -> None:
        """Shows a picture in a notebook; a script leaves it in the folder as LESSON-NAME.png.

        `alt` says in words what is to be seen.
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
            print("(pictures are not kept; ALLYOUNEED_LESSONS_FOLDER=DIR says where to)")

    def live_view(self, name: str, *texts: str) -> Any:
        """The live view of one or two sentences, with the bundled model: the widget in a notebook.

        Where a notebook is run to become a page (a folder is set, or the sizes are small), it is
        the saved view inside the page; a script saves it in the folder as LESSON-NAME.html.
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

    def exercise(self, function: Callable[..., Any], check: Check) -> None:
        """Checks a learner's function and says how it did.

        While its body is `...` the hidden answer is checked in its place (answers/LESSON.py, the
        function of the same name), and with it every slip there (NAME__SLIP), which the check has
        to find.

        Raises:
            AssertionError: the hidden answer does not pass, or a slip does, or there is none.
        """
        name = function.__name__
        if not is_blank(function):
            hint = first_hint(function, check)
            print(f"{name}: right!" if hint is None else f"{name}: not yet. {hint}")
            return
        answers = answers_of(self.name)
        hint = first_hint(getattr(answers, name), check)
        if hint is not None:
            raise AssertionError(f"the hidden answer to {name} does not pass: {hint}")
        slips = [found for found in vars(answers) if found.startswith(f"{name}__")]
        passing = [slip for slip in slips if first_hint(getattr(answers, slip), check) is None]
        if passing or not slips:
            raise AssertionError(f"{name}: the check lets {', '.join(passing) or 'anything'} pass")
        print(f"{name}: still blank. Write its body and run this again; one answer is in")
        print(f"  lessons/answers/{self.name}.py ({len(slips)} slips are known to this check)")


def first_hint(function: Callable[..., Any], check: Check) -> str | None:
    """What the check has to say about a function, or None when all of it is right."""
    try:
        for right, hint in check(function):
            if not right:
                return hint
    except Exception as error:  # whatever a learner's function does is a hint, not a traceback
        return f"{_place(function, error)}{type(error).__name__}: {error}"
    return None


def is_blank(function: Callable[..., Any]) -> bool:
    """Whether nothing stands in the body but `...`, a docstring aside."""
    idle = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"}
    steps = list(dis.get_instructions(function))
    return all(
        step.opname in idle and (not step.opname.endswith("CONST") or step.argval is None)
        for step in steps
    )


def answers_of(name: str) -> ModuleType:
    """The hidden answers of a lesson."""
    path = HERE / "answers" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"answers_{name}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"{path}: the lesson {name} has no answers there")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def same(found: Any, wanted: Any, within: float = 1e-5) -> bool:
    """Whether two tensors (or numbers) have one shape and differ by at most `within`."""
    found, wanted = torch.as_tensor(found), torch.as_tensor(wanted)
    if found.shape != wanted.shape:
        return False
    return bool(((found.double() - wanted.double()).abs() <= within).all())


def refused(kind: type[Exception], call: Callable[[], Any]) -> str:
    """What the error says that a call has to end in.

    Raises:
        AssertionError: it does not.
    """
    try:
        call()
    except kind as error:
        print(f"{kind.__name__}: {error}")
        return str(error)
    raise AssertionError(f"no {kind.__name__} was raised")


def panels(columns: int = 1, *, width: float = 9.0, height: float = 3.2) -> tuple[Figure, Any]:
    """A white figure with so many plots side by side: the figure, and the plot or their list."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes: Sequence[Axes] = figure.subplots(1, columns, squeeze=False)[0]
    for plot in axes:
        plot.spines[["top", "right"]].set_visible(False)
    return figure, axes[0] if columns == 1 else list(axes)


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this."""
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def _place(function: Callable[..., Any], error: Exception) -> str:
    """Where in the learner's function an error arose, if it did so there."""
    first = inspect.unwrap(function).__code__.co_firstlineno
    trace = error.__traceback__
    line = None
    while trace is not None:
        if trace.tb_frame.f_code is function.__code__:
            line = trace.tb_lineno - first + 1
        trace = trace.tb_next
    if line is None:
        return "What it gave could not be used (does it end in `return`?) – "
    return f"Its line {line} stopped with "


def _save_view(texts: Sequence[str], path: Path) -> None:
    command = [sys.executable, "-m", "allyouneed", "look", "--html", str(path), *texts]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode:
        raise RuntimeError(f"no view was saved: {ended.stderr}")


def _framed(texts: Sequence[str]) -> Any:
    """The saved view as an element of a page."""
    from IPython.display import HTML

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "view.html"
        _save_view(texts, path)
        view = html.escape(path.read_text("utf-8"))
    style = "width: 100%; height: 45em; border: 1px solid #ccc"
    return HTML(f'<div><iframe title="live view" style="{style}" srcdoc="{view}"></iframe></div>')
