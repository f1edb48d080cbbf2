"""A conversation as a text to reply to: the turns that count, each behind the mark of who said it.

Training and chatting both make their sources here, so that they are the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from allyouneed.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation; `own` is true for turns of the speaker who replies next."""

    text: str
    own: bool


@dataclass(frozen=True, kw_only=True)
class History:
    """How many turns a reply looks back at, the newest among them, and how they are told apart.

    `marks` stand before what the other one said and before what the replier said; two empty ones
    leave the turns unmarked.

    Raises:
        ConfigError: a window without a turn, or marks that do not tell two speakers apart.
    """

    turns: int = 3
    marks: tuple[str, str] = ("▸", "◂")

    def __post_init__(self) -> None:
        if self.turns < 1:
            raise ConfigError(f"history={self.turns} must be at least 1, the turn to reply to")
        if len(self.marks) != 2 or any(mark != one_line(mark) for mark in self.marks):
            raise ConfigError(
                f"marks={list(self.marks)} must be two, without white space around them or lines"
            )
        if len(set(map(bool, self.marks))) == 2 or (self.marks[0] == self.marks[1] != ""):
            raise ConfigError(
                f"marks={list(self.marks)} do not tell two speakers apart; take two different "
                'ones, or ["", ""] for none'
            )

    def source(self, turns: Sequence[Turn]) -> str:
        """The newest turns on one line, the last of them the one to reply to.

        Marks that somebody wrote into a turn are left out of it: they would be a change of speaker.
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
    """The words with one space between them."""
    return " ".join(text.split())
