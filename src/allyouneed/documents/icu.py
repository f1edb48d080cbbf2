"""ICU messages: texts for each number or case, such as `{n, plural, one {# file} other {# files}}`.

Each of the texts is translated by itself; names, numbers and braces stay.
"""

import re
from collections.abc import Iterator

Span = tuple[int, int]

_HEAD = re.compile(r"\{\s*[\w.-]+\s*,\s*(plural|selectordinal|select)\s*,\s*(?:offset:\d+\s*)?")
_CASE = re.compile(r"(?:=\d+|[\w-]+)\s*\{")
_DEEPEST = 20


def icu_messages(text: str) -> Iterator[tuple[Span, list[Span]]]:
    """The place (begin, end) of each ICU message in a text, and the places of its texts, in order.
    A message that is not complete is none."""
    place = 0
    while match := _HEAD.search(text, place):
        place = match.end()
        texts = list[Span]()
        while case := _CASE.match(text, place):
            end = _closing(text, case.end())
            if end is None:
                break
            texts.append((case.end(), end))
            place = end + 1
            while text[place : place + 1].isspace():
                place += 1
        if texts and text[place : place + 1] == "}":
            place += 1
            yield (match.start(), place), texts


def _closing(text: str, begin: int) -> int | None:
    """The place of the brace that closes the one before `begin`; None if there is none."""
    depth = 1
    for match in re.compile(r"[{}]").finditer(text, begin):
        depth += 1 if match[0] == "{" else -1
        if depth > _DEEPEST:
            return None
        if depth == 0:
            return match.start()
    return None
