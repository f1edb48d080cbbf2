"""The changes that a state of the view makes: to the model while it runs, and to its text."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from allyouneed.core.transformer import Transformer
from allyouneed.errors import UsageError
from allyouneed.insight.edits import Blocked, Edit, Forced
from allyouneed.insight.intervene import intervene
from allyouneed.insight.tokens import Span
from allyouneed.text.normaliser import AS_TYPED, Normaliser
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.widget.questions import Edit as AskedEdit
from allyouneed.widget.questions import ViewState


@contextmanager
def disturbed(model: Transformer, state: ViewState) -> Iterator[None]:
    """Changes the model inside the `with` block as the state says: first the edits of weights,
    then the heads that are switched off.

    Raises:
        UsageError: a head or module that the model does not have, or an impossible cell.
    """
    edits: dict[str, list[Edit]] = {}
    for edit in state.edits:
        edits.setdefault(edit.head, []).append(_edit(edit))
    with intervene(model, edit=edits, switch_off=list(state.switched_off)):
        yield


def _edit(asked: AskedEdit) -> Edit:
    if asked.kind == "block":
        return Blocked(asked.cells or ())
    if asked.kind == "force":
        return Forced(asked.cells or ())
    return asked.kind


@dataclass(frozen=True, slots=True)
class Source:
    """The text that is translated: the state's text with some of its tokens replaced.

    `tokens` are the spans of the tokens in the state's text. `seams` describe the pieces that this
    text consists of: (begin in this text, begin in the state's text, length in the state's text).
    A piece of length 0 is a replacement.
    """

    text: str
    tokens: Sequence[Span]
    seams: Sequence[tuple[int, int, int]]

    def indices(self, spans: Iterable[Span]) -> list[int]:
        """For each span of this text, the number of the token of the state's text that stands at
        this place, or that was replaced there."""
        found: list[int] = []
        for begin, end in spans:
            seam = bisect_right(self.seams, begin, key=lambda seam: seam[0]) - 1
            here, there, length = self.seams[seam]
            first = there + min(begin - here, length)
            moved = (first, first + end - begin)
            same = (n for n, span in enumerate(self.tokens) if span == moved and n not in found)
            found.append(next(same, self._around(first)))
        return found

    def _around(self, place: int) -> int:
        """The number of the token that the character at this place of the state's text is in."""
        ends = [end for _, end in self.tokens]
        return min(bisect_right(ends, place), len(ends) - 1)


def source_of(
    state: ViewState, tokenizer: AnyTokenizer, normaliser: Normaliser = AS_TYPED
) -> Source:
    """The state's text with the tokens in `state.replaced` replaced.

    A token that begins with a space keeps the space, unless the new text begins with white space.
    An empty new text removes the token and its space.

    Raises:
        UsageError: a token number that the text does not have.
    """
    blank = len(state.text) - len(state.text.lstrip())
    plain = normaliser.plain(state.text.strip())
    inside = (plain.typed(begin, end) for begin, end in tokenizer.encode(plain.text).spans)
    spans = [(begin + blank, end + blank) for begin, end in inside]
    words = len(spans) - 1  # the last token is the end token, which has no text
    parts: list[str] = []
    seams: list[tuple[int, int, int]] = []
    begin = length = 0
    for number, new in sorted(state.replaced.items()):
        if number >= words:
            raise UsageError(
                f"state.replaced.{number}: the text has the tokens 0 … {words - 1}, and the end "
                "cannot be replaced; choose one of these"
            )
        first, last = spans[number]
        first = max(first, begin)  # two tokens may share a character
        old = state.text[first:last]
        space = old[: len(old) - len(old.lstrip())] if new and not new[0].isspace() else ""
        for part, there, size in (
            (state.text[begin:first], begin, first - begin),
            (space + new, first, 0),
        ):
            seams.append((length, there, size))
            parts.append(part)
            length += len(part)
        begin = last
    seams.append((length, begin, len(state.text) - begin))
    parts.append(state.text[begin:])
    return Source("".join(parts), spans, seams)
