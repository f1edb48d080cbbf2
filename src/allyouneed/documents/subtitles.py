"""Subtitles: SubRip (srt), WebVTT (vtt) and Advanced SubStation Alpha (ass, ssa)."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from allyouneed.documents.cues import LINE_END, Cue, Cues
from allyouneed.documents.document import Document, decoded, spliced
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
_TAG = re.compile(r"</?\w[^<>\n]*>|\{\\[^{}\n]*\}")
_MARK = re.compile(rf"{_TAG.pattern}|[\r\n]\s*")
_SENTENCE_END = re.compile(r"[.!?…:。！？♪][\"'”’»)\]]*\s*\Z")
_IN_BRACKETS = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
_DASH = re.compile(r"[-–—‐]\s*")
_DIALOGUE = re.compile(r"^(Dialogue:[^\r\n]*)", re.MULTILINE)
_ASS_MARK = re.compile(r"\{[^{}]*\}|\\[Nnh]")
MOST_CUES = 6  # of one sentence
PAUSE = 3.0  # at most so many seconds between the cues of one sentence


@dataclass(frozen=True, slots=True)
class _Shown:
    """The text of a cue, or one line of it that stands alone: its place in the file, and the
    seconds from `start` to `stop` in which it is shown."""

    begin: int
    end: int
    text: str
    start: float
    stop: float
    line: int
    is_alone: bool = False

    @property
    def is_dialogue(self) -> bool:
        """Whether a line begins with a dash: then each line is spoken by somebody else."""
        lines = self.text.splitlines()
        return any(_DASH.match(_TAG.sub("", line)) for line in lines)


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
    for group in _groups(shown):
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
    return document


def _cues(text: str) -> list[_Shown]:
    found = []
    line, counted = 1, 0
    for match in _TIMES.finditer(text):
        end_match = _EMPTY_LINE.search(text, match.end() - 1)
        end = max(end_match.start() if end_match else len(text), match.end())
        body = text[match.end() : end].rstrip()
        line += text.count("\n", counted, match.end())
        counted = match.end()
        if "-->" not in body and has_words(_TAG.sub("", body)):
            start, stop = _seconds(match.groups()[:4]), _seconds(match.groups()[4:])
            for begin, end, is_alone in _texts(body):
                place = match.end() + begin, match.end() + end
                found.append(_Shown(*place, body[begin:end], start, stop, line, is_alone))
    return found


def _texts(body: str) -> list[tuple[int, int, bool]]:
    """The texts of a cue: (begin, end, whether it stands alone). A line in brackets, such as
    `[door closes]`, stands alone. The lines between two of them are one text."""
    found: list[tuple[int, int, bool]] = []
    begin = 0
    for line in body.splitlines(keepends=True):
        end = begin + len(line.rstrip())
        if _IN_BRACKETS.fullmatch(_TAG.sub("", line).strip()):
            found.append((begin, end, True))
        elif found and not found[-1][2]:
            found[-1] = found[-1][0], end, False
        else:
            found.append((begin, end, False))
        begin += len(line)
    return found


def _seconds(parts: Sequence[str | None]) -> float:
    hours, minutes, seconds, fraction = (part or "0" for part in parts)
    whole = int(hours[:9]) * 3600 + int(minutes[:9]) * 60 + int(seconds[:9])
    return whole + float(f"0.{fraction[:9]}")


def _groups(shown: Sequence[_Shown]) -> list[list[_Shown]]:
    """The cues in groups. A sentence that runs over several cues is in one group. A text that
    stands alone is a group, and may stand between the cues of another one."""
    alone = [[cue] for cue in shown if cue.is_alone]
    groups: list[list[_Shown]] = []
    for cue in (one for one in shown if not one.is_alone):
        last = groups[-1][-1] if groups else None
        goes_on = (
            last is not None
            and not _SENTENCE_END.search(_TAG.sub("", last.text))
            and not (cue.is_dialogue or last.is_dialogue)
            and 0 <= cue.start - last.stop + 0.5 <= PAUSE
            and len(groups[-1]) < MOST_CUES
        )
        if goes_on:
            groups[-1].append(cue)
        else:
            groups.append([cue])
    return sorted([*groups, *alone], key=lambda group: group[0].begin)


def _dialogue_lines(cue: _Shown) -> list[tuple[int, int, str]]:
    """The lines of a dialogue without their dashes: (begin, end, text)."""
    found: list[tuple[int, int, str]] = []
    begin = cue.begin
    for line in cue.text.splitlines(keepends=True):
        text = line.rstrip()
        lead = re.match(r"(?:<[^<>]*>|\{[^{}]*\})*[-–—‐]?\s*", text)
        skipped = lead.end() if lead else 0
        if has_words(_TAG.sub("", text[skipped:])):
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
            tokens.append(_line_end(text, match))
        elif raw.startswith("{") or name[:1].isdigit():
            tokens.append(Void((raw,)))
        else:
            tokens.append((Closing if raw.startswith("</") else Opening)(name, (raw,)))
        place = match.end()
    tokens.append(_words(text[place:], html_like))
    return nested(tokens)


def _line_end(text: str, match: re.Match[str]) -> Void | str:
    """The line end behind a sentence stays there. Behind other words it is a space."""
    before = _TAG.sub("", text[: match.start()])
    return Void((LINE_END,), " ") if _SENTENCE_END.search(before) else " "


def _words(text: str, html_like: bool) -> str:
    text = re.sub(r"\s+", " ", text)
    return html.unescape(text) if html_like else text


def _srt_escape(text: str) -> str:
    return text.replace("<", "‹").replace("{\\", "(\\")


def _vtt_escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("-->", "--&gt;")


def read_ass(data: bytes) -> Document:
    """The document of an ASS or SSA file: the text of its Dialogue lines. Drawings stay.

    Raises:
        DataError: the file has no Dialogue line.
    """
    encoded = decoded(data)
    places: list[tuple[int, int, Part]] = []
    fields = _number_of_fields(encoded.text)
    lines = list(_DIALOGUE.finditer(encoded.text))
    if not lines:
        raise DataError("no Dialogue line in these subtitles")
    for match in lines:
        columns = match[0].split(",", fields - 1)
        if len(columns) < fields:
            continue
        text = columns[-1]
        if re.search(r"\\p[1-9]", text) or not has_words(_ASS_MARK.sub("", text)):
            continue
        nodes = _ass_nodes(text)
        line = encoded.text.count("\n", 0, match.start()) + 1
        passage = Passage(nodes, (text,), _ass_escape, f"line {line}")
        places.append((match.end() - len(text), match.end(), passage))
    return encoded.document(spliced(encoded.text, places))


def _number_of_fields(text: str) -> int:
    """The number of columns of an event, by the Format line; 10 without such a line."""
    found = re.search(r"^\[Events\]\s*^Format:([^\r\n]*)", text, re.MULTILINE)
    return found[1].count(",") + 1 if found else 10


def _ass_nodes(text: str) -> tuple[Node, ...]:
    tokens: list[Token] = []
    place = 0
    for match in _ASS_MARK.finditer(text):
        tokens.append(text[place : match.start()])
        tokens.append(Void((match[0],), "" if match[0].startswith("{") else " "))
        place = match.end()
    return nested([*tokens, text[place:]])


def _ass_escape(text: str) -> str:
    return text.replace("{", "(").replace("}", ")").replace("\n", " ")
