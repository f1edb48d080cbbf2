"""Mozilla's Fluent (ftl): messages, their attributes and their variants are translated."""

import re

from allyouneed.documents.document import Document, decoded
from allyouneed.documents.key_values import value_parts
from allyouneed.translation.markup.passage import has_words

# A value goes on in lines that are indented and begin neither a variant nor an attribute.
_VALUE = r"(?P<value>[^\r\n]*(?:(?:\r?\n)+[ ]+(?![.\s}\[*])[^\r\n]*)*)"
_TERM = r"-[a-zA-Z][\w-]*[ ]*=[^\r\n]*(?:(?:\r?\n)+(?:[ ]+[^\r\n]+|\}))*"
_KEYED = re.compile(
    rf"^(?:{_TERM}|(?P<key>(?:[a-zA-Z][\w-]*|[ ]+\.[a-zA-Z][\w-]*)(?=[ ]*=)"
    rf"|[ ]+\*?\[[ ]*[\w.-]+[ ]*\])(?:[ ]*=)?[ ]*{_VALUE})",
    re.MULTILINE,
)
_LITERAL = r'\{\s*"(?:[^"\\\n]|\\.)*"\s*\}'  # { "{" } is a brace
_SELECTOR = re.compile(r"\{[^{}]*->\s*")
_BEHIND_VARIANTS = re.compile(r"^[ ]*\}[^\S\r\n]*\S", re.MULTILINE)


def read_fluent(data: bytes) -> Document:
    """The document of a Fluent file. Each variant is translated by itself. Terms stay, because
    their variants are forms of a name in the source's language, and so does text that stands in one
    value with variants."""
    encoded = decoded(data)
    beside = bool(_BEHIND_VARIANTS.search(encoded.text))

    def decode(raw: str) -> str:
        nonlocal beside
        bare = re.sub(_LITERAL, "", raw)
        if bare.count("{") == bare.count("}") and "->" not in bare:
            return raw
        beside = beside or has_words(_SELECTOR.sub("", bare))
        return ""

    def encode(raw: str, text: str) -> str:
        indent = re.search(r"\n([ ]+)", raw)
        return re.sub(r"\n\s*", "\n" + (indent[1] if indent else "    "), text)

    parts = value_parts(encoded.text, _KEYED, decode, encode)
    notes = ["text beside variants ({ $n -> ... }) in one value stays as it is"] if beside else []
    return encoded.document(parts, notes, [_LITERAL])
