"""The plotting library, an extra: its parts, its fonts, and files of what it drew."""

import functools
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allyouneed.errors import UsageError
from allyouneed.text.shown import shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIRST_FONT = "DejaVu Sans"  # comes with matplotlib
NOT_FOR_TEXT = ("cm", "STIX", "DejaVu Math", "Last Resort")  # the fonts of formulas, and boxes
LONGEST_LABEL = 24
DOTS = 160  # an inch of a PNG
FORMATS = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""What a figure can be written as, with the metadata that would make two files differ."""


def plotting(part: str = "") -> Any:
    """matplotlib, or a part of it such as `figure`.

    Raises:
        UsageError: matplotlib is not installed.
    """
    try:
        return import_module(f"matplotlib.{part}" if part else "matplotlib")
    except ModuleNotFoundError as error:
        raise UsageError(
            "figures need the package matplotlib: pip install 'allyouneed[figures]'"
        ) from error


@contextmanager
def plain_style() -> Iterator[None]:
    """The same figure whatever style its user has set: dark on white, and `$` a sign like any."""
    with plotting("style").context(["default", {"text.parse_math": False}]):
        yield


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure of so many inches, white, that no window is open for."""
    figure: Figure = plotting("figure").Figure(figsize=(width, height), layout="constrained")
    return figure


def save(figure: "Figure", path: str | Path) -> None:
    """Writes a figure as PNG, SVG or PDF, by the end of the name; the same figure gives the same
    bytes.

    Raises:
        UsageError: another ending, or a folder that is not there.
    """
    path = Path(path)
    check_place(path)
    with plain_style(), plotting().rc_context({"svg.hashsalt": path.name}):
        figure.savefig(path, dpi=DOTS, metadata=FORMATS[path.suffix.lower()])


def check_place(path: Path) -> None:
    """Raises UsageError for a place that `save` could not write to."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{path}: the name of a figure ends in {', '.join(FORMATS)}")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}")


def drawable(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """The texts, and the fonts that it takes to draw them, the first choice first; a character
    that no installed font has is written as its number, such as `<U+4E2D>`."""
    fonts, wanted = [FIRST_FONT], {ord(sign) for text in texts for sign in text}
    wanted -= _characters(FIRST_FONT)
    for font in _other_fonts() if wanted else ():
        if found := wanted & _characters(font):
            fonts.append(font)
            wanted -= found
    numbers = {code: f"<U+{code:04X}>" for code in wanted}
    return [text.translate(numbers) for text in texts], fonts


def labels(tokens: Sequence[str]) -> tuple[list[str], list[str]]:
    """Tokens, each on one line, and the fonts: spaces are shown, control characters (those that
    turn the direction of writing among them) are dots, and a very long token is cut."""
    written, fonts = drawable([_on_one_line(token) for token in tokens])
    cut = LONGEST_LABEL - 1
    return [f"{x[:cut]}…" if len(x) > LONGEST_LABEL else x for x in written], fonts


def _on_one_line(token: str) -> str:
    text = shown(token.strip() or token)[: LONGEST_LABEL + 1]
    if text and unicodedata.combining(text[0]):
        return f"\u25cc{text}"  # a mark alone needs a letter to sit on
    return text


@functools.cache
def _other_fonts() -> list[str]:
    known = plotting("font_manager").fontManager.ttflist
    names = {font.name for font in known if (font.style, font.weight) == ("normal", 400)}
    return sorted(name for name in names - {FIRST_FONT} if not name.startswith(NOT_FOR_TEXT))


@functools.cache
def _characters(font: str) -> frozenset[int]:
    """The codes of the characters that a font has."""
    manager = plotting("font_manager")
    return frozenset(manager.get_font(manager.findfont(font)).get_charmap())
