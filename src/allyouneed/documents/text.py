"""Plain text: paragraphs whose lines were broken at a width, and lines that stand alone."""

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

from allyouneed.documents.document import Document, Encoded, check_text, decoded
from allyouneed.documents.parts import numbered_parts
from allyouneed.documents.wrapping import collapsed, width_of, with_breaks, wrapped
from allyouneed.translation.markup.nodes import Part, plain
from allyouneed.translation.markup.passage import Passage, has_words

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_QUOTE = re.compile(r"(?:[ \t\ufeff]*>)*")  # as mail programs mark the lines that they quote
_LEAD = re.compile(r"[ \t\ufeff]*(?:(?:[-*+•–]|\(?\d{1,3}[.)])[ \t]+)*")
_ENDS = "\r\n"
_IS_TEX = re.compile(r"\\(?:documentclass|begin|section|emph|textbf|textit|cite|ref)\b")
_NO_TEXT = "begin|end|cite\\w*|\\w*ref|label|input|include\\w*|usepackage|documentclass"
_TEX = (
    rf"\\(?:{_NO_TEXT})\*?(?:\[[^\]\n]*\])*(?:\{{[^{{}}\n]*\}})*",
    r"\$[^$\n]+\$|\\[A-Za-z]+\*?(?:\[[^\]\n]*\])?\{?|\\[%&$#_{}]|[{}~]",
)


def read_text(data: bytes) -> Document:
    """The document of a text file.

    Lines that were broken at a width are joined, translated, and broken again at this width. Marks
    of lists and quotes stay, and so do indents.

    Raises:
        DataError: the file is no text.
    """
    encoded = decoded(data)
    return encoded.document(_parts(encoded.text, 1), protect=_protected(encoded.text))


def stream_text(file: BinaryIO) -> Iterator[Document]:
    """The documents of a text file's paragraphs, a few hundred kilobytes at a time; joined, they
    are the file. A file that is not UTF-8 is one document.

    Raises:
        DataError: a line is too long, or the file is no text.
    """
    is_utf_8 = _is_utf_8(file)
    file.seek(0)
    if not is_utf_8:
        yield read_text(file.read())
        return
    number = 1
    for _, lines in numbered_parts(file, lambda line: not line.strip()):
        encoded = Encoded(b"".join(lines).decode(), "utf-8")
        parts = _parts(encoded.text, number)
        yield encoded.document(parts, protect=_protected(encoded.text))
        number += sum(1 for _ in _LINE.finditer(encoded.text)) - 1  # the last one is empty


def _protected(text: str) -> Sequence[str]:
    """Regular expressions of what stays in a text: the commands of TeX, if it has some."""
    return _TEX if _IS_TEX.search(text) else ()


def _is_utf_8(file: BinaryIO) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while data := file.read(1 << 20):
            decoder.decode(data)
            check_text(data)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _parts(text: str, number: int) -> list[Part]:
    """The paragraphs of a text, with what stands between them; `number` is that of its first line,
    counted from 1."""
    parts: list[Part] = []
    paragraph: list[str] = []
    depth = 0  # of the quote in which the paragraph stands
    number -= 1
    for line in _LINE.findall(text):
        number += 1
        quote = _matched(_QUOTE, line)
        body = line[len(quote) :]
        begins_item = bool(_matched(_LEAD, body.strip(_ENDS)).strip())
        same_quote = quote.count(">") == depth
        depth = quote.count(">")
        if paragraph and (begins_item or not same_quote or not body.strip()):
            parts += _paragraph(paragraph, number - len(paragraph))
            paragraph = []
        if body.strip():
            paragraph.append(line)
        else:
            parts.append(line)
    if paragraph:
        parts += _paragraph(paragraph, number - len(paragraph))
    return parts


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
    """The marks of quotes and lists, and the space, with which a line begins."""
    quote = _matched(_QUOTE, line)
    return quote + _matched(_LEAD, line[len(quote) :])


def _matched(pattern: re.Pattern[str], line: str) -> str:
    match = pattern.match(line)
    return match[0] if match else ""


def _wrapping(width: int, first: str, later: str, newline: str) -> Callable[[Passage], str]:
    def write(passage: Passage) -> str:
        text = with_breaks(collapsed(plain(passage.target or ())))
        return newline.join(wrapped(text, width, first, later)).removeprefix(first)

    return write
