"""A conversation as one source text: the newest turns, each after a mark of its speaker.

Training and `Chat` both make their source texts here and therefore in the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from allyouneed.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation. `own` is True if the speaker is the one who replies next."""

    text: str
    own: bool


@dataclass(frozen=True, kw_only=True)
class History:
    """How many turns a source text contains, and how it marks their speakers.

    `turns` counts the newest turn, the one to reply to. `marks` are the mark before turns of the
    other speaker and the mark before the replier's own turns. Two empty marks leave turns unmarked.

    Raises:
        ConfigError: `turns` is below 1, or the two marks are equal or contain white space.
    """

    turns: int = 3
    marks: tuple[str, str] = ("▸", "◂")

    def __post_init__(self) -> None:
        if self.turns < 1:
            raise ConfigError(f"history={self.turns} must be at least 1, the turn to reply to")
        if len(self.marks) != 2 or any(mark != one_line(mark) for mark in self.marks):
            raise ConfigError(
                f"marks={list(self.marks)} must be two one-line texts without spaces around them"
            )
        if len(set(map(bool, self.marks))) == 2 or (self.marks[0] == self.marks[1] != ""):
            raise ConfigError(
                f"marks={list(self.marks)} do not distinguish two speakers; give two different "
                'marks, or ["", ""] for no marks'
            )

    def source(self, turns: Sequence[Turn]) -> str:
        """The newest turns on one line. The last one is the turn to reply to.

        Marks that occur inside a turn are removed, since they would look like a change of speaker.
        """
        return " ".join(
            f"{self.marks[turn.own]} {self.unmarked(turn.text)}".strip()
            for turn in turns[-self.turns :]
        )

    def unmarked(self, text: str) -> str:
        """A turn on one line, without marks."""
        for mark in filter(None, self.marks):
            text = text.replace(mark, " ")
        return one_line(text)


def one_line(text: str) -> str:
    """The words of the text with one space between them."""
    return " ".join(text.split())
