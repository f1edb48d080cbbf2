"""The formats that can be read, by the ending of a file's name."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

from allyouneed.documents.ass import read_ass
from allyouneed.documents.cells import read_csv, read_tsv
from allyouneed.documents.document import Document
from allyouneed.documents.epub import read_epub
from allyouneed.documents.fluent import read_fluent
from allyouneed.documents.html import read_html
from allyouneed.documents.json_lines import read_json_lines, stream_json_lines
from allyouneed.documents.json_strings import read_arb, read_json
from allyouneed.documents.key_values import read_properties, read_strings
from allyouneed.documents.markdown import read_markdown
from allyouneed.documents.office import read_docx, read_pptx, read_xlsx
from allyouneed.documents.open_document import read_open_document
from allyouneed.documents.paired_strings import TmxText, XliffText
from allyouneed.documents.pdf import read_pdf
from allyouneed.documents.po import read_po
from allyouneed.documents.qt_text import QtText
from allyouneed.documents.resource_strings import AndroidText, ResourceText
from allyouneed.documents.subtitles import read_srt, read_vtt
from allyouneed.documents.text import read_text, stream_text
from allyouneed.documents.yaml_strings import read_yaml
from allyouneed.errors import AllYouNeedError, DataError, UsageError, nearest


@dataclass(frozen=True, slots=True)
class Format:
    """A format: the endings of its files, and the functions that read them.

    `read` reads a whole file. `stream` reads a file of any size as documents that are the file when
    they are joined. `has_keys` says whether both take the `keys` whose texts are translated.
    `writes` is the ending of a translation that is of another format than the file.
    """

    name: str
    endings: tuple[str, ...]
    read: Callable[..., Document]
    stream: Callable[..., Iterator[Document]] | None = None
    has_keys: bool = False
    writes: str | None = None

    def with_keys(self, keys: Collection[str]) -> "Format":
        """The format with these keys to translate. Without keys, or for a format without keys, the
        format itself."""
        if not keys or not self.has_keys:
            return self
        stream = self.stream and partial(self.stream, keys=keys)
        return replace(self, read=partial(self.read, keys=keys), stream=stream)

    def documents(self, file: BinaryIO) -> Iterator[Document]:
        """The documents of a file, which are the file when they are joined.

        Raises:
            DataError: the file cannot be read as this format.
        """
        if self.stream is not None:
            yield from self.stream(file)
        else:
            yield self.read(file.read())


FORMATS = (
    Format("text", ("txt", "text"), read_text, stream_text),
    Format("markdown", ("md", "markdown", "mkd"), read_markdown),
    Format("html", ("html", "htm", "xhtml"), read_html),
    Format("srt", ("srt",), read_srt),
    Format("vtt", ("vtt",), read_vtt),
    Format("ass", ("ass", "ssa"), read_ass),
    Format("docx", ("docx", "dotx"), read_docx),
    Format("pptx", ("pptx", "potx", "ppsx"), read_pptx),
    Format("xlsx", ("xlsx", "xltx"), read_xlsx),
    Format("opendocument", ("odt", "odp", "ods", "odg", "ott"), read_open_document),
    Format("epub", ("epub",), read_epub),
    Format("pdf", ("pdf",), read_pdf, writes="md"),
    Format("po", ("po", "pot"), read_po),
    Format("xliff", ("xlf", "xliff"), XliffText.read),
    Format("tmx", ("tmx",), TmxText.read),
    Format("csv", ("csv",), read_csv, has_keys=True),
    Format("tsv", ("tsv", "tab"), read_tsv, has_keys=True),
    Format("json", ("json",), read_json, has_keys=True),
    Format("jsonl", ("jsonl", "ndjson"), read_json_lines, stream_json_lines, has_keys=True),
    Format("yaml", ("yaml", "yml"), read_yaml),
    Format("arb", ("arb",), read_arb),
    Format("properties", ("properties",), read_properties),
    Format("strings", ("strings",), read_strings),
    Format("fluent", ("ftl",), read_fluent),
    Format("android", ("xml",), AndroidText.read),
    Format("resx", ("resx",), ResourceText.read),
    Format("ts", ("ts",), QtText.read),
)
BY_ENDING = {ending: format for format in FORMATS for ending in format.endings}
OLDER_ENDINGS = {"doc": "docx", "rtf": "docx", "pages": "docx", "ppt": "pptx", "xls": "xlsx"}
"""Endings of files that are not read, and what the programs that write them can save instead."""
WITH_MACROS = {
    **dict.fromkeys(("docm", "dotm"), "docx"),
    **dict.fromkeys(("pptm", "potm", "ppsm"), "pptx"),
    **dict.fromkeys(("xlsm", "xltm"), "xlsx"),
}
"""Endings of files with macros, which are refused in every format, and what to save instead."""
BY_NAME = {format.name: format for format in FORMATS}


def format_of(path: Path, name: str | None = None) -> Format:
    """The format with this name, else the one that the file's ending names.

    Raises:
        UsageError: the name or the ending is not known.
    """
    if name is not None:
        known = BY_NAME.get(name) or BY_ENDING.get(name.lower().lstrip("."))
        if known is None:
            close = nearest(name, [*BY_NAME, *BY_ENDING])
            hint = f"did you mean {close}?" if close else f"there are {', '.join(BY_NAME)}"
            raise UsageError(f"--format {name} is not known; {hint}")
        return known
    ending = path.suffix.lower().lstrip(".")
    known = BY_ENDING.get(ending)
    if known is None:
        if ending in WITH_MACROS:
            raise UsageError(
                f"{path}: files with macros are not read; save it as .{WITH_MACROS[ending]}"
            )
        newer = OLDER_ENDINGS.get(ending)
        hint = f"save it as .{newer}, or " if newer else ""
        raise UsageError(
            f"{path}: no format has the ending {path.suffix or '(none)'}; {hint}name the format "
            f"with --format, one of {', '.join(BY_NAME)}"
        )
    return known


def documents_of(path: Path, format: Format) -> Iterator[tuple[Document, float]]:
    """The documents of a file, which are the file when they are joined, each with the share of the
    file (0 to 1) that has been read with it.

    Raises:
        DataError: the file cannot be read as this format; the message names it.
        OSError: no such file.
    """
    size = max(path.stat().st_size, 1)
    with path.open("rb") as file:
        try:
            for document in format.documents(file):
                yield document, min(file.tell() / size, 1.0)
        except AllYouNeedError as error:
            raise type(error)(f"{path}: {error}") from error
        except RecursionError as error:
            raise DataError(f"{path}: its elements are nested too deep") from error
