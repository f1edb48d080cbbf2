"""Conversations as pairs to learn from: the history up to a turn, and the reply to it."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from allyouneed.data.corpus import Pair
from allyouneed.text.conversation import History, Turn, one_line


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """One line of a file of conversations."""

    dialogue: str
    speaker: str
    text: str
    line: int


class _Talk:
    """The newest turns of a conversation, each with its speaker."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._turns: deque[tuple[str, str]] = deque(maxlen=history.turns)

    def say(self, speaker: str, text: str) -> None:
        if text:
            self._turns.append((speaker, text))

    def source_for(self, speaker: str) -> str:
        """What this speaker replies to; empty where nobody has said anything."""
        return self._history.source([Turn(text, said == speaker) for said, text in self._turns])


def replies_in_pairs(
    pairs: Iterable[Pair],
    history: History,
    one_conversation: bool,
    tidy: Callable[[str], str] = one_line,
) -> Iterator[Pair]:
    """(history, reply) for each (turn, reply).

    A pair whose turn is the reply of the pair before goes on with that conversation, the speakers'
    parts changed; so does, where the pairs are `one_conversation`, every pair, the speakers' parts
    as they were. Any other pair begins anew. `tidy` is done to every text.
    """
    talk, last = _Talk(history), ("", "")  # the last reply, and who gave it
    for pair in pairs:
        turn, reply = tidy(pair.source), tidy(pair.target)
        speaker, said = last
        if one_conversation or turn != said or not turn:
            if not one_conversation:
                talk = _Talk(history)
            speaker = "asks"
            talk.say(speaker, turn)
        replier = "answers" if speaker == "asks" else "asks"
        yield Pair(talk.source_for(replier) if turn else "", reply, pair.line)
        talk.say(replier, reply)
        last = replier, reply


def replies_in_turns(
    lines: Iterable[SpokenLine], history: History, tidy: Callable[[str], str] = one_line
) -> Iterator[Pair]:
    """(history, reply) for each turn but the first of every conversation.

    What somebody says in several lines, nobody else between them, is one turn. Lines of one
    dialogue stand together; a pair has the line at which its reply begins.
    """
    for _, dialogue in groupby(lines, key=attrgetter("dialogue")):
        talk = _Talk(history)
        for speaker, spoken in groupby(dialogue, key=attrgetter("speaker")):
            turn = list(spoken)
            text = one_line(" ".join(tidy(line.text) for line in turn))
            source = talk.source_for(speaker)
            if source and text:
                yield Pair(source, text, turn[0].line)
            talk.say(speaker, text)
