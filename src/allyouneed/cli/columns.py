"""Columns of a terminal: a Chinese character takes two columns, a combining mark none."""

from rich.cells import cell_len

__all__ = ["cell_len", "left_aligned"]


def left_aligned(text: str, columns: int) -> str:
    """The text, followed by spaces up to the given number of columns."""
    return text + " " * (columns - cell_len(text))
