"""Translations of gettext (po, pot): messages without a translation get one."""

import re
from dataclasses import dataclass, field
from functools import partial

from allyouneed.documents.document import Document, decoded, spliced
from allyouneed.documents.messages import Encode, message
from allyouneed.documents.po_forms import PoForms
from allyouneed.documents.po_header import PoHeader
from allyouneed.errors import DataError
from allyouneed.translation.markup.nodes import Part
from allyouneed.translation.markup.passage import Passage, has_words, passages

_FIELD = re.compile(
    r"^(?P<old>#~[ \t]*)?(?P<name>msgctxt|msgid_plural|msgid|msgstr(?:\[(?P<number>\d+)\])?)[ \t]*"
    r'(?P<value>"(?:[^"\\\n]|\\.)*"(?:[ \t]*\r?\n[ \t]*"(?:[^"\\\n]|\\.)*")*)',
    re.MULTILINE,
)
_FLAGS = re.compile(r"^#,.*\bfuzzy\b", re.MULTILINE)
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "a": "\a", "b": "\b", "f": "\f"}


@dataclass(slots=True)
class _Entry:
    """One message: its texts, and the places of its translations."""

    begin: int
    texts: dict[str, str] = field(default_factory=dict)
    places: dict[int, tuple[int, int]] = field(default_factory=dict)
    translated: bool = False

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The places of its translations, in order."""
        return sorted(self.places.values())


def read_po(data: bytes) -> Document:
    """The document of a po file. The singular form gets the translation of the singular, all other
    forms that of the plural. The header names the language of the translation and its plural rule.

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
    places: list[tuple[int, int, Part]] = []
    found: list[Passage] = []
    header = None
    fuzzy = 0
    for number, entry in enumerate(entries):
        source = entry.texts.get("msgid", "")
        begin, end = entry.spans[0][0], entry.spans[-1][1]
        if not source:
            if header is None:
                header = PoHeader(text[begin:end], encoded.codec)
                places.append((begin, end, header))
        elif _is_fuzzy(text, entries[number - 1].begin if number else 0, entry.begin):
            fuzzy += 1
        elif has_words(source) and not entry.translated:
            read = partial(_passage, text, entry)
            if "msgid_plural" in entry.texts:
                forms = PoForms(text, entry.spans, read, header)
                places.append((begin, end, forms))
                found += forms.passages
            else:
                found.append(read(True, entry.spans[0]))
                places.append((*entry.spans[0], found[-1]))
    notes = [f"{fuzzy:,} messages marked as fuzzy stay as they are"] if fuzzy else []
    document = encoded.document(spliced(text, places), notes)
    document.passages = [*passages(found)]
    return document


def _is_fuzzy(text: str, before: int, begin: int) -> bool:
    """Whether a message that begins at `begin` has that flag in the comments behind the message
    that begins at `before`."""
    comments = text[max(before, begin - 2000) : begin]
    return _FLAGS.search(comments[comments.rfind("\n\n") + 1 :]) is not None


def _passage(text: str, entry: _Entry, is_singular: bool, span: tuple[int, int]) -> Passage:
    """The text of a message, for one thing or for several, with the place of its translation."""
    source = entry.texts["msgid" if is_singular else "msgid_plural"]
    where = f"line {text.count(chr(10), 0, span[0]) + 1}"
    encode = _quoted("\r\n" if "\r\n" in text else "\n")
    return message(source, text[slice(*span)], encode, where, gtk=True)


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
