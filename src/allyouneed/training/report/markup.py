"""HTML and SVG elements. Text that is not `Markup` is escaped."""

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

Content: TypeAlias = "str | Iterable[Content]"


class Markup(str):
    """Text that is HTML. Only `element` and `joined` make it; all other text is escaped."""

    __slots__ = ()


def element(name: str, *content: Content, **attributes: object) -> Markup:
    """The element <name attributes>content</name>. Write `class_` for class, and `_` for `-`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
    )
    return Markup(f"<{name}{written}>{joined(content)}</{name}>")


def joined(content: Iterable[Content]) -> Markup:
    """The parts, one after the other, with texts escaped."""
    parts: list[str] = []
    for part in content:
        if isinstance(part, Markup):
            parts.append(part)
        else:
            parts.append(escape(part) if isinstance(part, str) else joined(part))
    return Markup("".join(parts))
