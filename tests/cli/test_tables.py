"""Tables for people: what stands in a cell is shown as it is."""

import pytest

from allyouneed.cli.tables import print_result, variety_table
from allyouneed.evaluation.variety import variety


def test_brackets_and_colons_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    said = "[laughs] :smile: [/b]"
    print_result(variety_table({"own": variety([said, said])}, "Replies"), ())
    assert said in capsys.readouterr().out
