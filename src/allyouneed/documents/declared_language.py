"""The language that a file declares for its text, such as `<html lang="de">`."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from allyouneed.text.language_names import primary
from allyouneed.translation.markup.nodes import Part, joined

_TAG = re.compile(r"<(?:html|package)\b[^<>]*>|<dc:language\b[^<>]*>[^<>]*")
_CODE = re.compile(r"""(?:(?<=[\s:])lang\s*=\s*["']?|>\s*)([A-Za-z]{2,3}(?:-\w+)*)""")


def is_code_of(code: str, language: str) -> bool:
    """Whether `code`, such as de_AT, is that of `language`, whatever its country."""
    return primary(code) == primary(language)


class DeclaredLanguage:
    """The code of a language at its place in a file. `note` tells the user, after the translation,
    what is to be corrected there; it may be empty."""

    note = ""

    def __init__(self, code: str) -> None:
        self.code = code

    def translated(self, source: str, target: str) -> None:
        """Becomes the code `target`, if it is the code of the language `source`."""
        if is_code_of(self.code, source):
            self.code = target

    def written(self) -> str:
        """The code."""
        return self.code


class MissingLanguage(DeclaredLanguage):
    """The place of an attribute, such as `target-language`, that a file lacks. `code` is the source
    language. The attribute is written once the texts are translated."""

    def __init__(self, code: str, attribute: str) -> None:
        super().__init__(code)
        self._attribute = attribute
        self._before = code

    def written(self) -> str:
        """The attribute with a space before it; nothing as long as nothing is translated."""
        return "" if self.code == self._before else f' {self._attribute}="{self.code}"'


def with_codes(parts: Iterable[Part]) -> Iterator[Part]:
    """The parts of a page or of a book's contents, with the codes of its language as parts of their
    own."""
    page_has_begun = False
    for is_text, some in groupby(parts, lambda part: isinstance(part, str)):
        if not is_text:
            yield from some
            continue
        text, end = joined([*some]), 0
        for tag in _TAG.finditer(text):
            if tag[0].startswith("<html"):
                if page_has_begun:  # a script may write another page
                    continue
                page_has_begun = True
            for code in _CODE.finditer(text, *tag.span()):
                yield text[end : code.start(1)]
                yield DeclaredLanguage(code[1])
                end = code.end(1)
        yield text[end:]
