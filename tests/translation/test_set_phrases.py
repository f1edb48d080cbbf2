"""Set phrases come from a table, where the model's folder asks for it."""

import json
import shutil
from pathlib import Path

import pytest

import allyouneed
from allyouneed.model_folder.folder import open_model_folder
from allyouneed.translation.translator import Translator


@pytest.fixture(scope="module")
def english() -> Translator:
    return allyouneed.load("en-de")


def test_a_phrase_is_translated_without_the_model(english: Translator) -> None:
    found = english("What time is it?\nA man rides a bike.\ncheers")
    assert found.text.splitlines() == [
        "Wie spät ist es?",
        english("A man rides a bike.").text,
        "Prost",
    ]
    alone = english("Cheers!", alignments=True)
    assert (alone.text, alone.tokens, alone.confidence) == ("Prost!", (), 1.0)
    assert alone.alignment == ((0, 0),)
    assert "".join(english.stream("Cheers!")) == "Prost!"
    assert english("Cheers!", terms={"bike": "Rad"}).text == "Prost!"


def test_the_model_translates_it_where_more_is_asked_for(english: Translator) -> None:
    assert english("Cheers!", protect=False).tokens
    assert english("Cheers!", n_best=2).tokens
    assert english("Cheers!", prefix="Pro").tokens
    used = english("Cheers!", terms={"cheers": "Zum Wohl"})
    assert used.tokens
    assert [use.term for use in used.terms] == ["cheers"]


def test_only_a_folder_that_asks_for_it_gets_it(english: Translator, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    shutil.copytree(open_model_folder("en-de").path, folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    assert config.pop("set_phrases") is True
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    assert allyouneed.load(str(folder), kind=Translator)("Cheers!").tokens
