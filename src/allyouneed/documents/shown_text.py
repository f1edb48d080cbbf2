"""Texts of subtitles with the times at which they are shown, and the sentences over several."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from allyouneed.documents.cues import LINE_END
from allyouneed.translation.markup.nodes import Void

TAG = re.compile(r"</?\w[^<>\n]*>|\{\\[^{}\n]*\}")
_SENTENCE_END = re.compile(r"[.!?…:。！？♪][\"'”’»)\]]*\s*\Z")
_DASH = re.compile(r"[-–—‐]\s*")
MOST_CUES = 6  # of one sentence
PAUSE = 3.0  # at most so many seconds between the cues of one sentence


@dataclass(frozen=True, slots=True)
class ShownText:
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
        lines = self.text.replace("\\N", "\n").splitlines()  # \N ends a line of ASS
        return any(_DASH.match(TAG.sub("", line)) for line in lines)


def seconds(parts: Sequence[str | None]) -> float:
    """The seconds of a time in hours, minutes, seconds and a fraction's digits; None is 0."""
    hours, minutes, seconds, fraction = (part or "0" for part in parts)
    whole = int(hours[:9]) * 3600 + int(minutes[:9]) * 60 + int(seconds[:9])
    return whole + float(f"0.{fraction[:9]}")


def groups_of(shown: Sequence[ShownText]) -> list[list[ShownText]]:
    """The cues in groups. A sentence that runs over several cues is in one group. A text that
    stands alone is a group, and may stand between the cues of another one."""
    alone = [[cue] for cue in shown if cue.is_alone]
    groups: list[list[ShownText]] = []
    for cue in (one for one in shown if not one.is_alone):
        last = groups[-1][-1] if groups else None
        goes_on = (
            last is not None
            and not _SENTENCE_END.search(TAG.sub("", last.text))
            and not (cue.is_dialogue or last.is_dialogue)
            and 0 <= cue.start - last.stop + 0.5 <= PAUSE
            and len(groups[-1]) < MOST_CUES
        )
        if goes_on:
            groups[-1].append(cue)
        else:
            groups.append([cue])
    return sorted([*groups, *alone], key=lambda group: group[0].begin)


def line_end(text: str, match: re.Match[str]) -> Void | str:
    """The line end behind a sentence stays there. Behind other words it is a space."""
    before = TAG.sub("", text[: match.start()])
    return Void((LINE_END,), " ") if _SENTENCE_END.search(before) else " "
