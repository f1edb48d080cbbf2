"""Counts the files and the calls that a sentence passes until it is translated, and that pairs pass
in a step of training. docs/explanation/map.md has the figures.

    python tools/walk.py           # the figures
    python tools/walk.py --calls   # and the calls, in the order in which they first happen

A file counts when one of its functions runs. A call counts when code of one file calls a function
of another: once for each function and file it is called from. Opening the model, reading the
recipe, generated functions (of dataclasses) and C++ code do not count.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

import allyouneed
from allyouneed.training.loop import Loop
from allyouneed.translation.translator import Translator

PACKAGE = Path(allyouneed.__file__).parent
STEPS = ["training.steps=3", "training.log_every=100", "validation.sentences=0"]


class Walk:
    """The files and calls of the last run of a function, its own file included."""

    def __init__(self, of: Callable[..., object]) -> None:
        self._entry: CodeType = of.__code__
        self._inside: FrameType | None = None
        self.files: set[str] = set()
        self.calls: dict[tuple[str, str], str] = {}  # (file, function) → the function's file

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """What `sys.setprofile` calls."""
        if event == "return" and frame is self._inside:
            self._inside = None
        if event != "call":
            return
        code = frame.f_code
        if code is self._entry and self._inside is None:
            self._inside, self.files, self.calls = frame, {_file(code)}, {}
        elif self._inside and _is_ours(code) and not code.co_name.startswith("<"):
            caller = frame.f_back
            while caller and not _is_ours(caller.f_code):
                caller = caller.f_back
            self.files.add(_file(code))
            if caller and _file(caller.f_code) != _file(code):
                self.calls[_file(caller.f_code), code.co_qualname] = _file(code)

    def watch(self, run: Callable[[], object]) -> None:
        sys.setprofile(self)
        try:
            run()
        finally:
            sys.setprofile(None)


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(f"{PACKAGE}/")


def _file(code: CodeType) -> str:
    return code.co_filename.removeprefix(f"{PACKAGE}/")


def sentence() -> Walk:
    """The walk of a sentence, by the native engine. The translation before it fills what is filled
    at first use."""
    translator = allyouneed.load("en-de")
    translator("The dog sleeps.")
    walk = Walk(Translator.__call__)
    walk.watch(lambda: translator("Two women are talking to each other in the street."))
    return walk


def step() -> Walk:
    """The walk of a step of training, on a CPU; the third step of a run."""
    walk = Walk(Loop._step)
    with tempfile.TemporaryDirectory() as folder:
        walk.watch(lambda: allyouneed.train("copy", Path(folder), overrides=STEPS, device="cpu"))
    return walk


def main() -> None:
    for name, walk in (("a sentence", sentence()), ("a step of training", step())):
        print(f"{name}: {len(walk.files)} files, {len(walk.calls)} calls between files")
        if "--calls" in sys.argv[1:]:
            for (caller, function), file in walk.calls.items():
                print(f"    {caller} → {file}: {function}")


if __name__ == "__main__":
    main()
