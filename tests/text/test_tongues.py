"""The words of each language are complete."""

import re
from importlib.resources import files

import pytest

from allyouneed.text.dressing import QUOTES
from allyouneed.text.language_names import name_of
from allyouneed.text.tongues.known import TONGUES
from allyouneed.text.tongues.tongue import Tongue


@pytest.mark.parametrize("code", TONGUES)
def test_the_words_of_a_language_are_complete(code: str) -> None:
    one = TONGUES[code]
    assert len(one.numbers.ones) == 10
    assert len(one.clock.hours.split()) == 12
    assert "HOUR" in one.clock.times
    assert "(?P<part>" in one.clock.times
    assert len(QUOTES[code]) == 4


@pytest.mark.parametrize("code", TONGUES)
def test_negations_of_a_language_match_no_empty_text(code: str) -> None:
    for pattern in (*TONGUES[code].negation, *TONGUES[code].numbers.ones, TONGUES[code].clock.told):
        assert re.compile(pattern).match("") is None


def test_each_file_is_a_language_that_is_known() -> None:
    folder = files("allyouneed.text.tongues")
    found = {one.name for one in folder.iterdir() if one.name.endswith((".py", ".toml"))}
    named = {name_of(code).lower() for code in TONGUES}
    modules = {f"{one}.py" for one in named} | {"__init__.py", "known.py", "tongue.py"}
    letters = {f"{one}.letters.toml" for one in named - {"english"}}
    assert found == modules | letters


def test_each_language_has_words_of_its_own() -> None:
    def shared(field: str) -> bool:
        return len({getattr(one, field) for one in TONGUES.values()}) < len(TONGUES)

    fields = ("negation", "numbers", "stops", "letters", "names", "enumeration")
    assert not [field for field in fields if shared(field)]
    assert set(fields) < set(Tongue._fields)
