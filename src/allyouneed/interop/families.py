"""Recognises the family of a Hugging Face folder by its config.json, without its weights."""

import json
from pathlib import Path
from typing import Any

from allyouneed.model_folder.folder import CONFIG

# Features of other encoder-decoders that users may try to import as Marian models.
OTHERS = {
    "bart": "learned positions and a norm over its embeddings",
    "blenderbot": "learned positions, pre-norm layers",
    "fsmt": "another padding of positions and an output without a bias (import it from fairseq)",
    "m2m_100": "pre-norm layers and a language as the first token",
    "mbart": "learned positions, pre-norm layers, norms over its embeddings and on top",
    "mt5": "relative positions inside attention, RMS norms, attention that is not scaled",
    "nllb-moe": "experts in its feed-forward layers",
    "pegasus": "pre-norm layers",
    "t5": "relative positions inside attention, RMS norms, attention that is not scaled",
}


def model_type(path: Path) -> str | None:
    """The model_type in the config.json of a Hugging Face folder; None if there is none."""
    return _said(path, "model_type")


def is_model_folder(path: Path) -> bool:
    """Whether this is a folder of this project."""
    return _said(path, "format") == "allyouneed"


def _said(path: Path, key: str) -> str | None:
    try:
        config: Any = json.loads((path / CONFIG).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    found = config.get(key) if isinstance(config, dict) else None
    return found if isinstance(found, str) else None


def is_ctranslate2(path: Path) -> bool:
    """Whether this is a folder of CTranslate2. Marian's model.bin begins with a 1, CTranslate2's
    does not."""
    try:
        with (path / "model.bin").open("rb") as file:
            return file.read(4) != b"\x01\0\0\0"
    except OSError:
        return False


def is_argos(path: Path) -> bool:
    """Whether this is an unpacked package of Argos: a folder of CTranslate2 with metadata."""
    return (path / "metadata.json").is_file() and is_ctranslate2(path / "model")


def set_apart(kind: str) -> str:
    """The features of a model type that Marian lacks, as the end of a sentence; "" if unknown."""
    return f": it has {OTHERS[kind]}" if kind in OTHERS else ""
