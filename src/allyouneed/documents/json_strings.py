"""Strings in JSON: the values of a program's messages, and Flutter's ARB."""

import json
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from allyouneed.documents.declared_language import DeclaredLanguage
from allyouneed.documents.document import Document, decoded, spliced
from allyouneed.documents.identifiers import is_identifier
from allyouneed.documents.messages import message
from allyouneed.errors import DataError
from allyouneed.translation.markup.nodes import Part
from allyouneed.translation.markup.passage import Passage, has_words

_SHOWN = 12  # keys named in a message
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]:,]')


@dataclass(frozen=True, slots=True)
class JsonString:
    """A string with words that is a value: its characters begin … end in the JSON, with quotes.

    `keys` are the keys that lead to it, the outermost first. A string of an array has the keys of
    the array.
    """

    text: str
    begin: int
    end: int
    keys: tuple[str, ...]

    def has_key(self, wanted: Collection[str]) -> bool:
        """Whether its last key, or all of its keys with stops between them, are wanted."""
        return bool(self.keys) and (self.keys[-1] in wanted or ".".join(self.keys) in wanted)

    def passage(self, json_text: str, where: str) -> Passage:
        """The string as a passage. It is written in ASCII if the JSON has escapes (\\u)."""
        in_ascii = "\\u" in json_text
        raw = json_text[self.begin : self.end]
        return message(self.text, raw, lambda new: json.dumps(new, ensure_ascii=in_ascii), where)


def strings_of(text: str) -> Iterator[JsonString]:
    """The strings with words among the values of a JSON text, in order. Identifiers are left
    out.

    Raises:
        DataError: the text is not JSON.
    """
    return (one for one in _strings(text) if not is_identifier(one.text))


def _strings(text: str) -> Iterator[JsonString]:
    """The strings with words, identifiers too."""
    try:
        json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"the text is not JSON: {error}") from error
    outer: list[str] = []
    key = ""
    matches = list(_TOKEN.finditer(text))
    for number, match in enumerate(matches):
        sign = match[0]
        if sign in "{[":
            outer.append(key)
            key = ""
        elif sign in "}]":
            key = outer.pop()
        elif sign.startswith('"'):
            if number + 1 < len(matches) and matches[number + 1][0] == ":":
                key = json.loads(sign)
                continue
            value = json.loads(sign, strict=False)
            if has_words(value):
                keys = tuple(filter(None, (*outer, key)))
                yield JsonString(value, *match.span(), keys)


def shown(keys: Collection[str], between: str) -> str:
    """The first of the keys, for a message."""
    named = list(keys)
    return between.join(named[:_SHOWN]) + (", ..." if len(named) > _SHOWN else "")


def read_json(data: bytes, keys: Collection[str] = ()) -> Document:
    """The document of a JSON file: the values that are strings, or only those of `keys`.

    Raises:
        DataError: the file is not JSON, or has no string with one of the keys.
    """
    document = _read(data, lambda one: not keys or one.has_key(keys))
    if keys and not document.passages:
        known = {".".join(one.keys): None for one in strings_of(decoded(data).text) if one.keys}
        if known:
            raise DataError(
                f"no string has one of the keys {', '.join(keys)}; the strings have the keys "
                f"{shown(known, ', ')}"
            )
    return document


def read_arb(data: bytes) -> Document:
    """The document of an ARB file: messages, and the language that it names as its own. Keys with
    @, which hold metadata, are left out.

    Raises:
        DataError: the file is not JSON.
    """
    return _read(data, lambda one: not any(key.startswith("@") for key in one.keys), "@@locale")


def _read(
    data: bytes, is_wanted: Callable[[JsonString], bool], language: str | None = None
) -> Document:
    """The document of the strings that are wanted. The outermost key `language` has the code of the
    file's language."""
    encoded = decoded(data)
    places: list[tuple[int, int, Part]] = []
    for one in _strings(encoded.text):
        if one.keys == (language,):
            places.append((one.begin + 1, one.end - 1, DeclaredLanguage(one.text)))
        elif is_wanted(one) and not is_identifier(one.text):
            places.append((one.begin, one.end, one.passage(encoded.text, ".".join(one.keys))))
    return encoded.document(spliced(encoded.text, places))
