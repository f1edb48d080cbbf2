"""Finds words that a text says twice in a row, as small models do."""

import re

_WORD = re.compile(r"\w+")
_TWICE = re.compile(r"\b([^\W\d_]{4,}|\w+(?: \w+){1,7}) \1\b", re.IGNORECASE)
_EMPHATIC = {
    "ganz", "immer", "lange", "mucha", "mucho", "nous", "really", "sehr", "that", "toujours",
    "très", "very", "viel", "viele", "vous", "weit",
}  # fmt: skip


def stutter(text: str) -> str:
    """The first words that follow themselves in a text; "" if there are none.

    A single short word may do so in a right sentence ("die, die die Eier legen", "he had had"), and
    words such as "very" for emphasis, or "nous" ("nous nous levons").
    """
    words = _WORD.findall(text.lower())
    if len(set(words)) == len(words):  # most texts
        return ""
    found = (match[1] for match in _TWICE.finditer(text))
    return next((one for one in found if one.lower() not in _EMPHATIC), "")
