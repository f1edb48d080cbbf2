"""A session over a small model with random weights, which translates at once."""

import base64
import gzip
import json
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allyouneed.core.transformer import Transformer
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation.translator import Translator
from allyouneed.widget.packing import compact
from allyouneed.widget.session import Session


class File:
    """A saved page, asked as its script asks it."""

    def __init__(self, path: Path) -> None:
        document = path.read_text("utf-8")
        data = re.search(r'id="answers">([^<]*)<', document)
        assert data
        packed = gzip.decompress(base64.b64decode(data[1]))
        (length,) = struct.unpack_from("<I", packed)
        head = json.loads(packed[4 : 4 + length])
        self.found = head["json"]
        self.arrays = {
            entry["name"]: np.frombuffer(
                packed, "<f2", entry["bytes"] // 2, 4 + length + entry["offset"]
            ).reshape(entry["shape"])
            for entry in head["arrays"]
        }

    def ask(self, kind: str, payload: dict[str, Any]) -> tuple[Any, dict[str, np.ndarray]] | None:
        held = self.found.get(compact({"kind": kind, "payload": payload}))
        if held is None:
            return None
        arrays = {
            name: self.arrays[place] if row is None else self.arrays[place][row]
            for name, (place, row) in held["arrays"].items()
        }
        return held["json"], arrays


Model = Callable[..., Transformer]


@pytest.fixture(scope="session")
def translator(small_model: Model, small_tokenizer: Tokenizer) -> Translator:
    """2 encoder layers, 3 decoder layers, 2 heads each; d_model 16."""
    return Translator.of_model(small_model(encoder_layers=2, decoder_layers=3), small_tokenizer)


@pytest.fixture(scope="session")
def other_translator(small_model: Model, small_tokenizer: Tokenizer) -> Translator:
    """Of another shape, with the norms before the sub-layers."""
    return Translator.of_model(small_model(residual="pre-norm"), small_tokenizer)


@pytest.fixture
def session(translator: Translator, other_translator: Translator) -> Session:
    """A fresh session over both."""
    return Session([translator, other_translator], ["small", "other"])


@pytest.fixture(scope="session")
def read_saved() -> Callable[[Path], File]:
    """Opens a saved page."""
    return File
