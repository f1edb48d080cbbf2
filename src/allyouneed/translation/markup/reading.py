"""Reads the tags and the text of a marked-up file as passages and other parts.

The file is cut, not parsed, so the joined parts are always the file again. Broken markup is read as
browsers read it: a tag without a partner stays where it is.
"""

import html
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from allyouneed.translation.markup.cuts import ATTRIBUTE, Cut, cuts, unquoted
from allyouneed.translation.markup.nesting import (
    DEEPEST,
    Closing,
    Opening,
    Token,
    first_of_both_kinds,
    nested,
)
from allyouneed.translation.markup.nodes import (
    LINE_BREAK,
    Around,
    Kept,
    Node,
    Part,
    Script,
    Void,
)
from allyouneed.translation.markup.passage import Passage, escaped, has_words
from allyouneed.translation.markup.rules import Rules
from allyouneed.translation.markup.scripts import script_of

LONGEST = 2000  # pieces of an element that is carried over within a sentence
MOST_TAGS = 300  # in one passage; a paragraph with more of them is translated in several
_COLUMNS = re.compile(r"(\s{2,}|\t)")
_NOTE = re.compile(r"\b(?:doc-)?noteref\b|\bfootnote-ref\b")
_OWN_REFERENCE = re.compile(r"(&[^\W\d][\w.-]*;)")
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]\w{1,31});")


def read_markup(text: str, rules: Rules, begin_line: int = 1) -> list[Part]:
    """The parts of a text with tags: passages, and the text between them."""
    reader = _Reader(text, rules, begin_line)
    reader.read()
    return reader.parts


def _closings(cuts: Sequence[Cut]) -> dict[int, int]:
    """For each opening tag that is closed, the number of the tag that closes it."""
    found: dict[int, int] = {}
    opened: dict[str, list[int]] = defaultdict(list)
    for number, cut in enumerate(cuts):
        if cut.kind == "open":
            opened[cut.name].append(number)
        elif cut.kind == "close" and opened[cut.name]:
            found[opened[cut.name].pop()] = number
    return found


def _around_blocks(cuts: Sequence[Cut], rules: Rules) -> set[int]:
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
        self._cuts = list(cuts(text, rules, line))
        self._outer = _around_blocks(self._cuts, rules)
        self._closings = _closings(self._cuts)
        self._blocks = [n for n, cut in enumerate(self._cuts) if cut.name in rules.block]
        self._run: list[tuple[Token, tuple[Part, ...]]] = []
        self._tags = 0
        self._preformatted = 0  # open elements
        self._spelt: dict[str, str] = {}
        self._bare: set[str] = set()
        self._line = line
        self._language = ""  # that a block names for the run
        self._languages: list[tuple[int, str]] = []  # of open blocks, with the pieces after them

    def read(self) -> None:
        """Fills `parts`."""
        number = 0
        while number < len(self._cuts):
            cut = self._cuts[number]
            while self._languages and self._languages[-1][0] <= number:
                self._languages.pop()
            number += 1
            if cut.kind == "open" and self.rules.leaves(cut.name, cut.attributes):
                end = self._end_of(cut, number)
                if end is not None:
                    self._add_untouched(self._cuts[number - 1 : end])
                    number = end
                    continue
            is_block = cut.kind != "other" and cut.name in self.rules.block
            ends_sentence = is_block or number - 1 in self._outer
            self._add(cut, ends_sentence)
            if ends_sentence and cut.kind == "open":
                self._enter(cut, number)
        self._flush()

    def _enter(self, cut: Cut, number: int) -> None:
        """Notes the language that a block names for its text."""
        language = self.rules.language(cut.name, cut.attributes)
        end = self._end_of(cut, number) if language else None
        if end is not None:
            self._languages.append((end, language))

    @property
    def _block_language(self) -> str:
        """The language that the innermost open block names, of those that name one."""
        return self._languages[-1][1] if self._languages else ""

    def _add(self, cut: Cut, ends_sentence: bool) -> None:
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
        if ends_sentence:
            self._flush()
            self.parts += raw
            return
        if self._tags >= MOST_TAGS:
            self._flush()
        self._tags += 1
        match cut.kind:
            case "open":
                token: Token = Opening(
                    cut.name, raw, _script(cut), self.rules.language(cut.name, cut.attributes)
                )
            case "close":
                token = Closing(cut.name, raw)
            case _ if cut.raw.startswith("<![CDATA["):
                token = Void(raw, cut.raw[9:].removesuffix("]]>"))
            case _:
                token = Void(raw, LINE_BREAK if cut.name in self.rules.breaks else "")
        self._push(token, raw, cut.line)

    def _add_lines(self, cut: Cut) -> None:
        """Adds text. Line breaks, and rows of spaces as between columns, end a passage and stay."""
        for number, line in enumerate(cut.raw.splitlines(keepends=True)):
            content = line.rstrip("\r\n")
            for n, part in enumerate(_COLUMNS.split(content)):
                if n % 2:  # space that a reader sees
                    self._flush()
                    self.parts.append(part)
                elif part:
                    self._add_text(replace(cut, raw=part, line=cut.line + number))
            if content != line:
                self._flush()
                self.parts.append(line[len(content) :])

    def _add_text(self, cut: Cut) -> None:
        for match in _REFERENCE.finditer(cut.raw):
            sign = html.unescape(match[0])
            if len(sign) == 1 and not (sign.isascii() and (sign.isalnum() or sign.isspace())):
                self._spelt.setdefault(sign, match[0])
        self._bare.update(_REFERENCE.sub("", cut.raw))
        for n, part in enumerate(_OWN_REFERENCE.split(cut.raw)):
            if n % 2 and html.unescape(part) == part:  # a word that only the file's DTD knows
                self._push(Void((part,), part), (part,), cut.line)
            elif part:
                self._push(html.unescape(part), (part,), cut.line)

    def _add_untouched(self, cuts: Sequence[Cut]) -> None:
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
            self._language = self._block_language
        self._run.append((token, raw))

    def _end_of(self, opening: Cut, number: int) -> int | None:
        """The number of the piece after an element; None for an element within a sentence that is
        not closed in its block."""
        closing = self._closings.get(number - 1)
        if opening.name in self.rules.block:
            ends = [self._implied_end(opening, number), len(self._cuts)]
            return min(end for end in (closing and closing + 1, *ends) if end is not None)
        if closing is None or closing >= number + LONGEST:
            return None
        if opening.name in self.rules.skipped and not self._holds_whole_blocks(number, closing):
            return None
        return closing + 1

    def _blocks_between(self, begin: int, end: int) -> list[int]:
        """The numbers of the tags of blocks among these pieces."""
        first, last = (bisect_left(self._blocks, n) for n in (begin, end))
        return self._blocks[first:last]

    def _holds_whole_blocks(self, begin: int, end: int) -> bool:
        """Whether every block that begins among these pieces ends there, and the other way
        round."""
        depth = 0
        for number in self._blocks_between(begin, end):
            depth += {"open": 1, "close": -1}.get(self._cuts[number].kind, 0)
            if depth < 0:
                return False
        return depth == 0

    def _implied_end(self, opening: Cut, number: int) -> int | None:
        """The number of the piece before which a block without end tag ends: the next block of
        those that end it, or the end of the block around it. None for other blocks."""
        enders = self.rules.ended_by.get(opening.name)
        if enders is None:
            return None
        depth = 0
        for n in self._blocks_between(number, len(self._cuts)):
            cut = self._cuts[n]
            if cut.kind == "open" and depth == 0 and cut.name in enders:
                return n
            if cut.kind == "close" and depth == 0:
                return n + (cut.name == opening.name)
            depth += {"open": 1, "close": -1}.get(cut.kind, 0)
        return None

    def _with_attributes(self, cut: Cut) -> tuple[Part, ...]:
        """The tag, with passages in place of attributes that hold text."""
        names = self.rules.attributes(cut.name, cut.attributes) if cut.attributes else ()
        if not names:
            return (cut.raw,)
        language = self.rules.language(cut.name, cut.attributes) or self._block_language
        parts: list[Part] = []
        place = 0
        for match in ATTRIBUTE.finditer(cut.raw):
            name = match[1].lower() if self.rules.lower_case else match[1]
            text = html.unescape(unquoted(match[2]))
            if name in names and has_words(text):
                begin, end = match.span(2)
                where = f"line {cut.line}, {match[1]} of <{cut.name}>"
                parts.append(cut.raw[place:begin])
                nodes = _in_language((text,), language)
                parts.append(Passage(nodes, (match[2],), str, where, _in_quotes(match[2])))
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
            nodes = _in_language(nested(token for token, _ in inner), self._language)
            escape = _escape(
                {sign: raw for sign, raw in self._spelt.items() if sign not in self._bare}
            )
            self.parts.append(Passage(nodes, original, escape, f"line {self._line}"))
        else:
            self.parts += original
        self.parts += [part for _, raw in run[end:] for part in raw]


def _in_language(nodes: tuple[Node, ...], language: str) -> tuple[Node, ...]:
    """The nodes of a passage; if their language is named, in an element without tags."""
    return (Around((), nodes, (), language=language),) if language else nodes


def _script(tag: Cut) -> Script:
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


def _in_quotes(value: str) -> Callable[[Passage], str]:
    """A function that writes the translation of an attribute's value, in the quotes of `value`, or
    in new quotes if `value` has none."""
    quote = value[0] if value[:1] in ('"', "'") else '"'
    table = str.maketrans({"&": "&amp;", "<": "&lt;", quote: "&quot;" if quote == '"' else "&#39;"})

    def write(passage: Passage) -> str:
        text = escaped(passage.target or (), lambda text: text.translate(table))
        return f"{quote}{text}{quote}"

    return write
