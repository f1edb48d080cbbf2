"""Finds direct speech in a line: the quoted sentences, and the sentences that report them.

    "I can't come," he said, "because I'm ill."

A line in plain marks is expected (see `normaliser.py`). Quoted words that are no speech, such as
a title or a word that a sentence is about, are not found.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from allyouneed.text.edges import edges_of
from allyouneed.text.sentences import split_sentences

MOST = 8  # speeches in a sentence
_DOUBLE = re.compile(r'"(?P<words>[^"]+)"')
# Apostrophes stand within words ("don't"), and quotes before or after words.
_SINGLE = re.compile(r"(?<!\w)'(?P<words>\w(?:[^'\"]|(?<=\w)'(?=\w))*)'(?!\w)")
_LETTER = re.compile(r"[^\W\d_]")
_ENDS = (",", ".", "!", "?")
_BEFORE = (",", ":", ".", "!", "?", '"', "'")  # what may stand before speech


@dataclass(frozen=True, slots=True)
class Speech:
    """Direct speech in a line. Its quotes are the first and the last of the characters `begin` to
    `end`; `words` stand between them."""

    begin: int
    end: int
    words: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a line, at the characters `begin` to `end`, with the speech that it reports.

    `reports` tells whether it has words outside of the speech, and `last_goes_on` whether it ends
    with speech that goes on with the speech before: '"I can't come," he said, "because I'm ill."'
    """

    begin: int
    end: int
    speeches: tuple[Speech, ...]
    reports: bool
    last_goes_on: bool


def spoken_sentences(line: str) -> list[Sentence]:
    """The sentences of a line, if one of them reports direct speech; else none.

    A sentence goes on after speech in it, however many sentences were spoken. A line with more than
    `MOST` speeches in a sentence is no dialogue.
    """
    if '"' not in line and "'" not in line:
        return []
    speeches = list(_speeches(line))
    if not speeches:
        return []
    found = []
    begin, waiting = 0, deque(speeches)
    for text in split_sentences(_masked(line, speeches)):
        end = begin + len(text)
        inside = []
        while waiting and waiting[0].end <= end:
            inside.append(waiting.popleft())
        if len(inside) > MOST:
            return []
        reports = _reports(line, begin, end, inside)
        found.append(Sentence(begin, end, tuple(inside), reports, _goes_on(line, end, inside)))
        begin = end
    return found if any(one.speeches and one.reports for one in found) else []


def _speeches(line: str) -> Iterator[Speech]:
    """The direct speech in a line, in order: it begins as a sentence does, and a mark ends it."""
    double = '"' in line
    edges = edges_of(line)
    if edges is None or (double and line.count('"') % 2):
        return
    goes_on = False
    for match in (_DOUBLE if double else _SINGLE).finditer(line, edges.begin):
        words = match["words"]
        before = line[max(edges.begin, match.start() - 2) : match.start()].rstrip()
        ended = words.endswith(_ENDS) or line.startswith((",", "."), match.end())
        begins = (not before or before.endswith(_BEFORE)) and (goes_on or not words[0].islower())
        if ended and begins and words.strip() == words and _LETTER.search(words):
            goes_on = True
            yield Speech(*match.span(), words)


def _masked(line: str, speeches: list[Speech]) -> str:
    """The line as one in which no sentence ends within speech, each character in its place."""
    masked: list[str] = []
    done = 0
    for one in speeches:
        body = len(one.words.rstrip("".join(_ENDS)))
        masked += (line[done : one.begin + 2], "x" * (body - 1))
        done = one.begin + 1 + body
    return "".join([*masked, line[done:]])


def _reports(line: str, begin: int, end: int, speeches: Sequence[Speech]) -> bool:
    """Whether line[begin:end] has words outside of the speech."""
    for one in speeches:
        if _LETTER.search(line, begin, one.begin):
            return True
        begin = one.end
    return _LETTER.search(line, begin, end) is not None


def _goes_on(line: str, end: int, speeches: Sequence[Speech]) -> bool:
    """Whether the last of several speeches ends its sentence, and goes on with the one before."""
    if len(speeches) < 2:
        return False
    *_, before, last = speeches
    between = line[before.end : last.begin].rstrip()
    return between.endswith((",", ":")) and not _LETTER.search(line, last.end, end)
