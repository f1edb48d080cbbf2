"""Access to matplotlib, an extra: its parts, its fonts, and saving its figures."""

import functools
import io
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
NOT_FOR_TEXT = ("cm", "STIX", "DejaVu Math", "Last Resort")  # fonts of formulas or empty boxes
LONGEST_LABEL = 24
DOTS, SHOWN_DOTS = 160, 100  # dots per inch of a PNG file, and of a picture in a notebook
FORMATS = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""The file formats, each with the metadata to omit, because it differs between equal figures."""


def plotting(part: str = "") -> Any:
    """matplotlib, or a part of it such as `figure`.

    Raises:
        UsageError: matplotlib is not installed.
    """
    try:
        return import_module(f"matplotlib.{part}" if part else "matplotlib")
    except ModuleNotFoundError as error:
        raise UsageError(
            "figures need the package matplotlib; run pip install 'allyouneed[figures]'"
        ) from error


@contextmanager
def plain_style() -> Iterator[None]:
    """In the `with` block figures are dark on white, whatever style the user has set, and `$` is
    drawn literally."""
    with plotting("style").context(["default", {"text.parse_math": False}]):
        yield


def new_figure(width: float, height: float) -> "Figure":
    """An empty white figure of this size in inches. It opens no window, and a notebook shows it as
    the last value of a cell."""
    figure: Figure = _figure_class()(figsize=(width, height), layout="constrained")
    return figure


@functools.cache
def _figure_class() -> Any:
    """matplotlib's figure, which notebooks can show without `%matplotlib inline`."""

    class ShownFigure(plotting("figure").Figure):  # type: ignore[misc]
        """A figure that a notebook shows by itself."""

        def _repr_png_(self) -> bytes:
            return png(self)

    return ShownFigure


def png(figure: "Figure", dots: int = SHOWN_DOTS) -> bytes:
    """The figure as the bytes of a PNG, with `dots` per inch."""
    drawn = io.BytesIO()
    with plain_style():
        figure.savefig(drawn, format="png", dpi=dots, metadata=FORMATS[".png"])
    return drawn.getvalue()


def save(figure: "Figure", path: str | Path) -> None:
    """Writes a figure as PNG, SVG or PDF, as the suffix says. Equal figures give equal bytes.

    Raises:
        UsageError: the name has another suffix, or its folder does not exist.
    """
    path = Path(path)
    check_place(path)
    with plain_style(), plotting().rc_context({"svg.hashsalt": path.name}):
        figure.savefig(path, dpi=DOTS, metadata=FORMATS[path.suffix.lower()])


def check_place(path: Path) -> None:
    """Raises UsageError if `save` could not write to this path."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{path}: the name of a figure must end in one of {', '.join(FORMATS)}")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}")


def drawable(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """The texts, and the fonts that can draw them, the preferred font first. A character that no
    installed font has is replaced by its number, such as `<U+4E2D>`."""
    fonts, wanted = [FIRST_FONT], {ord(sign) for text in texts for sign in text}
    wanted -= _characters(FIRST_FONT)
    for font in _other_fonts() if wanted else ():
        if found := wanted & _characters(font):
            fonts.append(font)
            wanted -= found
    numbers = {code: f"<U+{code:04X}>" for code in wanted}
    return [text.translate(numbers) for text in texts], fonts


def labels(tokens: Sequence[str]) -> tuple[list[str], list[str]]:
    """Labels for tokens, each on one line, and the fonts that can draw them. Spaces are made
    visible, control characters become dots, and a very long token is cut."""
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
