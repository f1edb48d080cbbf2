"""Conversations with a chat model, one that was trained with `task = "reply"`.

chat = Chat(allyouneed.load("runs/chat/model"))
print(chat.reply("Hello, how are you?"))
"""

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from allyouneed.checks import expect
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.errors import UsageError, needs_torch
from allyouneed.text.clean import clean
from allyouneed.text.conversation import History, Turn
from allyouneed.translation.assembly import CUT_OFF
from allyouneed.translation.request import Options
from allyouneed.translation.translator import Translator

if TYPE_CHECKING:
    from allyouneed.insight.reasons import Reason

LONGEST = 80  # tokens of a reply
# Sampling from the most probable tokens makes replies differ. No sequence of three tokens may occur
# twice in a reply.
DRAWN = SamplingOptions(temperature=0.8, top_p=0.9, no_repeat_ngram=3, max_length=LONGEST)
SEARCHED = BeamOptions(no_repeat_ngram=3, max_length=LONGEST)


class Chat:
    """One conversation. `turns` are its turns so far; those of the model have `own` set.

    `options` are those of the search for replies and may be changed between replies. `notes` tell
    the user what was unusual about the last reply.
    """

    def __init__(
        self,
        translator: Translator,
        options: Options | None = None,
        *,
        history: History | None = None,
        in_a_row: int = 2,
    ) -> None:
        """`options` are for one sample or a beam; None means `DRAWN`. `history` says how turns are
        written for a model whose folder does not say it. The model gives the same reply at most
        `in_a_row` times in succession; 0 means no limit.

        Raises:
            UsageError: `translator` is no Translator, or its model was not trained to reply and
                `history` is None.
        """
        expect(translator, Translator, "translator", 'the result of allyouneed.load("FOLDER")')
        known = history or translator.history
        if known is None:
            raise UsageError(
                'this model translates; it was not trained to reply. Train one with task = "reply" '
                "(allyouneed train chat), or in Python give history=History(...)"
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
        """The model's reply to `text`.

        Raises:
            UsageError, AllYouNeedError: as in `stream`.
        """
        return "".join(self.stream(text))

    def stream(self, text: str) -> Generator[str, None, None]:
        """Yields the reply to `text` in parts, as soon as they are known; a beam's in one part.

        If the iteration is left before its end, the parts yielded so far become the model's turn.
        A sampled reply depends on the seed, the number of the reply in this `Chat`, and the
        conversation only.

        Raises:
            UsageError: `text` is empty or longer than the model's positions, or the options ask for
                several samples.
            AllYouNeedError: the model's probabilities are not finite.
        """
        cleaned, notes = clean(text)
        line = self.history.unmarked(cleaned)
        if any(mark and mark in cleaned for mark in self.history.marks):
            notes.append("marks of speakers were removed from the text")
        if not line:
            raise UsageError("the text is empty; write something to reply to")
        if isinstance(self.options, SamplingOptions) and self.options.samples != 1:
            raise UsageError(f"samples={self.options.samples} must be 1 in a conversation")
        turns = [*self.turns, Turn(line, own=False)]
        source = self._source(turns, notes)
        return self._answered(turns, source, notes)

    def reset(self) -> None:
        """Begins a new conversation: removes all turns."""
        self.turns.clear()
        self._last = None

    def why(self, alternatives: int = 3, words: int = 3) -> "tuple[Reason, ...]":
        """For each token of the last reply: its probability, the most probable `alternatives`, and
        the `words` of the conversation with the most attention. Computed by the core model.

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
        """The ids of the newest turns: as many as `history` allows and the trained length holds."""
        spoken = [turn for turn in turns if turn.text.strip()]  # training has no empty turns either
        window = spoken[-self.history.turns :]
        plain = self.translator.segmenter.normaliser.plain
        positions, known = self.translator.config.max_positions, self.translator.known_length
        for first in range(len(window)):
            source = plain(self.history.source(window[first:])).text
            [ids] = self.translator.tokenizer.encode_ids([source])
            if len(ids) <= known:
                break
        if len(ids) > positions:
            raise UsageError(
                f"the text has {len(ids)} tokens, more than the model's {positions} positions; "
                "write a shorter text"
            )
        if first:
            notes.append(
                f"the last {len(window)} turns have more than the {known} tokens that the model "
                f"knows: it reads {len(window) - first} of them"
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
        """Yields the reply's ids as soon as they are known."""
        with needs_torch("a conversation"):
            from allyouneed.engine.torch_engine import without_repeats

        engine = without_repeats(self.translator.active_engine, self._blocked_replies())
        if isinstance(self.options, BeamOptions) and self.options.beam > 1:
            [[best, *_]] = engine.search([source], self.options)
            yield from best.ids
        else:
            yield from engine.stream(source, self.options, number=self._replies)

    def _blocked_replies(self) -> list[list[int]]:
        """The reply that the model has given `in_a_row` times in succession, if any, as ids."""
        own = [turn.text for turn in self.turns if turn.own][-self.in_a_row :]
        if not self.in_a_row or len(own) < self.in_a_row or len(set(own)) > 1:
            return []
        return [ids[:-1] for ids in self.translator.tokenizer.target.encode_ids(own[:1])]


def replies(
    translator: Translator,
    sources: Sequence[str],
    options: Options,
) -> list[str]:
    """One reply to each conversation; `sources` are written by `History.source`.

    A `Chat` would give the same replies, except that sampling uses other random numbers.

    Raises:
        ShapeError: a source is longer than the model's positions.
        AllYouNeedError: the model's probabilities are not finite.
    """
    plain = translator.segmenter.normaliser.plain
    ids = translator.tokenizer.encode_ids([plain(source).text for source in sources])
    found = translator.active_engine.search(ids, options, numbers=range(len(ids)))
    return [translator.tokenizer.target.decode(best.ids).strip() for best, *_ in found]
