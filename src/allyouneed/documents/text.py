"""Plain text: paragraphs, whose lines were broken at a width or stand for themselves."""

import re
from collections.abc import Callable

from allyouneed.documents.document import Document, decoded
from allyouneed.documents.wrapping import BREAK, width_of, wrapped
from allyouneed.translation.markup.nodes import Part, plain
from allyouneed.translation.markup.passage import Passage, has_words

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_LEAD = re.compile(r"[ \t\ufeff]*(?:(?:>|[-*+•–]|\(?\d{1,3}[.)])[ \t]+)*")
_ENDS = "\r\n"


def read_text(data: bytes) -> Document:
    """The document of a text file.

    Lines that were broken at a width are translated as one and broken again at it; marks of lists
    and quotes, and indents, stay.
    """
    encoded = decoded(data)
    parts: list[Part] = []
    paragraph: list[str] = []
    number = 0
    for line in _LINE.findall(encoded.text):
        number += 1
        begins_item = bool(_LEAD.match(line.strip(_ENDS))[0].strip())  # type: ignore[index]
        if paragraph and (begins_item or not line.strip()):
            parts += _paragraph(paragraph, number - len(paragraph))
            paragraph = []
        if line.strip():
            paragraph.append(line)
        else:
            parts.append(line)
    if paragraph:
        parts += _paragraph(paragraph, number - len(paragraph))
    return encoded.document(parts)


def _paragraph(lines: list[str], number: int) -> list[Part]:
    leads = [_lead(line) for line in lines]
    bodies = [line[len(lead) :].rstrip() for line, lead in zip(lines, leads, strict=True)]
    width = width_of([line.rstrip() for line in lines])
    if width is None or len({len(lead) for lead in leads[1:]}) > 1:
        found: list[Part] = []
        for n, (line, lead, body) in enumerate(zip(lines, leads, bodies, strict=True)):
            place = f"line {number + n}"
            passage = Passage((body,), (body,), str, place)
            found += [lead, passage if has_words(body) else body, line[len(lead) + len(body) :]]
        return found
    body = "".join(lines)[len(leads[0]) :].rstrip()
    last = lines[-1][len(lines[-1].rstrip()) :]
    newline = lines[0][len(lines[0].rstrip(_ENDS)) :]
    write = _wrapping(width, leads[0], leads[1], newline)
    passage = Passage((" ".join(bodies),), (body,), str, f"line {number}", write)
    return [leads[0], passage, last]


def _lead(line: str) -> str:
    match = _LEAD.match(line)
    return match[0] if match else ""


def _wrapping(width: int, first: str, later: str, newline: str) -> Callable[[Passage], str]:
    def write(passage: Passage) -> str:
        text = BREAK.join(plain(passage.target or ()).split())
        return newline.join(wrapped(text, width, first, later)).removeprefix(first)

    return write
