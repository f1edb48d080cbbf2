"""Replaces characters that UTF-8 cannot encode."""

import re

from allyouneed.checks import expect
from allyouneed.errors import counted

_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> tuple[str, list[str]]:
    """The text with U+FFFD in place of every lone surrogate, and notes for the user.

    Each surrogate is replaced by one character, so character offsets stay valid. There is no note
    if nothing was replaced.

    Raises:
        UsageError: the text is not a str.
    """
    expect(text, str, "text", "a str")
    if text.isascii():
        return text, []
    first = _SURROGATE.search(text)
    if first is None:
        return text, []
    cleaned, count = _SURROGATE.subn("\ufffd", text)
    place = f"{counted(count, 'lone surrogate')}, the first at character"
    return cleaned, [f"{place} {first.start() + 1}, replaced by U+FFFD: UTF-8 cannot hold them"]
