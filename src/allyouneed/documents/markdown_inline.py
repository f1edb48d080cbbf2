"""Inline Markdown: the text of a block as nodes.

The parser's tokens say what the text is, and its characters say how the file writes it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from allyouneed.translation.markup.cuts import Cut, cuts
from allyouneed.translation.markup.html import html_rules
from allyouneed.translation.markup.nesting import Closing, Opening, Token, nested
from allyouneed.translation.markup.nodes import LINE_BREAK, Node, Part, Void
from allyouneed.translation.markup.passage import Passage, has_words
from allyouneed.translation.markup.scripts import script_of

if TYPE_CHECKING:
    from markdown_it.token import Token as MarkdownToken

_LINK_TAIL = re.compile(
    r"""\]\( \s* (?: <[^<>\n]*> | (?: [^\s()\\] | \\. | \( [^\s()]* \) )* )
        (?: \s+ (?P<title> "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | \((?:[^()\\]|\\.)*\) ) )? \s* \)
      | \]\[[^\[\]]*\] | \]""",
    re.VERBOSE,
)
_BREAK = re.compile(r"(?: {2,}|\\)\n[ \t]*")
_NOTE = re.compile(r"(?<=\S)\[\^[^\]\s]+\]")
_ALERT = re.compile(r"\[!\w+\]")
_ENDS_OF_SENTENCES = (*".!?:…",)
_AUTOLINK = re.compile(r"<[^<>\s]*>|\S+")
_WHITE_SPACE = re.compile(r"[ \t\r\n\f\v]+")  # spaces at which no line may end stay
_RULES = html_rules()
LONGEST = 200  # pieces of such an element: hostile files would take quadratic time
_SPECIAL = "\\`*[]<"


class Unexpected(Exception):
    """The characters of a block are not where they are expected."""


class InlineText:
    """The text of one block. `spelt` has the characters that the block writes as entities or with a
    backslash, and how it writes them."""

    def __init__(self, content: str) -> None:
        self.content = content
        self.spelt: dict[str, str] = {}
        self._cursor = 0
        self._tokens: list[Token] = []

    def nodes(self, tokens: "Iterable[MarkdownToken]") -> tuple[Node, ...]:
        """The nodes of the parser's tokens.

        Raises:
            Unexpected: the text has other characters than the tokens.
        """
        in_address = False
        tokens = list(tokens)
        ends = set(_line_ends(tokens))
        untouched = -1  # the number of the tag that closes an element that stays as it is
        for number, token in enumerate(tokens):
            if number <= untouched:
                continue
            if token.type == "html_inline" and (close := _untouched_end(tokens, number)):
                self._tokens.append(self._kept(tokens[number : close + 1]))
                untouched = close
            elif number in ends and token.type == "softbreak":
                self._expect("\n")
                self._tokens.append(Void(("\n",), LINE_BREAK))
            elif in_address:  # its text was taken with its opening
                in_address = token.type != "link_close"
            elif token.type == "link_open" and token.markup in ("autolink", "linkify"):
                address = self._matched(_AUTOLINK)
                self._tokens.append(Void((address,), address.strip("<>")))
                in_address = True
            else:
                self._read(token)
        if self.content[self._cursor :].strip():
            raise Unexpected
        return nested(self._tokens)

    def _read(self, token: "MarkdownToken") -> None:
        match token.type:
            case "text":
                self._expect(token.content)
                self._tokens += _with_notes(token.content)
            case "text_special":
                self._expect(token.markup)
                self._tokens.append(token.content)
                self.spelt[token.content] = token.markup
            case "softbreak":
                self._expect("\n")
                self._tokens.append("\n")
            case "hardbreak":
                self._tokens.append(Void((self._matched(_BREAK),), LINE_BREAK))
            case "code_inline":
                self._read_code(token)
            case "html_inline":
                self._expect(token.content)
                self._tokens.append(_html(token.content))
            case "link_open":
                self._expect("[")
                self._tokens.append(Opening("link", ("[",)))
            case "link_close":
                self._tokens.append(Closing("link", self._link_tail()))
            case "image":
                self._read_image()
            case kind if kind.endswith("_open"):
                self._expect(token.markup)
                self._tokens.append(Opening(kind[:-5], (token.markup,)))
            case kind if kind.endswith("_close"):
                self._expect(token.markup)
                self._tokens.append(Closing(kind[:-6], (token.markup,)))
            case _:
                raise Unexpected

    def _expect(self, wanted: str) -> None:
        """Goes behind `wanted`, which has to stand here. White space before a line end is skipped,
        because the parser leaves it out."""
        if wanted == "\n":
            rest = self.content[self._cursor :]
            self._cursor += len(rest) - len(rest.lstrip(" \t"))
        if not self.content.startswith(wanted, self._cursor):
            raise Unexpected
        self._cursor += len(wanted)

    def _matched(self, pattern: re.Pattern[str]) -> str:
        """The text that the pattern matches here; goes behind it."""
        found = pattern.match(self.content, self._cursor)
        if not found:
            raise Unexpected
        self._cursor = found.end()
        return found[0]

    def _kept(self, tokens: "Sequence[MarkdownToken]") -> Void:
        """The element from an HTML tag to the one that closes it, as one word."""
        begin = self._cursor
        for token in tokens:
            if token.type == "html_inline":
                place = self.content.find(token.content, self._cursor)
                if place < 0:
                    raise Unexpected
                self._cursor = place + len(token.content)
        texts = (one.content for one in tokens if one.type in ("text", "code_inline"))
        return Void((self.content[begin : self._cursor],), " ".join("".join(texts).split()))

    def _read_code(self, token: "MarkdownToken") -> None:
        begin = self._cursor
        self._expect(token.markup)
        close = re.compile(rf"(?<!`){token.markup}(?!`)").search(self.content, self._cursor)
        if not close:
            raise Unexpected
        self._cursor = close.end()
        raw = self.content[begin : self._cursor]
        self._tokens.append(Void((raw,), token.content.strip() or " "))

    def _read_image(self) -> None:
        """A picture is a node without text. Its description is a passage of its own."""
        self._expect("![")
        begin, text = self._cursor, self.content
        end = text.find("]", begin)
        while end >= 0 and text.count("[", begin, end) > text.count("]", begin, end):
            end = text.find("]", end + 1)
        if end < 0:
            raise Unexpected
        self._cursor = end
        tail = self._link_tail()
        alt = text[begin:end]
        middle: Part = alt
        if has_words(alt) and not re.search(r"[*_`\[\]<\\&]", alt):
            middle = Passage((alt,), (alt,), escaping(alt, {}), "text of a picture")
        self._tokens.append(Void(("![", middle, *tail)))

    def _link_tail(self) -> tuple[Part, ...]:
        """The address of a link or picture, which is copied; its title is a passage of its own."""
        tail = self._matched(_LINK_TAIL)
        found = _LINK_TAIL.match(tail)
        title = found["title"] if found else None
        if not title or not has_words(title) or re.search(r"[\\&]", title):
            return (tail,)
        place = tail.rindex(title)
        inside = title[1:-1]
        write = partial(_title, title[0] + title[-1])
        passage = Passage((inside,), (inside,), write, "title of a link")
        return (tail[: place + 1], passage, tail[place + len(title) - 1 :])


def _line_ends(tokens: "Sequence[MarkdownToken]") -> Iterator[int]:
    """The numbers of the soft breaks that stay line ends: behind the mark of an alert, and around a
    line that is bold as a whole, which is a heading. A bold line within a sentence is none."""
    breaks = [n for n, token in enumerate(tokens) if token.type in ("softbreak", "hardbreak")]
    stands_alone = True
    for before, after in pairwise([-1, *breaks, len(tokens)]):
        line = [one for one in tokens[before + 1 : after] if one.content.strip() or one.nesting]
        text = "".join(one.content for one in line)
        is_heading = stands_alone and _is_bold(line)
        if is_heading:
            yield before
        if is_heading or (before < 0 and _ALERT.match(text)):
            yield after
        is_broken = after < len(tokens) and tokens[after].type == "hardbreak"
        stands_alone = is_heading or is_broken or text.rstrip().endswith(_ENDS_OF_SENTENCES)


def _is_bold(line: "Sequence[MarkdownToken]") -> bool:
    """Whether one pair of stars or lines holds the whole line."""
    opening = [n for n, token in enumerate(line) if token.type == "strong_open"]
    return opening == [0] and line[-1].type == "strong_close"


def _with_notes(text: str) -> Iterator[Token]:
    """The nodes of a text, with each mark of a footnote as a node of its own, so that it stays at
    its word."""
    place = 0
    for match in _NOTE.finditer(text):
        yield text[place : match.start()]
        yield Void((match[0],))
        place = match.end()
    yield text[place:]


def _untouched_end(tokens: "Sequence[MarkdownToken]", number: int) -> int | None:
    """The number of the tag that closes the HTML element that token `number` opens, if the element
    stays as it is, such as `<kbd>`. Else None."""
    opening = _cut(tokens[number].content)
    if opening.kind != "open" or not _RULES.leaves(opening.name, opening.attributes):
        return None
    depth = 0
    for n in range(number, min(number + LONGEST, len(tokens))):
        if tokens[n].type == "html_inline":
            cut = _cut(tokens[n].content)
            if cut.name == opening.name:
                depth += {"open": 1, "close": -1}.get(cut.kind, 0)
            if depth == 0:
                return n
    return None


def _cut(raw: str) -> Cut:
    return next(cuts(raw, _RULES, 0))


def _html(raw: str) -> Token:
    cut = _cut(raw)
    if raw.endswith("/>") or cut.kind in ("void", "other"):
        return Void((raw,), LINE_BREAK if cut.name == "br" else "")
    name = f"<{cut.name}"
    if cut.kind == "close":
        return Closing(name, (raw,))
    return Opening(name, (raw,), script_of(cut.name), _RULES.language(cut.name, cut.attributes))


def _title(bounds: str, text: str) -> str:
    """The text as the title of a link, which stands in quotes or brackets, `bounds`."""
    table = str.maketrans({sign: f"\\{sign}" for sign in {"\\", *bounds}})
    return _WHITE_SPACE.sub(" ", text).translate(table)


def escaping(source: str, spelt: Mapping[str, str]) -> Callable[[str], str]:
    """A function that writes text so that Markdown reads it as text. Special characters that the
    source does not have are escaped; all others are written as the source writes them."""
    special = {sign: f"\\{sign}" for sign in _SPECIAL if sign not in source}
    special |= {sign: raw for sign, raw in spelt.items() if len(sign) == 1 and not sign.isspace()}
    table = str.maketrans(special)
    return lambda text: _WHITE_SPACE.sub(" ", text).translate(table)
