"""Messages of programs: short texts with tags and placeholders, in files of strings."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from allyouneed.documents.icu import Span, icu_messages
from allyouneed.documents.mnemonic import with_mnemonic, without_mnemonic
from allyouneed.translation.markup.nesting import Closing, Opening, Token, nested
from allyouneed.translation.markup.nodes import LINE_BREAK, Around, Kept, Node, Part, Void, tidy
from allyouneed.translation.markup.passage import Passage, escaped
from allyouneed.translation.markup.scripts import script_of

_MARK = re.compile(r"""</?[a-zA-Z][^\s<>/]*(?:\s[^<>]*)?/?>|\r?\n""")
_ALONE = frozenset(["br", "img", "hr", "wbr", "input"])
Encode = Callable[[str], str]
"""encode(text): the text as the file writes it, with quotes and escapes."""


def message(text: str, raw: str, encode: Encode, where: str, gtk: bool = False) -> Passage:
    """The passage of a message that stands in the file as `raw`. Tags in its text are carried as
    tags, line ends stay between their words, and a mnemonic keeps its mark. `gtk` is as in
    `without_mnemonic`."""
    nodes, mnemonic = without_mnemonic(message_nodes(text), gtk)

    def write(passage: Passage) -> str:
        return encode(escaped(with_mnemonic(passage.target or (), mnemonic), str))

    return Passage(nodes, (raw,), str, where, write)


def message_nodes(text: str) -> tuple[Node, ...]:
    """The text of a message as nodes. The texts of an ICU message in it are passages of their
    own."""
    tokens: list[Token] = []
    place = 0
    for (begin, end), cases in icu_messages(text):
        tokens += _tokens(text[place:begin])
        tokens.append(Void(tuple(_with_cases(text, (begin, end), cases)), text[begin:end]))
        place = end
    return nested([*tokens, *_tokens(text[place:])])


def _tokens(text: str) -> Iterator[Token]:
    place = 0
    for match in _MARK.finditer(text):
        yield text[place : match.start()]
        yield _token(match[0])
        place = match.end()
    yield text[place:]


def _with_cases(text: str, span: Span, cases: Sequence[Span]) -> Iterator[Part]:
    """An ICU message, with a passage for each of its texts."""
    place = span[0]
    for begin, end in cases:
        yield text[place:begin]
        case = text[begin:end]
        yield Passage(tidy([*_numbered(message_nodes(case))]), (case,), str, f"the case {case!r}")
        place = end
    yield text[place : span[1]]


def _numbered(nodes: Iterable[Node]) -> Iterator[Node]:
    """Nodes of a case, in which "#" is the number."""
    for node in nodes:
        if isinstance(node, str):
            for piece in re.split("(#)", node):
                yield Kept(piece) if piece == "#" else piece
        elif isinstance(node, Around):
            yield replace(node, inside=tidy([*_numbered(node.inside)]))
        else:
            yield node


def _token(raw: str) -> Token:
    if raw.isspace():
        return Void((raw,), LINE_BREAK)
    name = re.sub(r"[\s/>].*", "", raw.lstrip("</"), flags=re.DOTALL).lower()
    if raw.endswith("/>") or name in _ALONE:
        return Void((raw,), LINE_BREAK if name == "br" else "")
    if raw.startswith("</"):
        return Closing(name, (raw,))
    return Opening(name, (raw,), script_of(name))
