"""allyouneed.json: facts in an export that the other toolkit's files lack, so that the export can
be imported again without loss.

It holds the languages with their marks, the normaliser and `trained_length`. Here a text with more
tokens is translated in parts; the other toolkit translates it as a whole.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from allyouneed.errors import ConfigError, ModelFolderError
from allyouneed.interop.pretrained import read_file, read_table
from allyouneed.interop.tokenizer_json import NORMALISERS
from allyouneed.model_folder.config import length_penalty_of
from allyouneed.model_folder.folder import TOKENIZER, ModelFolder
from allyouneed.text.languages import TARGET, Languages
from allyouneed.text.opening import read_tokenizer
from allyouneed.text.tokenizer import Tokenizer

ABOUT = "allyouneed.json"
MOST_PIECES = 1 << 24  # of a vocabulary; opening the folder checks the marks against its own
LENGTH = """
The model was trained on texts of up to {length} tokens. allyouneed translates a longer text in
parts; {toolkit} translates it as a whole. Up to that length their translations are the same. Cut
longer texts into sentences first.
"""
MARKS = """
The model translates in several directions ({directions}). A source begins with the mark of the
target's language, a token that the tokenizer does not add: {marks}. Put it before the tokens of the
text, `["{first}", *tokens]` or its id.
"""


def write_about(folder: ModelFolder, path: Path) -> None:
    """Writes allyouneed.json into an export."""
    about: dict[str, Any] = {
        "source_language": folder.languages[0],
        "target_language": folder.languages[1],
        "trained_length": folder.trained_length,
        "normaliser": folder.normaliser,
        "term_mark": folder.term_mark,
        "length_penalty": folder.length_penalty,
    }
    if folder.multilingual is not None:
        about["languages"] = folder.multilingual.to_dict()
    (path / ABOUT).write_text(json.dumps(about, indent=2) + "\n", "utf-8")


def length_in_words(folder: ModelFolder, toolkit: str) -> str:
    """A paragraph for an export's README about texts longer than those that the model was trained
    on."""
    if folder.trained_length is None:
        return ""
    return LENGTH.format(length=folder.trained_length, toolkit=toolkit)


def marks_in_words(folder: ModelFolder) -> str:
    """A paragraph for an export's README about the marks of languages."""
    languages = folder.multilingual
    if languages is None or languages.source_begins_with != TARGET:
        return ""
    tokens = {
        code: folder.tokenizer.piece(id) for code, ids in languages.marks.items() for id in ids
    }
    return MARKS.format(
        directions=", ".join(map("-".join, languages.directions())),
        marks=", ".join(f"`{token}` for {code}" for code, token in tokens.items()),
        first=next(iter(tokens.values())),
    )


def read_about(path: Path) -> dict[str, Any]:
    """The facts that `write_about` wrote, as fields of `Traits`; empty if the file does not exist.

    Raises:
        ModelFolderError: the file is damaged.
    """
    if not (path / ABOUT).is_file():
        return {}
    about = read_table(path / ABOUT)
    length, normaliser = about.get("trained_length"), about.get("normaliser")
    languages = tuple(str(about.get(f"{side}_language") or "") for side in ("source", "target"))
    if not (length is None or (type(length) is int and 2 <= length < 1 << 20)):
        raise ModelFolderError(f"{path / ABOUT}: trained_length={length!r} is no length")
    if normaliser is not None and normaliser not in tuple(NORMALISERS):
        raise ModelFolderError(f"{path / ABOUT}: normaliser={normaliser!r} is not known")
    mark = about.get("term_mark")
    if not (mark is None or (type(mark) is int and 0 <= mark < MOST_PIECES)):
        raise ModelFolderError(f"{path / ABOUT}: term_mark={mark!r} is no id")
    found: dict[str, Any] = {
        "languages": languages,
        "trained_length": length,
        "normaliser": normaliser,
        "term_mark": mark,
        "length_penalty": length_penalty_of(path / ABOUT, about),
    }
    if "languages" in about:
        try:
            found["multilingual"] = Languages.from_dict(about["languages"], MOST_PIECES)
        except (ConfigError, TypeError) as error:
            raise ModelFolderError(f"{path / ABOUT}: languages: {error}") from error
    return found


def read_own_tokenizer(path: Path) -> Tokenizer | None:
    """This project's tokenizer from an export's tokenizer.json; None if the file is missing or of
    another project.

    Raises:
        ModelFolderError: the file is this project's, but damaged.
    """
    if not (path / TOKENIZER).is_file():
        return None
    text = read_file(path / TOKENIZER).decode(errors="replace")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFolderError(f"{path / TOKENIZER} is no JSON: {error}; copy it again") from error
    if not isinstance(document, dict) or "kind" in document:
        return None
    own = _without_normaliser(document)
    try:
        tokenizer = read_tokenizer(text if own is document else json.dumps(own), str(path))
    except ModelFolderError:
        if (path / ABOUT).is_file():
            raise
        return None
    return tokenizer if isinstance(tokenizer, Tokenizer) else None


def _without_normaliser(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The tokenizer as it was before `tokenizer_json` put a model's normaliser into it."""
    normalizer = document.get("normalizer")
    parts = normalizer.get("normalizers") if isinstance(normalizer, dict) else None
    if isinstance(parts, list) and any(parts[:-1] == known for known in NORMALISERS.values()):
        return {**document, "normalizer": parts[-1]}
    return document
