"""Writes tokenizer.json for other toolkits. It contains the model's normaliser, so that a text with
curly quotes gets the same ids there."""

import json
from typing import Any

from allyouneed.model_folder.folder import ModelFolder
from allyouneed.text.normaliser import (
    DOUBLE_QUOTES,
    HYPHENS,
    LINE_ENDS,
    SINGLE_QUOTES,
    SPACES,
    SPELT_OUT,
    UNSEEN,
)
from allyouneed.text.tokenizer import Tokenizer

_SPACE = SPACES + LINE_ENDS
_LETTER = r"[\p{L}\p{N}_]"  # Python's \w; the library's \w also matches accents
_ALPHABETIC = r"[\p{L}\p{Nl}\p{No}]"  # Python's \w without digits and "_"
# A French guillemet with the space inside.
_GUILLEMET = (
    rf"(?<![^{_SPACE}(\[{{'’—–-])«[{SPACES}]+"
    rf"|(?<![{_SPACE}{UNSEEN}])[{SPACES}]+»(?![^{_SPACE}.,;:!?)\]}}…—–-])"
)
# Two sentences without a space between them, up to the mark of the first one.
_GLUED = (
    rf"(?:^[A-ZÀ-Þ]|(?<!{_LETTER}|\.))[a-zß-ÿ]++\K[.]"
    rf"(?=[A-ZÀ-Þ][a-zß-ÿ]*+(?!{_LETTER}|\.{_LETTER}|\())"
)
_NFC = {"type": "NFC"}


def _replaced(pattern: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


NORMALISERS: dict[str, list[dict[str, Any]]] = {
    "plain-marks": [
        _NFC,
        *(
            _replaced(pattern, content)
            for pattern, content in (
                (_GUILLEMET, '"'),
                (rf"(?<={_LETTER})[—―](?={_LETTER})", " - "),
                (f"[{UNSEEN}]*[{_SPACE}][{_SPACE}{UNSEEN}]*", " "),
                (f"[{UNSEEN}]+", ""),
                (f"[{DOUBLE_QUOTES}]", '"'),
                (f"[{SINGLE_QUOTES}]", "'"),
                (f"[{HYPHENS}]", "-"),
                *SPELT_OUT.items(),
            )
        ),
        _NFC,
        *(
            _replaced(pattern, content)
            for pattern, content in (
                (rf"(?<={_ALPHABETIC}\.\.)\.(?={_ALPHABETIC})", ". "),
                *((_GLUED.replace("[.]", f"[{mark}]"), f"{mark} ") for mark in ".!?"),
            )
        ),
        {"type": "Strip", "strip_left": True, "strip_right": True},
    ]
}


def tokenizer_json(folder: ModelFolder) -> str:
    """The tokenizer of `folder` in the format of the library `tokenizers`. It normalises texts like
    the folder's normaliser; it does not restore the marks of translations."""
    text = folder.tokenizer.to_json()
    if folder.normaliser is None or not isinstance(folder.tokenizer, Tokenizer):
        return text
    document = json.loads(text)
    document["normalizer"] = {
        "type": "Sequence",
        "normalizers": [*NORMALISERS[folder.normaliser], document["normalizer"]],
    }
    return json.dumps(document, ensure_ascii=False)
