"""How fast the translations of subtitles are read."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from allyouneed.documents.shown_text import ShownText
from allyouneed.translation.markup.nodes import Part, joined

PACE = 17  # characters a second, the usual bound for adults


def speed_notes(
    shown: Sequence[ShownText],
    places: Sequence[tuple[int, int, Part]],
    bare: Callable[[str], str],
) -> Callable[[], Iterator[str]]:
    """A function that gives a note for each cue whose translation is read faster than people read,
    and faster than the source.

    `shown` are the texts of the cues in the order of the file. `places` are (begin, end, part) of
    what is translated in them, without translations yet. `bare(text)` is a text of the file
    without tags and line breaks.
    """
    begins = [one.begin for one in shown]
    cues: dict[int, tuple[float, list[Part]]] = {}
    for begin, _, part in places:
        one = shown[bisect_right(begins, begin) - 1]
        cues.setdefault(one.line, (one.stop - one.start, []))[1].append(part)

    def speed(seconds: float, parts: Sequence[Part]) -> float:
        return round(len(bare(joined(parts))) / seconds, 1)

    shown_for_a_time = {line: cue for line, cue in cues.items() if cue[0] > 0}
    before = {line: speed(*cue) for line, cue in shown_for_a_time.items()}

    def notes() -> Iterator[str]:
        for line, cue in shown_for_a_time.items():
            now = speed(*cue)
            if now > max(PACE, before[line]):
                yield f"line {line}: {now:g} characters a second; people read {PACE}"

    return notes
