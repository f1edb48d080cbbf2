"""Translations of gettext (po, pot): messages without a translation get one."""

import re
from dataclasses import dataclass, field

from allyouneed.documents.declared_language import DeclaredLanguage
from allyouneed.documents.document import Document, decoded, spliced
from allyouneed.documents.messages import Encode, message
from allyouneed.documents.plural_forms import is_singular
from allyouneed.errors import DataError
from allyouneed.translation.markup.nodes import Part
from allyouneed.translation.markup.passage import has_words

_FIELD = re.compile(
    r"^(?P<old>#~[ \t]*)?(?P<name>msgctxt|msgid_plural|msgid|msgstr(?:\[(?P<number>\d+)\])?)[ \t]*"
    r'(?P<value>"(?:[^"\\\n]|\\.)*"(?:[ \t]*\r?\n[ \t]*"(?:[^"\\\n]|\\.)*")*)',
    re.MULTILINE,
)
_FLAGS = re.compile(r"^#,.*\bfuzzy\b", re.MULTILINE)
_LANGUAGE = re.compile(r'"Language:[ \t]*([A-Za-z]{2,3}(?:[-_]\w+)*)')
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "a": "\a", "b": "\b", "f": "\f"}


@dataclass(slots=True)
class _Entry:
    """One message: its texts, and the places of its translations."""

    begin: int
    texts: dict[str, str] = field(default_factory=dict)
    places: dict[int, tuple[int, int]] = field(default_factory=dict)
    translated: bool = False


def read_po(data: bytes) -> Document:
    """The document of a po file. The singular form gets the translation of the singular, all other
    forms that of the plural. The header names the language of the translation.

    Raises:
        DataError: the file has no message.
    """
    declared = re.search(rb"charset=([\w-]+)", data[:4096])
    codec = declared[1].decode() if declared and declared[1] != b"CHARSET" else None
    encoded = decoded(data, codec)
    text = encoded.text
    entries = _entries(text)
    if not entries:
        raise DataError('no message (a line such as msgid "...") in this file')
    newline = "\r\n" if "\r\n" in text else "\n"
    places: list[tuple[int, int, Part]] = []
    fuzzy = 0
    for number, entry in enumerate(entries):
        source = entry.texts.get("msgid", "")
        if not source and (language := _LANGUAGE.search(text, *entry.places.get(0, (0, 0)))):
            places.append((*language.span(1), DeclaredLanguage(language[1])))
        before = entries[number - 1].begin if number else 0
        if _FLAGS.search(text, max(before, entry.begin - 2000), entry.begin):
            comments = text[max(before, entry.begin - 2000) : entry.begin]
            if _FLAGS.search(comments[comments.rfind("\n\n") + 1 :]):
                fuzzy += 1
                continue
        if not has_words(source) or entry.translated:
            continue
        plural = entry.texts.get("msgid_plural")
        for form, (begin, end) in entry.places.items():
            singular = plural is None or is_singular(form, len(entry.places))
            chosen = source if singular else plural or source
            where = f"line {text.count(chr(10), 0, begin) + 1}"
            passage = message(chosen, text[begin:end], _quoted(newline), where, gtk=True)
            places.append((begin, end, passage))
    notes = [f"{fuzzy:,} messages marked as fuzzy stay as they are"] if fuzzy else []
    return encoded.document(spliced(text, sorted(places, key=lambda place: place[0])), notes)


def _entries(text: str) -> list[_Entry]:
    entries: list[_Entry] = []
    last = "msgstr"
    for match in _FIELD.finditer(text):
        if match["old"]:
            continue
        name = match["name"]
        starts = name in ("msgctxt", "msgid") and last.startswith("msgstr")
        if starts:
            entries.append(_Entry(match.start()))
        last = name
        if not entries:
            continue
        value = "".join(map(_unescaped, _STRING.findall(match["value"])))
        if name.startswith("msgstr"):
            entries[-1].places[int(match["number"] or 0)] = match.span("value")
            entries[-1].translated = entries[-1].translated or bool(value)
        else:
            entries[-1].texts[name] = value
    return [entry for entry in entries if entry.places]


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), text)


def _quoted(newline: str) -> Encode:
    def encode(text: str) -> str:
        signs = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"})
        lines = [f'"{line.translate(signs)}"' for line in re.findall(r"[^\n]*\n|[^\n]+", text)]
        if len(lines) > 1:
            lines.insert(0, '""')
        return newline.join(lines) or '""'

    return encode
