"""Sentences over several cues of subtitles: translated whole, then divided among the cues."""

from collections.abc import Sequence

from allyouneed.documents.wrapping import balanced
from allyouneed.text.atoms import atoms
from allyouneed.translation.markup.carrying import Carried
from allyouneed.translation.markup.links import origins
from allyouneed.translation.markup.nodes import Around, Node, Nodes, plain
from allyouneed.translation.markup.passage import Escape, Passage, escaped
from allyouneed.translation.markup.placement import placed

WIDTH = 42  # characters of a line, the usual limit
EVEN = 8.0  # weight of equal shares of text, in source and translation, beside the words' votes
LINE_END = "\n"  # kept behind a sentence that ends within a cue
NOTHING = "…"  # shown in a cue for which the translation has no word left


class Cues(Passage):
    """The text of neighbouring cues as one passage. Each outermost `Around` node is a cue."""

    __slots__ = ("newline", "shapes")

    def __init__(
        self,
        cues: Sequence[Nodes],
        originals: Sequence[str],
        escape: Escape,
        where: str,
        line_end: str | None = None,
    ) -> None:
        """`line_end` ends a line within a cue; None stands for that of the file."""
        nodes: list[Node] = []
        for cue in cues:
            nodes += [Around((), tuple(cue), ()), " "]
        super().__init__(tuple(nodes[:-1]), tuple(originals), escape, where)
        is_windows = any("\r\n" in original for original in originals)
        self.newline = line_end or ("\r\n" if is_windows else "\n")
        lines = [one.replace(self.newline, "\n").splitlines() or [""] for one in originals]
        widest = max(len(plain(cue)) // len(own) for cue, own in zip(cues, lines, strict=True))
        self.shapes = [(len(own), max(widest, WIDTH)) for own in lines]

    def take(self, carried: Carried) -> None:
        """Sets the translation and divides it among the cues."""
        cues = [node for node in carried.nodes if isinstance(node, Around)]
        places = parted(carried)
        self.target = placed(carried.nodes, carried.transfer, dict(zip(cues, places, strict=True)))
        self.pairs, self.notes = carried.pairs, carried.notes

    def cue(self, number: int) -> str:
        """The text of the cue with this number, counted from 0, as the file writes it."""
        if self.target is None:
            return str(self.original[number])
        cues = [node for node in self.target if isinstance(node, Around)]
        text = escaped(cues[number].inside, self.escape).strip()
        lines, width = self.shapes[number]
        sentences = [one for one in text.split(LINE_END) if one.strip()]
        room = max(lines, 2) - len(sentences) + 1  # lines for one sentence
        written = LINE_END.join(balanced(one, room, width) for one in sentences)
        return written.replace(LINE_END, self.newline) or NOTHING


class Cue:
    """One cue of `Cues`, which is written at its place in the file."""

    def __init__(self, cues: Cues, number: int) -> None:
        self.cues, self.number = cues, number

    def written(self) -> str:
        """The text of the cue."""
        return self.cues.cue(self.number)


def parted(carried: Carried) -> list[tuple[int, int]]:
    """For each cue, in order, the characters (begin, end) of its share of the translation.

    The translation is divided at spaces. The chosen division has the best sum of two measures: how
    many words stand in the cue that they come from, and how close the cues' shares of the text are
    to those of the source. Every cue has a word if there are enough words.
    """
    text = carried.transfer.text
    sources = [plain([node]) for node in carried.nodes if isinstance(node, Around)]
    words = _words(text)
    whole = sum(map(len, sources)) or 1
    source_atoms = atoms(plain(carried.nodes))
    target_atoms = atoms(text)
    origin = origins(source_atoms, target_atoms, carried.transfer.links)
    ends, end = [], 0
    for source in sources:
        end += len(source) + 1
        ends.append(end)
    cue_of_atom = [sum(atom.begin >= end for end in ends) for atom in source_atoms]
    votes: list[list[int]] = []
    for begin, end in words:
        found = [
            cue_of_atom[s]
            for atom, s in zip(target_atoms, origin, strict=True)
            if begin <= atom.begin < end and s >= 0 and atom.is_word
        ]
        votes.append(
            [found.count(cue) - (len(found) - found.count(cue)) for cue in range(len(ends))]
        )
    shares = [len(source) / whole for source in sources]
    cuts = _best_cuts(words, votes, shares, max(len(text), 1))
    places = []
    for first, last in cuts:
        if first == last:
            place = words[first - 1][1] if first else 0
            places.append((place, place))
        else:
            places.append((words[first][0], words[last - 1][1]))
    return places


def _words(text: str) -> list[tuple[int, int]]:
    spans, begin = [], 0
    for word in text.split():
        begin = text.index(word, begin)
        spans.append((begin, begin + len(word)))
        begin += len(word)
    return spans


def _best_cuts(
    words: Sequence[tuple[int, int]],
    votes: Sequence[Sequence[int]],
    shares: Sequence[float],
    length: int,
) -> list[tuple[int, int]]:
    """For each cue the numbers (begin, end) of its words."""
    count, cues = len(words), len(shares)
    least = 1 if count >= cues else 0
    best: list[tuple[float, list[tuple[int, int]]] | None] = [(0.0, []), *[None] * count]
    for cue in range(cues):
        sums = [0]
        for vote in votes:
            sums.append(sums[-1] + vote[cue])
        after: list[tuple[float, list[tuple[int, int]]] | None] = [None] * (count + 1)
        for begin, before in enumerate(best):
            if before is None:
                continue
            for end in range(begin + least, count + 1):
                size = words[end - 1][1] - words[begin][0] if end > begin else 0
                uneven = (size / length - shares[cue]) ** 2 * EVEN * count
                score = before[0] + sums[end] - sums[begin] - uneven
                known = after[end]
                if known is None or score > known[0]:
                    after[end] = (score, [*before[1], (begin, end)])
        best = after
    last = best[count]
    assert last is not None
    return last[1]
