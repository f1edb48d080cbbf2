"""The header of a gettext file, which names its language and that language's plural forms."""

import re

from allyouneed.documents.declared_language import DeclaredLanguage, is_code_of
from allyouneed.documents.plural_forms import gettext_rule

_LANGUAGE = re.compile(r'("Language:[ \t]*)((?:[A-Za-z]{2,3}(?:[-_]\w+)*)?)(?=[ \t]*(?:\\n|"))')
_PLURAL = re.compile(r'(?<="Plural-Forms:)(?:[^"\\]|"[ \t]*\r?\n[ \t]*")*')
_COUNT = re.compile(r"nplurals[ \t]*=[ \t]*(\d+)")
_CHARSET = re.compile(r"(?<=charset=)CHARSET\b")
_TEMPLATE = re.compile(r"charset=CHARSET\b|nplurals=INTEGER\b")  # as xgettext writes them


class PoHeader(DeclaredLanguage):
    """The header as it stands in the file, with its quotes. `codec` is the file's encoding.

    A header of the source language gets the language and the plural rule of the translation, and so
    does the header of a template, in which both are to be filled in.
    """

    def __init__(self, raw: str, codec: str) -> None:
        found = _LANGUAGE.search(raw)
        super().__init__(found[2] if found else "")
        self._raw, self._codec = raw, codec
        self._is_changed = False

    @property
    def count(self) -> int | None:
        """The number of plural forms of each message; None if the header does not say it."""
        plural = _PLURAL.search(self.written())
        count = _COUNT.search(plural[0]) if plural else None
        return int(count[1]) if count else None

    def translated(self, source: str, target: str) -> None:
        """Takes the language and the plural rule of `target`, if the header is that of a template
        or of the language `source`. A header of a third language stays, with a note."""
        is_template = not self.code and _TEMPLATE.search(self._raw) and target != "und"
        if is_template or is_code_of(self.code, source):
            self.code, self._is_changed = target, True
        elif self.code and "und" not in (source, target) and not is_code_of(self.code, target):
            self.note = (
                f'the header names the language "{self.code}", but the translations are in '
                f'"{target}"; correct the lines Language and Plural-Forms'
            )

    def written(self) -> str:
        """The header; the old one as long as nothing is translated."""
        if not self._is_changed:
            return self._raw
        count, rule = gettext_rule(self.code)
        text = _LANGUAGE.sub(lambda found: f"{found[1].rstrip()} {self.code}", self._raw, count=1)
        text = _PLURAL.sub(f" nplurals={count}; plural={rule};", text, count=1)
        return _CHARSET.sub(self._codec.upper(), text, count=1)
