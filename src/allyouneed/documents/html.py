"""Web pages."""

import re
from dataclasses import replace

from allyouneed.documents.declared_language import with_codes
from allyouneed.documents.document import Document, decoded
from allyouneed.translation.markup.html import html_rules
from allyouneed.translation.markup.reading import read_markup

_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_LOOKED_AT = 4096  # bytes at the beginning, where a page may name its encoding


def read_html(data: bytes) -> Document:
    """The document of an HTML file: its text, and attributes that hold text."""
    declared = _CHARSET.search(data[:_LOOKED_AT])
    encoded = decoded(data, declared[1].decode() if declared else None)
    encoded = replace(encoded, has_references=True)
    return encoded.document(list(with_codes(read_markup(encoded.text, html_rules()))))
