"""Reads the tags and the text of a marked-up file as passages and other parts.

The file is cut, not parsed, so the joined parts are always the file again. Broken markup is read as
browsers read it: a tag without a partner stays where it is.
"""

import html
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from allyouneed.translation.markup.nesting import (
    DEEPEST,
    Closing,
    Opening,
    Token,
    first_of_both_kinds,
    nested,
)
from allyouneed.translation.markup.nodes import LINE_BREAK, Kept, Part, Script, Void
from allyouneed.translation.markup.passage import Passage, has_words
from allyouneed.translation.markup.scripts import script_of

LONGEST = 2000  # pieces of an element that is carried over within a sentence
MOST_TAGS = 300  # in one passage; a paragraph with more of them is translated in several
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
_ATTRIBUTE = re.compile(
    r"""(?<=[\s"'/])([^\s/>="']++)\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s"'>][^\s>]*+)"""
)
_NOTE = re.compile(r"\b(?:doc-)?noteref\b|\bfootnote-ref\b")
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]\w{1,31});")


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules for the tags of a format.

    Tags named in `block` end sentences, and so do tags around them; all other tags stand within
    sentences. Empty elements named in `breaks` begin a new line. The content of `skipped`
    elements stays as it is, and so does the content of elements for which
    `untouched(name, attributes)` is true. `unseen` elements stay, too, and are no part of the
    sentence. Each line of a `preformatted` element is a passage of its own. `void` elements have no
    end tag. `raw` elements hold no
    markup. `attributes(name, attributes)` names the attributes whose values are translated.
    """

    block: Collection[str] = ()
    breaks: Collection[str] = ()
    skipped: Collection[str] = ()
    unseen: Collection[str] = ()
    preformatted: Collection[str] = ()
    void: Collection[str] = ()
    raw: Collection[str] = ()
    lower_case: bool = False
    untouched: Callable[[str, Mapping[str, str]], bool] = lambda name, attributes: False
    attributes: Callable[[str, Mapping[str, str]], Collection[str]] = lambda name, attributes: ()


def read_markup(text: str, rules: Rules, begin_line: int = 1) -> list[Part]:
    """The parts of a text with tags: passages, and the text between them."""
    reader = _Reader(text, rules, begin_line)
    reader.read()
    return reader.parts


@dataclass(frozen=True, slots=True)
class _Cut:
    """A piece of the file: text, a tag, or something else in angle brackets."""

    raw: str
    kind: str
    name: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    line: int = 0


def _cuts(text: str, rules: Rules, line: int) -> Iterator[_Cut]:
    """The pieces of the file, in order. Joined, they are the file."""
    place = 0
    last_close = text.rfind(">")
    while place < len(text):
        begin = text.find("<", place)
        if begin < 0 or begin > last_close:
            yield _Cut(text[place:], "text", line=line)
            return
        match = _TAG.match(text, begin) or _OTHER.match(text, begin)
        if match is None:  # a sign of its own, as in "a < b"
            after = text.find("<", begin + 1)
            begin = after if after >= 0 else len(text)
            yield _Cut(text[place:begin], "text", line=line)
            line += text.count("\n", place, begin)
            place = begin
            continue
        if begin > place:
            yield _Cut(text[place:begin], "text", line=line)
            line += text.count("\n", place, begin)
        cut = _tag(match[0], rules, line)
        end = match.end()
        if cut.kind == "open" and cut.name in rules.raw:
            closing = re.compile(rf"</{re.escape(cut.name)}(?=[\s/>])[^>]*>", re.IGNORECASE)
            found = closing.search(text, end)
            end = found.end() if found else len(text)
            cut = _Cut(text[begin:end], "other", cut.name, cut.attributes, line)
        yield cut
        line += text.count("\n", begin, end)
        place = end


def _tag(raw: str, rules: Rules, line: int) -> _Cut:
    if not _TAG.fullmatch(raw):
        return _Cut(raw, "other", line=line)
    name_match = _NAME.match(raw)
    assert name_match is not None
    name = name_match[1].lower() if rules.lower_case else name_match[1]
    if raw.startswith("</"):
        return _Cut(raw, "close", name, line=line)
    attributes = {
        match[1].lower() if rules.lower_case else match[1]: html.unescape(_unquoted(match[2]))
        for match in _ATTRIBUTE.finditer(raw)
    }
    closed = name in rules.void or (raw.endswith("/>") and not rules.lower_case)
    return _Cut(raw, "void" if closed else "open", name, attributes, line)


def _unquoted(value: str) -> str:
    return value[1:-1] if value[:1] in ('"', "'") else value


def _closings(cuts: Sequence[_Cut]) -> dict[int, int]:
    """For each opening tag that is closed, the number of the tag that closes it."""
    found: dict[int, int] = {}
    opened: dict[str, list[int]] = defaultdict(list)
    for number, cut in enumerate(cuts):
        if cut.kind == "open":
            opened[cut.name].append(number)
        elif cut.kind == "close" and opened[cut.name]:
            found[opened[cut.name].pop()] = number
    return found


def _around_blocks(cuts: Sequence[_Cut], rules: Rules) -> set[int]:
    """The numbers of the tags of elements that contain a block, and are themselves none."""
    found: set[int] = set()
    open_tags: list[int] = []
    for number, cut in enumerate(cuts):
        if cut.kind == "open" and cut.name not in rules.block:
            open_tags.append(number)
        elif cut.kind == "close" and cut.name not in rules.block:
            deepest = max(len(open_tags) - DEEPEST, 0)
            for place in range(len(open_tags) - 1, deepest - 1, -1):
                if cuts[open_tags[place]].name == cut.name:
                    if open_tags[place] in found:
                        found.add(number)
                    del open_tags[place:]
                    break
        elif cut.kind in ("open", "close"):
            for outer in reversed(open_tags):
                if outer in found:
                    break
                found.add(outer)
    return found


class _Reader:
    """Collects runs of text and inline tags. A tag that ends a sentence makes the run a passage."""

    def __init__(self, text: str, rules: Rules, line: int) -> None:
        self.rules = rules
        self.parts: list[Part] = []
        self._cuts = list(_cuts(text, rules, line))
        self._outer = _around_blocks(self._cuts, rules)
        self._closings = _closings(self._cuts)
        self._blocks = [n for n, cut in enumerate(self._cuts) if cut.name in rules.block]
        self._run: list[tuple[Token, tuple[Part, ...]]] = []
        self._tags = 0
        self._preformatted = 0  # open elements
        self._spelt: dict[str, str] = {}
        self._bare: set[str] = set()
        self._line = line

    def read(self) -> None:
        """Fills `parts`."""
        number = 0
        while number < len(self._cuts):
            cut = self._cuts[number]
            number += 1
            if cut.kind == "open" and self._is_untouched(cut):
                end = self._end_of(cut, number)
                if end is not None:
                    self._add_untouched(self._cuts[number - 1 : end])
                    number = end
                    continue
            self._add(cut, ends_sentence=number - 1 in self._outer)
        self._flush()

    def _add(self, cut: _Cut, ends_sentence: bool) -> None:
        if cut.kind == "text":
            if self._preformatted:
                self._add_lines(cut)
            else:
                self._add_text(cut)
            return
        if cut.name in self.rules.preformatted:
            step = {"open": 1, "close": -1}.get(cut.kind, 0)
            self._preformatted = max(self._preformatted + step, 0)
        raw = self._with_attributes(cut)
        if ends_sentence or (cut.kind != "other" and cut.name in self.rules.block):
            self._flush()
            self.parts += raw
            return
        if self._tags >= MOST_TAGS:
            self._flush()
        self._tags += 1
        match cut.kind:
            case "open":
                token: Token = Opening(cut.name, raw, _script(cut))
            case "close":
                token = Closing(cut.name, raw)
            case _ if cut.raw.startswith("<![CDATA["):
                token = Void(raw, cut.raw[9:].removesuffix("]]>"))
            case _:
                token = Void(raw, LINE_BREAK if cut.name in self.rules.breaks else "")
        self._push(token, raw, cut.line)

    def _add_lines(self, cut: _Cut) -> None:
        """Adds text. Each of its line breaks ends a passage and stays as it is."""
        for number, line in enumerate(cut.raw.splitlines(keepends=True)):
            content = line.rstrip("\r\n")
            if content:
                self._add_text(replace(cut, raw=content, line=cut.line + number))
            if content != line:
                self._flush()
                self.parts.append(line[len(content) :])

    def _add_text(self, cut: _Cut) -> None:
        for match in _REFERENCE.finditer(cut.raw):
            sign = html.unescape(match[0])
            if len(sign) == 1 and not (sign.isascii() and (sign.isalnum() or sign.isspace())):
                self._spelt.setdefault(sign, match[0])
        self._bare.update(_REFERENCE.sub("", cut.raw))
        self._push(html.unescape(cut.raw), (cut.raw,), cut.line)

    def _add_untouched(self, cuts: Sequence[_Cut]) -> None:
        """Adds an element that stays as it is. Within a sentence it is one word of the sentence."""
        raw = "".join(cut.raw for cut in cuts)
        if any(cut.name in self.rules.block for cut in cuts):
            self._flush()
            self.parts.append(raw)
            return
        texts = (cut.raw for cut in cuts if cut.kind == "text")
        seen = "" if cuts[0].name in self.rules.unseen else html.unescape("".join(texts))
        self._tags += 1
        self._push(Void((raw,), " ".join(seen.split())), (raw,), cuts[0].line)

    def _push(self, token: Token, raw: tuple[Part, ...], line: int) -> None:
        if not self._run:
            self._line = line
        self._run.append((token, raw))

    def _is_untouched(self, cut: _Cut) -> bool:
        left = cut.name in self.rules.skipped or cut.name in self.rules.unseen
        return left or self.rules.untouched(cut.name, cut.attributes)

    def _end_of(self, opening: _Cut, number: int) -> int | None:
        """The number of the piece after an element; None for an element within a sentence that is
        not closed in its block."""
        closing = self._closings.get(number - 1)
        if opening.name in self.rules.block:
            return len(self._cuts) if closing is None else closing + 1
        if closing is None or closing >= number + LONGEST:
            return None
        if opening.name in self.rules.skipped:
            first, last = (bisect_left(self._blocks, n) for n in (number, closing))
            return closing + 1 if first == last else None
        return closing + 1

    def _with_attributes(self, cut: _Cut) -> tuple[Part, ...]:
        """The tag, with passages in place of attributes that hold text."""
        names = self.rules.attributes(cut.name, cut.attributes) if cut.attributes else ()
        if not names:
            return (cut.raw,)
        parts: list[Part] = []
        place = 0
        for match in _ATTRIBUTE.finditer(cut.raw):
            name = match[1].lower() if self.rules.lower_case else match[1]
            text = html.unescape(_unquoted(match[2]))
            if name in names and has_words(text):
                begin, end = match.span(2)
                where = f"line {cut.line}, {match[1]} of <{cut.name}>"
                parts.append(cut.raw[place:begin])
                parts.append(Passage((text,), (match[2],), _in_quotes(match[2]), where))
                place = end
        return (*parts, cut.raw[place:])

    def _flush(self) -> None:
        """Makes a passage of the run, or several if its tags could cross in a translation."""
        run, self._run = self._run, []
        cut = first_of_both_kinds([token for token, _ in run])
        while cut is not None:
            self._add_passage(run[:cut])
            run = run[cut:]
            cut = first_of_both_kinds([token for token, _ in run])
        self._add_passage(run)
        self._spelt, self._bare, self._tags = {}, set(), 0

    def _add_passage(self, run: Sequence[tuple[Token, tuple[Part, ...]]]) -> None:
        """Makes a passage of the run, without the tags and white space around its words."""
        begin, end = 0, len(run)
        while begin < end and _is_edge(run[begin][0]):
            begin += 1
        while begin < end and _is_edge(run[end - 1][0]):
            end -= 1
        inner = run[begin:end]
        original = tuple(part for _, raw in inner for part in raw)
        self.parts += [part for _, raw in run[:begin] for part in raw]
        if any(isinstance(token, str) and has_words(token) for token, _ in inner):
            nodes = nested(token for token, _ in inner)
            escape = _escape(
                {sign: raw for sign, raw in self._spelt.items() if sign not in self._bare}
            )
            self.parts.append(Passage(nodes, original, escape, f"line {self._line}"))
        else:
            self.parts += original
        self.parts += [part for _, raw in run[end:] for part in raw]


def _script(tag: _Cut) -> Script:
    """How a tag writes its text, by its name or by what its attributes say."""
    said = " ".join(tag.attributes.get(name, "") for name in ("epub:type", "role", "class"))
    return "note" if _NOTE.search(said) else script_of(tag.name)


def _is_edge(token: Token) -> bool:
    """Whether a token at the edge of a passage need not be in it."""
    if isinstance(token, str):
        return not token.strip()
    return isinstance(token, (Void, Kept)) and not getattr(token, "seen", "x").strip()


def _escape(spelt: Mapping[str, str]) -> Callable[[str], str]:
    """A function that escapes text. Signs that the source always writes as references are written
    as references again."""
    table = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", **spelt})
    return lambda text: text.translate(table)


def _in_quotes(value: str) -> Callable[[str], str]:
    """A function that writes text as the value of an attribute, in the quotes of `value`, or in new
    quotes if `value` has none."""
    quote = value[0] if value[:1] in ('"', "'") else '"'
    table = str.maketrans({"&": "&amp;", "<": "&lt;", quote: "&quot;" if quote == '"' else "&#39;"})
    return lambda text: f"{quote}{text.translate(table)}{quote}"
