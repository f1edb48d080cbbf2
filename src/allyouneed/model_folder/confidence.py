"""How sure a model may be of its translations: a few numbers beside it, in confidence.json.

`allyouneed calibrate` fits them. A folder without the file has none, and a file of a newer format
is left alone: translations are the same with and without them.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allyouneed.errors import ModelFolderError
from allyouneed.files import write_whole
from allyouneed.model_folder.folder import CONFIDENCE
from allyouneed.model_folder.weights.file import check_plain_file

FORMAT = "allyouneed confidence"
FORMAT_VERSION = 1
TEXT = (
    "mean",
    "least",
    "root",
    "probability",
    "length",
    "ratio",
    "source_pieces",
    "target_pieces",
    "source_rarity",
    "source_rarest",
    "target_rarity",
)
"""What the confidence of a text follows from; `translation.confidence` computes these signals."""
LATER = TEXT[8:]
"""Signals that older files lack."""
WORD = ("mean", "least", "text")
"""What the confidence of a word follows from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Two logistic regressions: one over the signals of a text, one over the signals of a word.

    `text` has a bias and one weight for each of `TEXT`, `word` a bias and one for each of `WORD`.
    `threshold` is the chrF (0 to 100) from which on a translation counts as acceptable.
    """

    threshold: float
    text: tuple[float, ...]
    word: tuple[float, ...]

    def text_odds(self, signals: Sequence[float]) -> float:
        """The logarithm of the odds that a reader accepts a translation with these signals."""
        return _line(self.text, signals)

    def word_odds(self, signals: Sequence[float]) -> float:
        """The logarithm of the odds that a word with these signals is right."""
        return _line(self.word, signals)

    def to_dict(self) -> dict[str, Any]:
        """As confidence.json has it."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "threshold": self.threshold,
            "text": dict(zip(("bias", *TEXT), self.text, strict=True)),
            "word": dict(zip(("bias", *WORD), self.word, strict=True)),
        }


def probability(odds: float) -> float:
    """The probability, 0 to 1, of these log-odds."""
    return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0


def open_calibration(folder: Path) -> Calibration | None:
    """The calibration of a model folder; None if the folder has none, or one that this version does
    not read.

    Raises:
        ModelFolderError: a file that is damaged.
    """
    file = folder / CONFIDENCE
    if not file.exists():
        return None
    check_plain_file(file)
    try:
        values = json.loads(file.read_bytes().decode())
        if values["format"] != FORMAT:
            raise ValueError(f"its format is not {FORMAT!r}")
        if int(values["format_version"]) > FORMAT_VERSION:
            return None
        found = Calibration(
            threshold=float(values["threshold"]),
            text=_weights(values["text"]),
            word=tuple(float(values["word"][name]) for name in ("bias", *WORD)),
        )
        if not all(map(math.isfinite, (found.threshold, *found.text, *found.word))):
            raise ValueError("a number is not finite")
    except (ValueError, KeyError, TypeError, RecursionError, OSError) as error:
        raise ModelFolderError(
            f"{file} cannot be read ({error!r}); delete it; if confidences are wanted, write "
            f"it anew with `allyouneed calibrate --model {folder}`"
        ) from error
    return found


def _weights(text: dict[str, float]) -> tuple[float, ...]:
    """The bias and the weights of `TEXT`. Files written before the signals of rarity were added
    lack their weights, which are then 0."""
    later = dict.fromkeys(LATER, 0.0)
    return tuple(float((later | text)[name]) for name in ("bias", *TEXT))


def save_calibration(calibration: Calibration, folder: Path) -> None:
    """Writes confidence.json into a model folder."""
    write_whole(folder / CONFIDENCE, json.dumps(calibration.to_dict(), indent=2) + "\n")


def _line(weights: Sequence[float], signals: Sequence[float]) -> float:
    bias, *slopes = weights
    return bias + math.fsum(map(float.__mul__, slopes, map(float, signals)))
