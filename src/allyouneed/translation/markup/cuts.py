"""Cuts a marked-up file into tags, text and other pieces. Joined, the pieces are the file."""

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from allyouneed.translation.markup.rules import Rules

_NAME = re.compile(r"</?+([^\s/>]++)")
_TAG = re.compile(
    r"""</?+[^\W\d][^\s/>]*+                                     # as in <a, or </a
        (?: [\s/]++
          | [^\s/>=][^\s/>=]*+ (?: \s*+ = \s*+ (?: "[^"]*+" | '[^']*+' | [^\s"'>][^\s>]*+ ) )?+
          | =
        )*+ >""",
    re.VERBOSE,
)
_OTHER = re.compile(
    r"<!--(?:>|->|[\s\S]*?(?:--!?>|\Z))|<!\[CDATA\[[\s\S]*?(?:\]\]>|\Z)|<\?[\s\S]*?(?:\?>|\Z)"
    r"|<!\w[^\[\]<>]*+\[[^\]]*+\]\s*+>|<![^>]*+>|</[^>]*+>"
)
_UNFINISHED = re.compile(r"<(?:!--[\s\S]*|/?[a-zA-Z][\w-]*(?:\s+[^\s=<>]+\s*=[^<>]*)?\s*)\Z")
ATTRIBUTE = re.compile(
    r"""(?<=[\s"'/])([^\s/>="']++)\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s"'>][^\s>]*+)"""
)


@dataclass(frozen=True, slots=True)
class Cut:
    """A piece of the file: text, a tag, or something else in angle brackets."""

    raw: str
    kind: str
    name: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    line: int = 0


def cuts(text: str, rules: Rules, line: int) -> Iterator[Cut]:
    """The pieces of the file, in order. Joined, they are the file."""
    place = 0
    last_close = text.rfind(">")
    while place < len(text):
        begin = text.find("<", place)
        if begin < 0 or begin > last_close:
            yield from _last_cuts(text[place:], line)
            return
        match = _TAG.match(text, begin) or _OTHER.match(text, begin)
        if match is None:  # a sign of its own, as in "a < b"
            after = text.find("<", begin + 1)
            begin = after if after >= 0 else len(text)
            yield Cut(text[place:begin], "text", line=line)
            line += text.count("\n", place, begin)
            place = begin
            continue
        if begin > place:
            yield Cut(text[place:begin], "text", line=line)
            line += text.count("\n", place, begin)
        cut = _tag(match[0], rules, line)
        end = match.end()
        if cut.kind == "open" and cut.name in rules.raw:
            closing = re.compile(rf"</{re.escape(cut.name)}(?=[\s/>])[^>]*>", re.IGNORECASE)
            found = closing.search(text, end)
            end = found.end() if found else len(text)
            cut = Cut(text[begin:end], "other", cut.name, cut.attributes, line)
        yield cut
        line += text.count("\n", begin, end)
        place = end


def _last_cuts(text: str, line: int) -> Iterator[Cut]:
    """The pieces after the last ">". A comment or tag that is not closed there is no text: browsers
    do not show it."""
    unfinished = _UNFINISHED.search(text)
    begin = unfinished.start() if unfinished else len(text)
    if begin:
        yield Cut(text[:begin], "text", line=line)
    if unfinished:
        yield Cut(unfinished[0], "other", line=line + text.count("\n", 0, begin))


def _tag(raw: str, rules: Rules, line: int) -> Cut:
    if not _TAG.fullmatch(raw):
        return Cut(raw, "other", line=line)
    name_match = _NAME.match(raw)
    assert name_match is not None
    name = name_match[1].lower() if rules.lower_case else name_match[1]
    if raw.startswith("</"):
        return Cut(raw, "close", name, line=line)
    attributes = {
        match[1].lower() if rules.lower_case else match[1]: html.unescape(unquoted(match[2]))
        for match in ATTRIBUTE.finditer(raw)
    }
    closed = name in rules.void or (raw.endswith("/>") and not rules.lower_case)
    return Cut(raw, "void" if closed else "open", name, attributes, line)


def unquoted(value: str) -> str:
    return value[1:-1] if value[:1] in ('"', "'") else value
