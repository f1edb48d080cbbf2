"""Finds the sheet and the cell of each string of an Excel file, such as "Prices, cell A4"."""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from posixpath import join, normpath

from allyouneed.documents.xml_tree import Tree

SHARED = "xl/sharedStrings.xml"
_SHEET = re.compile(r"<(?:\w+:)?sheet\s[^<>]*>")
_RELATION = re.compile(r"<(?:\w+:)?Relationship\s[^<>]*>")
_CELL = re.compile(r"(<(?:\w+:)?c\s[^<>]*>)\s*<(?:\w+:)?v>(\d+)<")


class SheetCells:
    """The names of a file's sheets, and the cells of their strings."""

    def __init__(self, entries: Mapping[str, bytes]) -> None:
        self.sheets = dict(_sheets(entries))
        self._shared: dict[int, str] = {}
        for entry, sheet in self.sheets.items():
            for cell, number in _CELL.findall(_text(entries, entry)):
                if _attribute(cell, "t") == "s":
                    self._shared.setdefault(int(number), _place(sheet, _attribute(cell, "r")))

    def places(self, tree: Tree, entry: str) -> dict[int, str]:
        """The place of each string of an entry, by the character at which its element begins. A
        string of several cells has the place of the first one."""
        if entry == SHARED:
            strings = [one for one in tree.root.children if one.local == "si"]
            return {strings[n].begin: at for n, at in self._shared.items() if n < len(strings)}
        sheet = self.sheets.get(entry)
        if sheet is None:
            return {}
        return {
            inline.begin: _place(sheet, tree.attribute(cell, "r"))
            for cell in tree.root.walk()
            if cell.local == "c" and (inline := cell.child("is"))
        }


def _sheets(entries: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """The entry and the name of each sheet."""
    targets = {
        _attribute(relation, "Id"): _attribute(relation, "Target")
        for relation in _RELATION.findall(_text(entries, "xl/_rels/workbook.xml.rels"))
    }
    for sheet in _SHEET.findall(_text(entries, "xl/workbook.xml")):
        if target := targets.get(_attribute(sheet, r"\w+:id")):
            yield normpath(join("/xl", target)).lstrip("/"), _attribute(sheet, "name")


def _text(entries: Mapping[str, bytes], name: str) -> str:
    return entries.get(name, b"").decode("utf-8", "replace")


def _attribute(tag: str, name: str) -> str:
    found = re.search(rf"""\s{name}\s*=\s*(?:"([^"]*)"|'([^']*)')""", tag)
    return unescape(found[1] or found[2] or "") if found else ""


def _place(sheet: str, cell: str) -> str:
    return f"{sheet}, cell {cell}"
