"""Text that UTF-8 cannot hold, made holdable without moving any character."""

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> tuple[str, list[str]]:
    """Replaces every surrogate by U+FFFD, one for one, so that character offsets stay right.

    Returns the text and the notes for the user: none where nothing was replaced.
    """
    if text.isascii():
        return text, []
    first = _SURROGATE.search(text)
    if first is None:
        return text, []
    cleaned, count = _SURROGATE.subn("\ufffd", text)
    place = f"{count} lone surrogate{'s' if count > 1 else ''}, the first at character"
    return cleaned, [f"{place} {first.start() + 1}, replaced by U+FFFD: UTF-8 cannot hold them"]
