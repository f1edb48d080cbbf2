"""Messages of programs: short texts with tags and placeholders, in files of strings."""

import re
from collections.abc import Callable

from allyouneed.translation.markup.nesting import Closing, Opening, Token, nested
from allyouneed.translation.markup.nodes import Node, Void
from allyouneed.translation.markup.passage import Passage, escaped

_MARK = re.compile(r"""</?[a-zA-Z][^\s<>/]*(?:\s[^<>]*)?/?>|\r?\n""")
_ALONE = frozenset(["br", "img", "hr", "wbr", "input"])
Encode = Callable[[str], str]
"""encode(text): the text as the file writes it, with quotes and escapes."""


def message(text: str, raw: str, encode: Encode, where: str) -> Passage:
    """The passage of a message that stands in the file as `raw`. Tags in its text are carried as
    tags, and line ends stay between their words."""

    def write(passage: Passage) -> str:
        return encode(escaped(passage.target or (), str))

    return Passage(message_nodes(text), (raw,), str, where, write)


def message_nodes(text: str) -> tuple[Node, ...]:
    """The text of a message as nodes."""
    tokens: list[Token] = []
    place = 0
    for match in _MARK.finditer(text):
        tokens.append(text[place : match.start()])
        tokens.append(_token(match[0]))
        place = match.end()
    return nested([*tokens, text[place:]])


def _token(raw: str) -> Token:
    if raw.isspace():
        return Void((raw,), " ")
    name = re.sub(r"[\s/>].*", "", raw.lstrip("</"), flags=re.DOTALL).lower()
    if raw.endswith("/>") or name in _ALONE:
        return Void((raw,), " " if name == "br" else "")
    return (Closing if raw.startswith("</") else Opening)(name, (raw,))
