"""Reads the subset of YAML that Marian writes: a table of numbers, texts, and lists of these.

A key begins a line. A list follows its key on the same line as `[a, b]`, or on the next lines with
one `- item` each. Tags, anchors, nested tables and texts over several lines are errors, so that no
part of a file is ignored.
"""

import re
from typing import Any

ESCAPES = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    " ": " ",
    '"': '"',
    "/": "/",
    "\\": "\\",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\']|\'\')*)\'')
WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
NOT_READ = ("&", "*", "!", "|", ">", "{", "%", "@", "`", "? ")


def read_yaml(text: str) -> dict[str, Any]:
    """The table in a text of Marian's YAML.

    Raises:
        ValueError: the text has another form; the message names the line.
    """
    found: dict[str, Any] = {}
    key = None
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.removesuffix("\r")
        if not line.strip() or line.lstrip().startswith("#") or line in ("---", "..."):
            continue
        try:
            below = line.lstrip(" ")
            if key is not None and below.startswith("- "):
                _add(found, key, _value(below[2:].strip()))
            elif key is not None and line.startswith(" ") and below.startswith("["):
                found[key] = _value(below.strip())
            elif line.startswith(" "):
                raise ValueError("it stands below nothing that can hold it")
            else:
                key, rest = _key(line)
                found[key] = _value(rest.strip())
        except ValueError as error:
            raise ValueError(f"line {number}, {line[:60]!r}, is not read: {error}") from error
    return found


def _add(found: dict[str, Any], key: str, value: Any) -> None:
    if found[key] is None:
        found[key] = []
    if not isinstance(found[key], list):
        raise ValueError("it stands below nothing that can hold it")
    found[key].append(value)


def _key(line: str) -> tuple[str, str]:
    """The key at the beginning of a line, and the text after its colon."""
    if line[0] in "\"'":
        if not (quoted := QUOTED.match(line)):
            raise ValueError("a quotation mark has no end")
        name, rest = _unquoted(quoted), line[quoted.end() :].lstrip()
    else:
        at = line.find(": ")
        at = len(line) - 1 if at < 0 and line.endswith(":") else at
        if at < 1 or line.startswith(NOT_READ):
            raise ValueError("it has no key")
        name, rest = line[:at].rstrip(), line[at:]
    if not rest.startswith(":"):
        raise ValueError("it has no key")
    return name, rest[1:]


def _value(text: str) -> Any:
    if text.startswith("["):
        if not text.endswith("]"):
            raise ValueError("a list has no end")
        inside = text[1:-1].strip()
        return [_value(part.strip()) for part in inside.split(",")] if inside else []
    if text[:1] in ('"', "'"):
        quoted = QUOTED.fullmatch(text)
        if not quoted:
            raise ValueError("a quotation mark has no end")
        return _unquoted(quoted)
    if text.startswith(NOT_READ):
        raise ValueError(f"{text[0]!r} means something that Marian does not write")
    text = re.sub(r"\s+#.*", "", text)
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if WHOLE.fullmatch(text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def _unquoted(quoted: re.Match[str]) -> str:
    if quoted[2] is not None:
        return quoted[2].replace("''", "'")
    text = ESCAPE.sub(_meant, quoted[1])
    return text.encode("utf-16", "surrogatepass").decode(
        "utf-16"
    )  # JSON writes 𝄞 as two \u escapes


def _meant(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    if code is None:
        if escape[4] not in ESCAPES:
            raise ValueError(f"\\{escape[4]} means nothing")
        return ESCAPES[escape[4]]
    if int(code, 16) > 0x10FFFF:
        raise ValueError(f"{escape[0]} is no character")
    return chr(int(code, 16))
