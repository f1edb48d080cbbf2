"""Subtitles: SubRip (srt) and WebVTT (vtt)."""

import html
import re

from allyouneed.documents.cues import Cue, Cues
from allyouneed.documents.document import Document, decoded, spliced
from allyouneed.documents.reading_speed import speed_notes
from allyouneed.documents.shown_text import TAG, ShownText, groups_of, line_end, seconds
from allyouneed.errors import DataError
from allyouneed.translation.markup.nesting import Closing, Opening, Token, nested
from allyouneed.translation.markup.nodes import Node, Part, Void
from allyouneed.translation.markup.passage import Escape, Passage, has_words

_TIMES = re.compile(
    r"^[ \t]*(?:(\d+):)?(\d+):(\d+)[,.](\d+)[ \t]*-->[ \t]*(?:(\d+):)?(\d+):(\d+)[,.](\d+)[^\r\n]*"
    r"(?:\r\n|\n|\r)",
    re.MULTILINE,
)
_EMPTY_LINE = re.compile(r"(?>\r\n|\n|\r)(?=[ \t]*(?:\n|\r))")
_MARK = re.compile(rf"{TAG.pattern}|[\r\n]\s*")
_IN_BRACKETS = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")


def read_srt(data: bytes) -> Document:
    """The document of a SubRip file.

    Raises:
        DataError: the file has no cue.
    """
    return _read_cues(data, _srt_escape, html_like=False)


def read_vtt(data: bytes) -> Document:
    """The document of a WebVTT file.

    Raises:
        DataError: the file has no cue.
    """
    return _read_cues(data, _vtt_escape, html_like=True)


def _read_cues(data: bytes, escape: Escape, html_like: bool) -> Document:
    encoded = decoded(data)
    shown = _cues(encoded.text)
    if not shown and not re.fullmatch(r"\ufeff?(?:WEBVTT)?\s*", encoded.text):
        raise DataError("no cue (a line such as 00:00:01,000 --> 00:00:02,000) in these subtitles")
    places: list[tuple[int, int, Part]] = []
    found: list[Passage] = []
    for group in groups_of(shown):
        if group[0].is_dialogue:
            for begin, end, line in _dialogue_lines(group[0]):
                nodes = _nodes(line, html_like)
                passage = Passage(nodes, (line,), escape, f"line {group[0].line}")
                places.append((begin, end, passage))
                found.append(passage)
            continue
        cues = Cues(
            [_nodes(cue.text, html_like) for cue in group],
            [cue.text for cue in group],
            escape,
            f"line {group[0].line}",
        )
        found.append(cues)
        places += [(cue.begin, cue.end, Cue(cues, n)) for n, cue in enumerate(group)]
    places.sort(key=lambda place: place[0])
    document = encoded.document(spliced(encoded.text, places))
    document.passages = found
    document.check = speed_notes(shown, places, lambda text: _words(_MARK.sub("", text), html_like))
    return document


def _cues(text: str) -> list[ShownText]:
    found = []
    line, counted = 1, 0
    for match in _TIMES.finditer(text):
        end_match = _EMPTY_LINE.search(text, match.end() - 1)
        end = max(end_match.start() if end_match else len(text), match.end())
        body = text[match.end() : end].rstrip()
        line += text.count("\n", counted, match.end())
        counted = match.end()
        if "-->" not in body and has_words(TAG.sub("", body)):
            start, stop = seconds(match.groups()[:4]), seconds(match.groups()[4:])
            for begin, end, is_alone in _texts(body):
                place = match.end() + begin, match.end() + end
                found.append(ShownText(*place, body[begin:end], start, stop, line, is_alone))
    return found


def _texts(body: str) -> list[tuple[int, int, bool]]:
    """The texts of a cue: (begin, end, whether it stands alone). A line in brackets, such as
    `[door closes]`, stands alone. The lines between two of them are one text."""
    found: list[tuple[int, int, bool]] = []
    begin = 0
    for line in body.splitlines(keepends=True):
        end = begin + len(line.rstrip())
        if _IN_BRACKETS.fullmatch(TAG.sub("", line).strip()):
            found.append((begin, end, True))
        elif found and not found[-1][2]:
            found[-1] = found[-1][0], end, False
        else:
            found.append((begin, end, False))
        begin += len(line)
    return found


def _dialogue_lines(cue: ShownText) -> list[tuple[int, int, str]]:
    """The lines of a dialogue without their dashes: (begin, end, text)."""
    found: list[tuple[int, int, str]] = []
    begin = cue.begin
    for line in cue.text.splitlines(keepends=True):
        text = line.rstrip()
        lead = re.match(r"(?:<[^<>]*>|\{[^{}]*\})*[-–—‐]?\s*", text)
        skipped = lead.end() if lead else 0
        if has_words(TAG.sub("", text[skipped:])):
            found.append((begin + skipped, begin + len(text), text[skipped:]))
        begin += len(line)
    return found


def _nodes(text: str, html_like: bool) -> tuple[Node, ...]:
    tokens: list[Token] = []
    place = 0
    for match in _MARK.finditer(text):
        raw = match[0]
        words = text[place : match.start()]
        tokens.append(_words(words.rstrip() if raw.isspace() else words, html_like))
        name = re.sub(r"[\s.>].*", "", raw.strip("</"), flags=re.DOTALL).lower()
        if raw.isspace():
            tokens.append(line_end(text, match))
        elif raw.startswith("{") or name[:1].isdigit():
            tokens.append(Void((raw,)))
        else:
            tokens.append((Closing if raw.startswith("</") else Opening)(name, (raw,)))
        place = match.end()
    tokens.append(_words(text[place:], html_like))
    return nested(tokens)


def _words(text: str, html_like: bool) -> str:
    text = re.sub(r"\s+", " ", text)
    return html.unescape(text) if html_like else text


def _srt_escape(text: str) -> str:
    return text.replace("<", "‹").replace("{\\", "(\\")


def _vtt_escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("-->", "--&gt;")
