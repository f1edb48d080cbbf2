"""What every verb has in common: short help, texts that begin with a dash, completion."""

import os
import subprocess
import sys

import pytest

from allyouneed.cli.app import VERBS


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_a_short_option_for_help(call, verb: str | None) -> None:
    done = call(*filter(None, (verb, "-h")))
    assert (done.code, done.err) == (0, "")
    assert "Usage: allyouneed" in done.out
    assert "--help" in done.out


def test_a_verb_alone_has_the_help_that_it_has_among_all(call) -> None:
    assert "translate" in call("--help").out
    assert "No such command" in call("dance").err


@pytest.mark.parametrize("verb", ["translate", "tokenize", "look"])
def test_a_text_that_begins_with_a_dash(call, verb: str) -> None:
    done = call(verb, "-5 degrees")
    assert done.code == 2
    assert 'put two dashes before a text that begins with a dash: -- "-5 degrees"' in done.err


def test_a_text_behind_two_dashes(call) -> None:
    done = call("tokenize", "--", "-5 degrees")
    assert (done.code, done.err) == (0, "")
    assert "5" in done.out


def test_an_option_that_is_misspelt_is_no_text(call) -> None:
    assert "--help lists the verbs and options" in call("translate", "--bean", "4").err


def completed(line: str) -> list[str]:
    """What bash is told of a command line that is not finished."""
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "allyouneed"],
        env={**os.environ, **asked, "_ALLYOUNEED_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_shells_complete_verbs_and_options() -> None:
    assert completed("allyouneed tr") == ["translate", "train"]
    assert completed("allyouneed translate --al") == ["--alignments"]


def test_looking_into_no_sentence(call) -> None:
    done = call("look", " ")
    assert done.code == 2
    assert "' ' has no words to translate" in done.err
