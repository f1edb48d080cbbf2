"""The YAML that Marian writes, and what is refused of the rest."""

import contextlib
import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.interop.marian.yaml_lines import read_yaml

WRITTEN = """\
# a comment
relative-paths: true
models:
  - a.npz
  - "b c.npz"
dim-vocabs: [32000, 32000]
transformer-tied-layers:
  []
empty: ""
nothing: ~
normalize: 1.0
beam-size: 6
version: v1.9.56 b2f8af6f 2021-03-09 10:53:39 +0000
word-penalty: -0.5
'it''s': 'a ''text'''
"\\u2581the": 5
"\\"": 7
"\\xE9": 8
",": 9
trailing: x   # said why
list-at-the-edge:
- 1
- two
"""


def test_what_marian_writes_is_read_as_yaml() -> None:
    assert read_yaml(WRITTEN) == yaml.safe_load(WRITTEN)


def test_settings_of_a_model(toys: Any) -> None:
    model = toys.toy((16, 16))
    assert read_yaml(model.yaml) == yaml.safe_load(model.yaml)


@given(pieces=st.lists(st.text(min_size=1, max_size=6), unique=True, max_size=20))
@settings(max_examples=100, deadline=None)
def test_vocabularies(pieces: list[str]) -> None:
    text = "".join(f"{json.dumps(piece)}: {id_}\n" for id_, piece in enumerate(pieces))
    assert read_yaml(text) == {piece: id_ for id_, piece in enumerate(pieces)}


@pytest.mark.parametrize(
    "text",
    [
        "just a text\n",
        "a: &x 1\n",
        "a: *x\n",
        "a: !!python/object/apply:os.system [ls]\n",
        "a: {b: c}\n",
        "a: [1, 2\n",
        'a: "no end\n',
        '"no end: 1\n',
        "a:\n  b: 1\n",
        "a: 1\n  - 2\n",
        "  - 2\n",
        "a: |\n",
        "- 1\n",
        '"\\uD83": 1\n',
        '"\\UFFFFFFFF": 1\n',
    ],
)
def test_what_is_not_read_is_an_error_with_its_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"line [12], "):
        read_yaml(text)


@given(text=st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(read_yaml(text), dict)
