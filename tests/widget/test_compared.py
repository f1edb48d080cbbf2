"""Every mark of docs/compared.md that speaks for this project rests on tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "compared.md").read_text("utf-8")


def rows(document: str) -> dict[str, str]:
    """Each row's name, and the mark in the first column."""
    lines = re.findall(r"^\| (?!A user)([^|]+) \| ([^|]+) \|", document, re.MULTILINE)
    return {name.strip(): mark.strip() for name, mark in lines}


def evidence(document: str) -> dict[str, list[str]]:
    """The tests named for each row."""
    found: dict[str, list[str]] = {}
    for entry in document.split("## Evidence for the first column")[1].split("\n- ")[1:]:
        tests = re.findall(r"`([^`]+::[^`]+)`", entry)
        for name in re.findall(r"\*\*([^*]+)\*\*", entry):
            found[name] = tests
    return found


def missing(tests: list[str]) -> list[str]:
    """Those that are in no file."""
    absent = []
    for test in tests:
        place, _, name = test.partition("::")
        path = ROOT / place
        wanted = f"def {name}(" if path.suffix == ".py" else f'test("{name}"'
        if not path.is_file() or wanted not in path.read_text("utf-8"):
            absent.append(test)
    return absent


def test_every_mark_rests_on_a_test() -> None:
    marks, tests = rows(DOCUMENT), evidence(DOCUMENT)
    assert len(marks) == 28
    assert {name for name, mark in marks.items() if mark[0] in "●◐"} == {*tests}
    assert all(tests.values())


def test_the_tests_exist() -> None:
    assert missing([test for tests in evidence(DOCUMENT).values() for test in tests]) == []


def test_the_test_can_fail() -> None:
    assert missing(["tests/widget/test_compared.py::test_of_nothing", "tests/no.py::test_x"]) == [
        "tests/widget/test_compared.py::test_of_nothing",
        "tests/no.py::test_x",
    ]
    assert missing(["tests/widget/test_compared.py::test_the_tests_exist"]) == []
