"""HTML and SVG elements; what is not markup already is escaped."""

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

Content: TypeAlias = "str | Iterable[Content]"


class Markup(str):
    """Text that is HTML. Made by `element` and `joined` alone, so all else is escaped."""

    __slots__ = ()


def element(name: str, *content: Content, **attributes: object) -> Markup:
    """<name attributes>content</name>; `class_` stands for class, and `_` for `-`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
    )
    return Markup(f"<{name}{written}>{joined(content)}</{name}>")


def joined(content: Iterable[Content]) -> Markup:
    """The parts one after the other, texts escaped."""
    parts: list[str] = []
    for part in content:
        if isinstance(part, Markup):
            parts.append(part)
        else:
            parts.append(escape(part) if isinstance(part, str) else joined(part))
    return Markup("".join(parts))
