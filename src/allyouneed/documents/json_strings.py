"""Strings in JSON: the values of a program's messages, and Flutter's ARB."""

import json
import re

from allyouneed.documents.document import Document, decoded, spliced
from allyouneed.documents.messages import Encode, message
from allyouneed.errors import DataError
from allyouneed.translation.markup.nodes import Part
from allyouneed.translation.markup.passage import has_words

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]:,]')


def read_json(data: bytes) -> Document:
    """The document of a JSON file: all values that are strings; keys stay.

    Raises:
        DataError: it is no JSON.
    """
    return _read(data, with_metadata=False)


def read_arb(data: bytes) -> Document:
    """The document of an ARB file: messages; what is about them (keys with @) stays.

    Raises:
        DataError: it is no JSON.
    """
    return _read(data, with_metadata=True)


def _read(data: bytes, with_metadata: bool) -> Document:
    encoded = decoded(data)
    text = encoded.text
    try:
        json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"it is no JSON: {error}") from error
    encode = _encoder("\\u" in text)
    places: list[tuple[int, int, Part]] = []
    path: list[str] = []
    key = ""
    matches = list(_TOKEN.finditer(text))
    for number, match in enumerate(matches):
        sign = match[0]
        if sign in "{[":
            path.append(key)
        elif sign in "}]":
            key = path.pop()
        elif sign.startswith('"'):
            if number + 1 < len(matches) and matches[number + 1][0] == ":":
                key = json.loads(sign)
                continue
            value = json.loads(sign, strict=False)
            hidden = with_metadata and any(one.startswith("@") for one in (*path, key))
            if has_words(value) and not hidden:
                where = ".".join([*filter(None, path), key])
                places.append((*match.span(), message(value, sign, encode, where)))
    return encoded.document(spliced(text, places))


def _encoder(in_ascii: bool) -> Encode:
    return lambda text: json.dumps(text, ensure_ascii=in_ascii)
