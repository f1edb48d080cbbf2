"""Calls of the command line within the test's own process."""

import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import torch

from allyouneed.cli.app import main


@dataclass(frozen=True)
class Called:
    """What a call left behind: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines of standard output; they end at newlines alone."""
        return self.out.split("\n")[:-1]


Call = Callable[..., Called]


@pytest.fixture(autouse=True)
def threads_as_they_were() -> Iterator[None]:
    """--threads is for a process, and other tests compare runs of several to the bit."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """`call("translate", "Hello.", stdin=b"...")` runs the command line, whatever the width of the
    terminal that the tests run in."""
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*arguments: object, stdin: bytes = b"") -> Called:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Called(int(str(ended.value.code)), captured.out, captured.err)

    return run
