"""Other toolkits read a text in curly quotes as this one does."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.interop.tokenizer_json import tokenizer_json
from allyouneed.model_folder.folder import ModelFolder, open_model_folder
from allyouneed.text.normaliser import PlainMarks

tokenizers = pytest.importorskip("tokenizers")
Ids = Callable[[str], list[int]]
LETTERS = "abAB.!?( \t\u00a0\n“”’—–…\u00ade\u0301ﬁ-\u200b1«»5é"


@pytest.fixture(scope="module")
def folder() -> ModelFolder:
    return open_model_folder("en-de")


@pytest.fixture(scope="module")
def ids(folder: ModelFolder) -> Callable[[str], list[int]]:
    """The ids that the exported file gives a text."""
    theirs = tokenizers.Tokenizer.from_str(tokenizer_json(folder))
    theirs.encode_special_tokens = True
    return lambda text: list(theirs.encode(text).ids)


def test_typed_texts_get_the_ids_of_plain_ones(folder: ModelFolder, ids: Ids) -> None:
    text = "“It’s late” — the ca\u00adfe\u0301\u2003is\u00a0closed… so—late "
    assert ids(text) == folder.tokenizer.encode(PlainMarks().plain(text).text).ids
    assert ids("It's late.") == folder.tokenizer.encode("It's late.").ids


@settings(deadline=None)
@given(text=st.text(alphabet=LETTERS, max_size=25))
def test_every_text_does(text: str, folder: ModelFolder, ids: Ids) -> None:
    assert ids(text) == folder.tokenizer.encode(PlainMarks().plain(text).text).ids


def test_without_a_normaliser_the_file_is_the_folders_own(folder: ModelFolder) -> None:
    bare = replace(folder, normaliser=None)
    assert tokenizer_json(bare) == (Path(folder.path) / "tokenizer.json").read_text("utf-8")
