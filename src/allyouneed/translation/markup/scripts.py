"""Subscripts and superscripts: those of a word stay in it, and the marks of notes part no words."""

import re
from collections.abc import Mapping
from dataclasses import replace

from allyouneed.translation.markup.nodes import Around, Bound, Node, Nodes, Script, plain, tidy
from allyouneed.translation.markup.protected import UNITS

_NAMES: Mapping[str, Script] = {
    "sub": "sub",
    "subscript": "sub",
    "sup": "super",
    "superscript": "super",
}
_ONE_MARK = r"[\[(]?(?:\d{1,3}|[a-z]|[ivx]{1,4}|[*†‡§¶#]{1,3})[\])]?"
_MARK = re.compile(rf"\s*{_ONE_MARK}(?:[\s,;–-]+{_ONE_MARK})*\s*")
_IN_BRACKETS = re.compile(r"\s*\[\d{1,3}\]\s*")  # as encyclopedias number their notes
_WITH_POWER = re.compile(rf".*[\d=].*|[^\W\d_]|{UNITS}")  # as in 10², 5 m², x² and km²
_ORDINAL = re.compile(r"(?:\d|\b[IVXLC]+)(?:st|nd|rd|th|e|er|re|ère|ème|o|a)")
_ISOTOPE = re.compile(r"[A-Z][a-z]?")
_LONGEST = 12  # characters of a subscript or superscript within a word
_REACH = 60  # characters before a script in which its word is searched for
_WORD_BEFORE = re.compile(
    rf"(?:\d[\d.,]*[ \u00a0\u202f]?(?=(?:{UNITS})\Z)|[^\W_]+=)?[^\W_]+\Z"  # 5 m², E=mc²
)
_WORD_AFTER = re.compile(r"[^\W_]+")


def script_of(name: str) -> Script:
    """How elements with this name write their text."""
    return _NAMES.get(name, "")


def bound(nodes: Nodes) -> tuple[Node, ...]:
    """The nodes, with each word that has a subscript or a superscript as one literal, and each mark
    of a note as a literal that a reader does not see.

    Superscripts of letters, as in `1<sup>st</sup>`, stay text, because they are translated.
    """
    found: list[Node] = []
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Around):
            found.append(node)
            continue
        script, text = _script_in(node), plain([node])
        before = _word_before(found[-1]) if found else ""
        after = _word_after(waiting[-1]) if waiting else ""
        touches = bool(found) and not plain(found[-1:])[-1:].isspace()
        if _is_mark(script, text, before, after, touches):
            found.append(Bound((node,)))
        elif _is_of_word(script, text, before, after):
            inside: list[Node] = [node]
            if before:
                rest, last = _parted(found.pop(), before, at_end=True)
                found += [rest] if rest else []
                inside[:0] = last.inside if isinstance(last, Bound) else [last]
            if after:
                rest, first = _parted(waiting.pop(), after, at_end=False)
                waiting += [rest] if rest else []
                inside.append(first)
            found.append(Bound(tidy(inside), plain(inside)))
        else:
            found.append(replace(node, inside=bound(node.inside)))
    return tuple(found)


def _script_in(node: Around) -> Script:
    """How a tag writes its text. A link, for example, may hold a superscript and nothing else."""
    inner = [one for one in node.inside if one != ""]
    while not node.script and len(inner) == 1 and isinstance(inner[0], Around):
        node = inner[0]
        inner = [one for one in node.inside if one != ""]
    return node.script


def _is_mark(script: Script, text: str, before: str, after: str, touches: bool) -> bool:
    """Whether a tag is the mark of a note. `touches` says whether it follows without a space."""
    if touches and _IN_BRACKETS.fullmatch(text):
        return True
    if script not in ("super", "note") or not _MARK.fullmatch(text):
        return False
    if script == "note" or not any(map(str.isalnum, text)):
        return True
    if before:
        return not _WITH_POWER.fullmatch(before)
    return not _ISOTOPE.fullmatch(after)


def _is_of_word(script: Script, text: str, before: str, after: str) -> bool:
    """Whether a tag is a part of the word that it touches."""
    if not script or not (before or after) or len(text) > _LONGEST or not text.strip():
        return False
    if any(map(str.isspace, text)):
        return False
    if script == "sub":
        return True
    several_letters = text.isalpha() and len(text) > 1 and text not in ("TM", "SM")
    return not several_letters and not _ORDINAL.search(before[-4:] + text)


def _word_before(node: Node) -> str:
    """The word with which a node touches the next one; empty if there is none."""
    match = _WORD_BEFORE.search(node[-_REACH:]) if isinstance(node, str) else None
    return match[0] if match else _whole_word(node)


def _word_after(node: Node) -> str:
    """The word with which a node touches the one before it; empty if there is none."""
    match = _WORD_AFTER.match(node) if isinstance(node, str) else None
    return match[0] if match else _whole_word(node)


def _whole_word(node: Node) -> str:
    """The text of a tag that holds one word or a part of a word, and else nothing."""
    text = plain([node]) if isinstance(node, (Around, Bound)) else ""
    return text if text.isalnum() else ""


def _parted(node: Node, word: str, at_end: bool) -> tuple[str, Node]:
    """A node in two: what is left of its text without the word, and the word."""
    if not isinstance(node, str):
        return "", node
    return (node[: -len(word)], word) if at_end else (node[len(word) :], word)
