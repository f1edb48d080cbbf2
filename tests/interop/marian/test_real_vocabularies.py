"""Vocabularies of Mozilla and OPUS-MT, as they are handed out, with weights that the test makes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allyouneed.data.root import data_root
from allyouneed.model_folder.folder import ModelFolder

ROOT = data_root()
MODELS = ROOT / "models" if ROOT else Path("no models")
Make = Callable[..., Path]
Import = Callable[..., tuple[ModelFolder, list[str]]]
LINES = [
    "A man rides a bike.",
    "  Two   spaces, 12,345 digits; Füße, œuvre, 你好, 🚲.",
    ">>deu<< is text here\u00a0too…",
    "I can't",
]
pytestmark = pytest.mark.skipif(not MODELS.is_dir(), reason="the models are not on this machine")


def test_mozillas(toys: Any, folder: Make, imported: Import) -> None:
    spm = (MODELS / "mozilla-test.spm").read_bytes()
    pieces = toys.pieces(spm)
    model = toys.toy((len(pieces), len(pieces)), d_model=16, d_ff=16, layers=(1, 1))
    files = {"model.enru.intgemm.alphas.bin": toys.bin_file(model, bits=8), "vocab.enru.spm": spm}
    ours, _ = imported(folder(files))
    for line in LINES:
        assert ours.tokenizer.encode(line).ids == [*pieces.encode(line), pieces.eos_id()]
        assert ours.tokenizer.target.decode(pieces.encode(line)) == pieces.decode(
            pieces.encode(line)
        )
    assert ours.config.end == pieces.eos_id()


def test_opus_mts(toys: Any, folder: Make, imported: Import) -> None:
    path = MODELS / "opus-mt-fr-en"
    ids = json.loads((path / "vocab.json").read_text("utf-8"))
    del ids["<pad>"]  # Hugging Face adds it behind Marian's own
    model = toys.toy(
        (len(ids), len(ids)), d_model=8, heads=2, d_ff=8, layers=(1, 1), autoreg="self-attention"
    )
    table = "".join(f"{json.dumps(piece)}: {id_}\n" for piece, id_ in ids.items())
    source, target = ((path / f"{side}.spm").read_bytes() for side in ("source", "target"))
    files = {
        "opus.npz": toys.npz_file(model),
        "opus.vocab.yml": table.encode(),
        "source.spm": source,
        "target.spm": target,
    }
    ours, _ = imported(folder(files))
    pieces = toys.pieces(source)
    for line in LINES[:2]:
        expected = [ids.get(piece, ids["<unk>"]) for piece in pieces.encode_as_pieces(line)]
        assert ours.tokenizer.encode(line).ids == [*expected, ids["</s>"]]
    assert len(ours.tokenizer) == len(ids) + 1
