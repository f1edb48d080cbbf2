"""Files of keys and values: Java's properties, Apple's strings."""

import re
from collections.abc import Callable, Iterator, Mapping

from allyouneed.documents.document import Document, decoded, spliced
from allyouneed.documents.messages import message
from allyouneed.translation.markup.nodes import Part
from allyouneed.translation.markup.passage import has_words

_PROPERTY = re.compile(
    r"^[ \t\f]*(?P<key>(?:[^\s\\:=#!]|\\.)(?:[^\s\\:=]|\\.)*)(?:[ \t\f]*[=:][ \t\f]*|[ \t\f]+)"
    r"(?P<value>(?:[^\\\r\n]|\\\r?\n|\\.)*)|^[ \t\f]*[#!][^\r\n]*",
    re.MULTILINE,
)
_APPLE = re.compile(
    r'/\*[\s\S]*?(?:\*/|\Z)|//[^\n]*|(?P<key>"(?:[^"\\]|\\.)*+"|(?<![\w.-])[\w.-]++)\s*+=\s*+'
    r'"(?P<value>(?:[^"\\]|\\[\s\S])*+)"\s*;|"(?:[^"\\]|\\[\s\S])*+(?:"|\Z)'
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_PLACE = re.compile(r"\{\d")


def read_properties(data: bytes) -> Document:
    """The document of a properties file: its values are translated."""
    encoded = decoded(data)
    in_ascii = encoded.text.isascii()

    def encode(raw: str, text: str) -> str:
        if _PLACE.search(text):
            text = text.replace("'", "''")
        text = _escaped(text, {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\f": "\\f"})
        if text[:1] == " ":
            text = "\\" + text
        if not in_ascii:
            return text
        units = text.encode("utf-16-be")
        found = [int.from_bytes(units[n : n + 2], "big") for n in range(0, len(units), 2)]
        return "".join(chr(unit) if unit < 128 else f"\\u{unit:04x}" for unit in found)

    return encoded.document(value_parts(encoded.text, _PROPERTY, _property, encode))


def _property(raw: str) -> str:
    text = re.sub(r"\\\r?\n[ \t\f]*", "", raw)
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    text = re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text)
    text = text.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")
    return text.replace("''", "'") if _PLACE.search(text) else text


def read_strings(data: bytes) -> Document:
    """The document of Apple's strings file: its values are translated."""
    encoded = decoded(data)

    def decode(raw: str) -> str:
        return re.sub(r"\\([\s\S])", lambda match: _ESCAPES.get(match[1], match[1]), raw)

    def encode(raw: str, text: str) -> str:
        line_end = "\n" if "\n" in raw else "\\n"
        return _escaped(text, {"\\": "\\\\", '"': '\\"', "\n": line_end, "\t": "\\t"})

    return encoded.document(value_parts(encoded.text, _APPLE, decode, encode))


def value_parts(
    text: str,
    pattern: re.Pattern[str],
    decode: Callable[[str], str],
    encode: Callable[[str, str], str],
) -> list[Part]:
    """The parts of a file, with a passage for each value with words that `pattern` finds."""

    def places() -> Iterator[tuple[int, int, Part]]:
        for match in pattern.finditer(text):
            raw = match["value"] or ""
            value = decode(raw)
            if has_words(value):
                write = _bound(encode, raw)
                yield *match.span("value"), message(value, raw, write, match["key"].strip(' ".'))

    return spliced(text, places())


def _escaped(text: str, signs: Mapping[str, str]) -> str:
    return "".join(signs.get(sign, sign) for sign in text)


def _bound(encode: Callable[[str, str], str], raw: str) -> Callable[[str], str]:
    return lambda text: encode(raw, text)
