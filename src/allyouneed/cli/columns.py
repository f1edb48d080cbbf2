"""Columns of a terminal: a character of Chinese takes two of them, a combining mark none."""

from rich.cells import cell_len

__all__ = ["cell_len", "padded"]


def padded(text: str, columns: int) -> str:
    """The text with blanks behind it up to so many columns."""
    return text + " " * (columns - cell_len(text))
