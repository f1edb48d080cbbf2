"""Turns conversations into pairs to learn from: the turns so far, and the reply to them."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from allyouneed.data.corpus import Pair
from allyouneed.text.conversation import History, Turn, one_line


@dataclass(frozen=True, slots=True)
class ConversationLine:
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
        """The turns that this speaker replies to, as one text; empty if there are none."""
        return self._history.source([Turn(text, said == speaker) for said, text in self._turns])


def replies_in_pairs(
    pairs: Iterable[Pair],
    history: History,
    one_conversation: bool,
    tidy: Callable[[str], str] = one_line,
) -> Iterator[Pair]:
    """(history, reply) for each (turn, reply).

    A pair whose turn is the reply of the preceding pair continues that conversation with exchanged
    speakers. With `one_conversation`, every other pair continues it too, with the same speakers.
    Otherwise a pair begins a new conversation. `tidy` is applied to every text.
    """
    talk, last = _Talk(history), ("", "")  # the last reply and its speaker
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
    lines: Iterable[ConversationLine], history: History, tidy: Callable[[str], str] = one_line
) -> Iterator[Pair]:
    """(history, reply) for every turn except the first of a conversation.

    Consecutive lines of one speaker are one turn. The lines of a dialogue must follow one another.
    The line of a pair is the line at which its reply begins.
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
