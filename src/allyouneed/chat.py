"""A conversation with a model that has learnt to reply (the recipes' `task = "reply"`).

chat = Chat(allyouneed.load("runs/chat/model"))
print(chat.reply("Hello, how are you?"))
"""

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.errors import UsageError, needs_torch
from allyouneed.text.clean import clean
from allyouneed.text.conversation import History, Turn
from allyouneed.translation.assembly import CUT_OFF
from allyouneed.translation.request import Options
from allyouneed.translation.translator import Translator

if TYPE_CHECKING:
    from allyouneed.insight.reasons import Reason

LONGEST = 80  # tokens of a reply; it need not be as long as what it answers
# Sampling from the probable part is what keeps replies from being all alike; no three tokens come
# twice in one, as a person would not say them.
DRAWN = SamplingOptions(temperature=0.8, top_p=0.9, no_repeat_ngram=3, max_length=LONGEST)
SEARCHED = BeamOptions(no_repeat_ngram=3, max_length=LONGEST)


class Chat:
    """One conversation: `turns` are what was said so far, `own` where the model said it.

    `options` say how replies are found, and may be changed between them. `notes` are what its user
    should know about the last reply.
    """

    def __init__(
        self,
        translator: Translator,
        options: Options | None = None,
        *,
        history: History | None = None,
        in_a_row: int = 2,
    ) -> None:
        """`options` are one sample (`DRAWN` where they are None) or a beam. `history` is needed for
        a model that does not know its own. The model says the same at most `in_a_row` times one
        after the other; 0: as often as it likes.

        Raises:
            UsageError: a model that was not trained to reply.
        """
        known = history or translator.history
        if known is None:
            raise UsageError(
                'the model translates; it was not trained to reply. Train one by `task = "reply"` '
                "(allyouneed train chat); in Python, history=History(...) says how it sees a turn"
            )
        self.translator = translator
        self.history = known
        self.options = options or DRAWN
        self.in_a_row = in_a_row
        self.turns: list[Turn] = []
        self.notes: tuple[str, ...] = ()
        self._replies = 0
        self._last: tuple[list[int], list[int]] | None = None

    def reply(self, text: str) -> str:
        """The model's answer to what is said now, whole.

        Raises:
            UsageError, AllYouNeedError: as `stream`.
        """
        return "".join(self.stream(text))

    def stream(self, text: str) -> Generator[str, None, None]:
        """The answer as it grows, in whole characters; a beam's comes in one piece.

        If the iteration is left before its end, what was given out counts as said. A sample follows
        from the seed, from the number of the reply in this `Chat`, and from the conversation.

        Raises:
            UsageError: nothing said, more than the model has positions for, or several samples.
            AllYouNeedError: a model that gives no finite probabilities.
        """
        cleaned, notes = clean(text)
        said = self.history.unmarked(cleaned)
        if any(mark and mark in cleaned for mark in self.history.marks):
            notes.append("marks of speakers were left out of what was said")
        if not said:
            raise UsageError("nothing was said; write something to be answered")
        if isinstance(self.options, SamplingOptions) and self.options.samples != 1:
            raise UsageError(f"samples={self.options.samples}: a reply is one; draw one")
        turns = [*self.turns, Turn(said, own=False)]
        source = self._source(turns, notes)
        return self._answered(turns, source, notes)

    def reset(self) -> None:
        """Forgets all that was said."""
        self.turns.clear()
        self._last = None

    def why(self, alternatives: int = 3, words: int = 3) -> "tuple[Reason, ...]":
        """Of each token of the last reply: what could have come instead, how probable all of it is,
        and which words of the conversation were looked at most. The core model tells.

        Raises:
            UsageError: there is no reply yet.
        """
        with needs_torch("why a reply came about"):
            from allyouneed.insight.reasons import reasons

        if self._last is None:
            raise UsageError("there is no reply yet; say something first")
        source, target = self._last
        marks = self.history.marks
        return reasons(self.translator, source, target, alternatives, words, leave_out=marks)

    def _source(self, turns: Sequence[Turn], notes: list[str]) -> list[int]:
        """The ids of as many turns as the window has and the model knows."""
        said = [turn for turn in turns if turn.text.strip()]  # training has no empty turns either
        window = said[-self.history.turns :]
        plain = self.translator.segmenter.normaliser.plain
        positions, known = self.translator.config.max_positions, self.translator.known_length
        for first in range(len(window)):
            source = plain(self.history.source(window[first:])).text
            [ids] = self.translator.tokenizer.encode_ids([source])
            if len(ids) <= known:
                break
        if len(ids) > positions:
            raise UsageError(
                f"what was said has {len(ids)} tokens, more than the model's {positions} "
                "positions; say less at a time"
            )
        if first:
            notes.append(
                f"the last {len(window)} turns have more than the {known} tokens that the model "
                f"knows: it sees {len(window) - first} of them"
            )
        if len(ids) > known:
            notes.append(f"{len(ids)} tokens, more than the {known} that the model knows well")
        return ids

    def _answered(
        self, turns: list[Turn], source: list[int], notes: list[str]
    ) -> Generator[str, None, None]:
        self.turns, self._last, self.notes = turns, None, tuple(notes)
        given, ids = "", []
        growing = self.translator.tokenizer.target.growing()
        try:
            for id in self._ids(source):
                ids.append(id)
                piece = growing.add(id)
                given += piece
                yield piece
            piece = growing.end()
            given += piece
            yield piece
            if ids[-1] != self.translator.config.end:
                self.notes = (*self.notes, CUT_OFF)
        finally:
            self._replies += 1
            if ids:
                self.turns.append(Turn(given, own=True))
                self._last = source, ids

    def _ids(self, source: list[int]) -> Iterator[int]:
        """The reply's ids as they are found."""
        with needs_torch("a conversation"):
            from allyouneed.engine.torch_engine import without_repeats

        engine = without_repeats(self.translator.active_engine, self._worn_out())
        if isinstance(self.options, BeamOptions) and self.options.beam > 1:
            [[best, *_]] = engine.search([source], self.options)
            yield from best.ids
        else:
            yield from engine.stream(source, self.options, number=self._replies)

    def _worn_out(self) -> list[list[int]]:
        """What the model has said so often in a row that it must not say it again."""
        own = [turn.text for turn in self.turns if turn.own][-self.in_a_row :]
        if not self.in_a_row or len(own) < self.in_a_row or len(set(own)) > 1:
            return []
        return [ids[:-1] for ids in self.translator.tokenizer.target.encode_ids(own[:1])]


def replies(
    translator: Translator,
    sources: Sequence[str],
    options: Options,
) -> list[str]:
    """Replies to many conversations at once, each as `History.source` writes it, apart from each
    other: what `Chat` would say, but for sampling's random numbers.

    Raises:
        ShapeError: a source longer than the model's positions.
        AllYouNeedError: a model that gives no finite probabilities.
    """
    plain = translator.segmenter.normaliser.plain
    ids = translator.tokenizer.encode_ids([plain(source).text for source in sources])
    found = translator.active_engine.search(ids, options, numbers=range(len(ids)))
    return [translator.tokenizer.target.decode(best.ids).strip() for best, *_ in found]
