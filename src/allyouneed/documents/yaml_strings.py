"""Strings in YAML, such as the messages of Rails. Only values change; all else is copied.

PyYAML's scanner finds the places of scalars. No object is constructed, so the tags and aliases of a
hostile file have no effect.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from allyouneed.documents.declared_language import DeclaredLanguage
from allyouneed.documents.document import Document, decoded, spliced
from allyouneed.documents.messages import Encode, message
from allyouneed.errors import DataError, UsageError
from allyouneed.translation.markup.nodes import Part
from allyouneed.translation.markup.passage import has_words

if TYPE_CHECKING:
    from yaml import Token

PROTECTED = (r"%\{[^{}\s]+\}|%<\w+>[-+#0]*\d*(?:\.\d+)?[a-zA-Z]",)  # Ruby's placeholders
_NO_TEXT = re.compile(
    r"(?i)y|n|yes|no|on|off|true|false|null|~|=|<<|\.nan|[-+]?\.inf|0x[0-9a-f]+|\S*\d\S*"
)
_PLAIN = re.compile(r"(?![-?:,\[\]{}#&*!|>'\"%@`\s])(?:(?!:\s|:\Z|\s#)[^\n\t])+(?<!\s)")
_FLOW_SIGNS = re.compile(r"[\[\]{},?]")  # that end bare text within brackets
_UNPRINTABLE = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BEYOND_ASCII = re.compile("[^\x00-\x7f]")
_LINE_ENDS = re.compile("[\x85\u2028\u2029\ufeff]")  # YAML reads them as ends of lines
_BLOCK_HEAD = re.compile(r"([|>])[-+\d]*[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n|\r)")
_AT_MARGIN = re.compile(r"(?m)^(?!---|\.\.\.|\ufeff?[%#\s])\ufeff?(?=.)")
_CODE = re.compile(
    r"""\ufeff?(?P<quote>["']?)(?P<code>[a-z]{2,3}(?:[-_]\w{2,8})*)(?P=quote):"""
    r"[ \t]*(?:#.*)?(?=[\r\n])"
)
DEEPEST = 200


@dataclass(slots=True)
class _Collection:
    """A mapping or a list that is not ended yet, and the key of the next value."""

    in_brackets: bool
    key: str = ""
    at_key: bool = False


def read_yaml(data: bytes) -> Document:
    """The document of a YAML file: values that are texts. Keys, comments and layout stay.

    Values that YAML reads as numbers, dates or switches stay too, as do aliases, merge keys, and
    values with a tag of their own (`!ruby/sym x`).

    Raises:
        UsageError: PyYAML is not installed.
        DataError: the file is no YAML, or is nested too deep.
    """
    encoded = decoded(data)
    text = encoded.text
    places: list[tuple[int, int, Part]] = _language(text)
    for begin, end, value, where, in_brackets in _values(text):
        raw = text[begin:end]
        encode = _encoder(raw, in_brackets)
        if encode is not None:
            places.append((begin, end, message(value, raw, encode, where)))
    return encoded.document(spliced(text, places), protect=PROTECTED)


def _language(text: str) -> list[tuple[int, int, Part]]:
    """The code of the language at its place, where all is below one key that is a code, as in the
    files of Rails; otherwise nothing."""
    first, *others = [*_AT_MARGIN.finditer(text), None]
    code = _CODE.match(text, first.start()) if first else None
    if code is None or others != [None]:
        return []
    return [(*code.span("code"), DeclaredLanguage(code["code"]))]


def _values(text: str) -> Iterator[tuple[int, int, str, str, bool]]:
    """Each value that is a text: its place (begin, end), the text, its path for people, and whether
    it stands within brackets."""
    inside: list[_Collection] = []
    tagged = False
    for token in _tokens(text):
        kind = type(token).__name__
        if kind.endswith(("MappingStartToken", "SequenceStartToken")):
            inside.append(_Collection(kind.startswith("Flow")))
        elif kind.endswith("EndToken") and inside and kind != "DocumentEndToken":
            inside.pop()
        elif kind in ("KeyToken", "ValueToken") and inside:
            inside[-1].at_key = kind == "KeyToken"
        elif kind == "TagToken":
            tagged = True
            continue
        elif kind == "AnchorToken":
            continue
        elif kind == "ScalarToken":
            value: str = token.value
            if inside and inside[-1].at_key:
                inside[-1].key = value
            elif not tagged and has_words(value) and not _is_no_text(token):
                where = ".".join(one.key for one in inside if one.key)
                begin, end = token.start_mark.index, token.end_mark.index
                yield begin, end, value, where, bool(inside) and inside[-1].in_brackets
        tagged = False


def _tokens(text: str) -> "Iterator[Token]":
    try:
        import yaml
    except ImportError as error:
        raise UsageError(
            "YAML needs PyYAML; install it: pip install 'allyouneed[documents]'"
        ) from error
    bare = text.removeprefix("\ufeff")
    skipped = len(text) - len(bare)
    try:
        depth = 0
        for event in yaml.parse(bare, Loader=yaml.SafeLoader):  # which is stricter than the scanner
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise DataError(f"more than {DEEPEST} collections within each other")
        for token in yaml.scan(bare, Loader=yaml.SafeLoader):
            token.start_mark.index += skipped
            token.end_mark.index += skipped
            yield token
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        said = " ".join(str(error).split())
        raise DataError(f"the file is no YAML: {said}") from error


def _is_no_text(token: "Token") -> bool:
    """Whether a value without quotes is a number, a date, a switch or a name such as `blue_2`."""
    return bool(token.plain and _NO_TEXT.fullmatch(token.value))


def _encoder(raw: str, in_brackets: bool) -> Encode | None:
    """A function that writes a value in the style of `raw`; None for a block whose style is not
    supported."""
    if raw.startswith("'"):
        return lambda new: "'" + _one_line(new).replace("'", "''") + "'"
    if raw.startswith('"'):
        escaped = _BEYOND_ASCII if re.search(r"\\[uUxNLP]", raw) else _LINE_ENDS
        return lambda new: _quoted(new, escaped)
    head = _BLOCK_HEAD.match(raw)
    if head is None:
        return lambda new: _plain(new, in_brackets)
    first = re.match(r"[ ]*", raw[head.end() :].lstrip("\r\n"))
    indent = first[0] if first else ""
    if not indent or raw[head.start() : head.end()].strip(" \r\n")[1:2].isdigit():
        return None
    return _block(head[0], indent, raw)


def _one_line(text: str) -> str:
    return re.sub(r"\s*\n\s*", " ", _bare(text))


def _bare(text: str) -> str:
    """Text without the characters that YAML allows only as escapes in double quotes."""
    return _LINE_ENDS.sub(" ", _UNPRINTABLE.sub("", text))


def _plain(text: str, in_brackets: bool) -> str:
    """Text without quotes if YAML reads it as the same text, else in double quotes."""
    is_bare = not (in_brackets and _FLOW_SIGNS.search(text))
    if is_bare and _PLAIN.fullmatch(text) and text == _bare(text) and not _NO_TEXT.fullmatch(text):
        return text
    return _quoted(text, _LINE_ENDS)


def _quoted(text: str, escaped: re.Pattern[str]) -> str:
    """Text in double quotes; the characters that the pattern finds become escapes."""
    text = json.dumps(_UNPRINTABLE.sub("", text), ensure_ascii=False)
    return escaped.sub(
        lambda sign: f"\\U{ord(sign[0]):08x}" if sign[0] > "\uffff" else f"\\u{ord(sign[0]):04x}",
        text,
    )


def _block(head: str, indent: str, raw: str) -> Encode:
    newline = "\r\n" if "\r\n" in raw else "\n"
    tail = raw[len(raw.rstrip()) :]

    def encode(text: str) -> str:
        text = _bare(text)
        lines = text.rstrip("\n").split("\n")
        if head.startswith(">"):  # a line end stands for a space, an empty line for a line end
            lines = re.sub(r"\n", "\n\n", text.rstrip("\n")).split("\n")
        body = newline.join(indent + line.strip() if line.strip() else "" for line in lines)
        return head + body + tail

    return encode
