"""Subtitles of Advanced SubStation Alpha (ass, ssa)."""

import re
from collections.abc import Iterator

from allyouneed.documents.cues import Cue, Cues
from allyouneed.documents.document import Document, decoded, spliced
from allyouneed.documents.reading_speed import speed_notes
from allyouneed.documents.shown_text import ShownText, groups_of, line_end, seconds
from allyouneed.errors import DataError
from allyouneed.translation.markup.nesting import Token, nested
from allyouneed.translation.markup.nodes import Node, Part, Void
from allyouneed.translation.markup.passage import Passage, has_words

_DIALOGUE = re.compile(r"^(Dialogue:[^\r\n]*)", re.MULTILINE)
_MARK = re.compile(r"\{[^{}]*\}|\\[Nnh]")
_DRAWING = re.compile(r"\\p[1-9]")
_HEAD = re.compile(  # the times, then style and speaker
    r"Dialogue:[^,]*,\s*(\d+):(\d+):(\d+)\.(\d+)\s*,\s*(\d+):(\d+):(\d+)\.(\d+)\s*,([^,]*,[^,]*)"
)
_ALONE = re.compile(r"\\(?:pos|move|[kK])|\{[^{}]*\s")  # signs, songs; no line may end in a tag


def read_ass(data: bytes) -> Document:
    """The document of an ASS or SSA file: the text of its Dialogue lines. Drawings stay. A sentence
    over several lines of one style and speaker is translated whole.

    Raises:
        DataError: the file has no Dialogue line.
    """
    encoded = decoded(data)
    if not _DIALOGUE.search(encoded.text):
        raise DataError("no Dialogue line in these subtitles")
    speakers: dict[str, list[ShownText]] = {}
    lines = list(_lines(encoded.text))
    for speaker, shown in lines:
        speakers.setdefault(speaker, []).append(shown)
    places: list[tuple[int, int, Part]] = []
    found: list[tuple[int, Passage]] = []
    for group in (one for some in speakers.values() for one in groups_of(some)):
        first, where = group[0], f"line {group[0].line}"
        if len(group) == 1:
            passage = Passage(_nodes(first.text), (first.text,), _escape, where)
            places.append((first.begin, first.end, passage))
        else:
            texts = [one.text for one in group]
            passage = cues = Cues(
                [_nodes(one, True) for one in texts], texts, _escape, where, "\\N"
            )
            places += [(one.begin, one.end, Cue(cues, n)) for n, one in enumerate(group)]
        found.append((first.begin, passage))
    document = encoded.document(spliced(encoded.text, sorted(places, key=lambda one: one[0])))
    document.passages = [passage for _, passage in sorted(found, key=lambda one: one[0])]
    shown_texts = [shown for _, shown in lines]
    document.check = speed_notes(shown_texts, places, lambda text: _MARK.sub("", text))
    return document


def _lines(text: str) -> Iterator[tuple[str, ShownText]]:
    """Each line with words: its style with its speaker, and what it shows."""
    fields = _number_of_fields(text)
    for match in _DIALOGUE.finditer(text):
        columns = match[0].split(",", fields - 1)
        shown = columns[-1]
        is_text = has_words(_MARK.sub("", shown)) and not _DRAWING.search(shown)
        if len(columns) < fields or not is_text:
            continue
        head = _HEAD.match(match[0])
        *times, speaker = head.groups() if head else (*[None] * 8, "")
        is_alone = head is None or _ALONE.search(shown) is not None
        yield (
            speaker or "",
            ShownText(
                match.end() - len(shown),
                match.end(),
                shown,
                seconds(times[:4]),
                seconds(times[4:]),
                text.count("\n", 0, match.start()) + 1,
                is_alone,
            ),
        )


def _number_of_fields(text: str) -> int:
    """The number of columns of an event, by the Format line; 10 without such a line."""
    found = re.search(r"^\[Events\]\s*^Format:([^\r\n]*)", text, re.MULTILINE)
    return found[1].count(",") + 1 if found else 10


def _nodes(text: str, is_broken_again: bool = False) -> tuple[Node, ...]:
    """The text of a line as nodes. If `is_broken_again`, its line ends do not stay, but for those
    behind a sentence."""
    tokens: list[Token] = []
    place = 0
    for match in _MARK.finditer(text):
        tokens.append(text[place : match.start()])
        if is_broken_again and match[0] == "\\N":
            tokens.append(line_end(text, match))
        else:
            tokens.append(Void((match[0],), "" if match[0].startswith("{") else " "))
        place = match.end()
    return nested([*tokens, text[place:]])


def _escape(text: str) -> str:
    return text.replace("{", "(").replace("}", ")").replace("\n", " ")
