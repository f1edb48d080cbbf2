"""Identifiers: strings that programs read, such as names of classes and files, and base 64."""

import re

_LONGEST_WORD = 60  # characters; a longer one is data
_IDENTIFIER = re.compile(
    r"\w+://\S*|\w*[@_\\]\S*|[A-Z]+[-/]?\d[\w-]*|\w+(?:\.\w+){2,}|[\w/.-]*/[\w/.-]*/[\w/.-]*"
    r"|\S+\.[a-z]\w{1,4}"
    r"|[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+|(?:[A-Z][a-z0-9]+){2,}"  # camelCase, CamelCase
)


def is_identifier(text: str) -> bool:
    """Whether a text is one word that no reader would translate: an address, the name of a file, a
    module, a class or a variable, or data."""
    words = text.split()
    return len(words) == 1 and (
        len(words[0]) > _LONGEST_WORD or _IDENTIFIER.fullmatch(words[0]) is not None
    )
