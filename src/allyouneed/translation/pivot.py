"""Translation in two steps, through a third language, where no model knows the direct way."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from allyouneed.decoding.links import Alignment
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import UsageError
from allyouneed.text.language_names import name_of
from allyouneed.text.languages import Languages
from allyouneed.translation.confidence import (
    SentenceConfidence,
    confidence_of,
    doubts,
    without_doubts,
)
from allyouneed.translation.request import Options
from allyouneed.translation.result import Translation

if TYPE_CHECKING:
    from allyouneed.translation.stream import Stream
    from allyouneed.translation.translator import Translator

READ_AHEAD = 512  # lines taken together, so that like lengths meet in a batch

Step = Callable[..., Any]
"""One step: a `Translator`, or a partial call that fixes its languages. It takes texts and keywords
and returns a list of `Translation`."""


def translate_through(
    first: Step,
    second: Step,
    texts: Sequence[str],
    *,
    via: str,
    options: Options = BeamOptions(),  # noqa: B008 - it is frozen
    prefix: str = "",
    alignments: bool = False,
    protect: bool | Sequence[str] = True,
) -> list[Translation]:
    """The translations by `second` of the best translations by `first`, in order; each step takes
    all texts together. The steps may be two translators, such as `load("de-en")` and one from
    English into French.

    `via` is the code of the intermediate language. `prefix`, `n_best` and sampling apply to the
    second step only. Tokens and scores are those of the second step, and the confidence is the
    product of both steps' confidences (None where one has none). A source word is linked to a
    target word if both are linked to the same word of the intermediate text. A note names the
    intermediate language.
    """
    begun: list[Translation] = first(
        list(texts), options=options_of_the_first(options), alignments=alignments, protect=protect
    )
    between = [one.text for one in begun]
    ended: list[Translation] = second(
        between, options=options, prefix=prefix, alignments=alignments, protect=protect
    )
    return [joined_steps(a, b, via) for a, b in zip(begun, ended, strict=True)]


class Relay:
    """Translates from `source` into `target` by way of the language `via`: `first` translates into
    `via`, `second` out of `via`. Both may be one translator.

    A relay is called as a translator is, with lists of texts. `source` and `target` among the
    keywords of a call are known already. A note in each translation tells the way
    (`translate_through`).
    """

    def __init__(
        self, first: "Translator", second: "Translator", *, source: str, via: str, target: str
    ) -> None:
        self.first, self.second = first, second
        self.source, self.via, self.target = source, via, target
        self.speaks = Languages.of_pair(source, target)
        self.notes = (*first.notes, *second.notes)
        self.engine = second.engine
        self._begin: Step = partial(first, source=source, target=via)
        self._end: Step = partial(second, source=via, target=target)

    def __call__(self, texts: Sequence[str], **how: Any) -> list[Translation]:
        """The translations of texts, in order.

        Raises:
            UsageError: as for a translator, and if terms are given, because each step would need
                its own.
        """
        refuse_terms(how.get("terms"), self.source, self.via, self.target)
        known = ("source", "target", "terms")
        how = {key: value for key, value in how.items() if key not in known}
        return translate_through(self._begin, self._end, texts, via=self.via, **how)

    def translate_chunks(
        self, chunks: Iterable[Sequence[str]], **how: Any
    ) -> Iterator[list[Translation]]:
        """As `Translator.translate_chunks`."""
        refuse_terms(how.get("terms"), self.source, self.via, self.target)
        return (self(chunk, **how) for chunk in chunks)

    def translate_lines(self, lines: Iterable[str], **how: Any) -> Iterator[Translation]:
        """As `Translator.translate_lines`."""
        remaining = iter(lines)
        chunks = iter(lambda: list(islice(remaining, READ_AHEAD)), [])
        return (one for chunk in self.translate_chunks(chunks, **how) for one in chunk)

    def stream(self, text: str, *, protect: bool | Sequence[str] = True, **how: Any) -> "Stream":
        """As `Translator.stream`. The text grows in the second step; the first is done before."""
        [begun] = self._begin([text], protect=protect)
        how |= {"source": self.via, "target": self.target, "protect": protect}
        found = self.second.stream(begun.text, **how)
        found.notes = (way(self.via), *begun.notes, *found.notes)
        return found

    def glossary(self, terms: object, *_: object) -> NoReturn:
        """Always raises UsageError, because each step would need its own glossary."""
        refuse_terms(terms, self.source, self.via, self.target)
        raise UsageError("no terms are given; name a mapping or a file")

    def attention(self, *_: object, **__: object) -> NoReturn:
        """Always raises UsageError, because there is no attention between the source and the final
        translation."""
        name = name_of(self.via)
        raise UsageError(
            f"the text goes through {name}, and each step has attention of its own; translate "
            f"into {name} and from {name} in two calls"
        )


def refuse_terms(terms: object, source: str, via: str, target: str) -> None:
    """Raises UsageError if terms are given."""
    if terms is not None:
        raise UsageError(
            f"terms cannot be used from {source} into {target}, because the text goes through "
            f"{via}; translate from {source} into {via} and from {via} into {target}, each with "
            "terms of its own, or leave terms out"
        )


def way(via: str) -> str:
    """The note about a translation through a third language."""
    return f"translated through {name_of(via)}, because no direct way is known"


def options_of_the_first(options: Options) -> Options:
    """The options of the first step: one translation, no limits on its length and no sampling. All
    samples of the second step then translate the same text."""
    if not isinstance(options, BeamOptions):
        return BeamOptions()
    return replace(options, n_best=1, min_length=1, max_length=None)


def joined_steps(first: Translation, second: Translation, via: str) -> Translation:
    """Both steps as one translation of the first text."""
    sentences = _sentences(first, second)
    name = name_of(via)
    into = without_doubts(first.notes, first.sentence_confidences)
    from_ = without_doubts(second.notes, second.sentence_confidences)
    notes = [way(via)] if second.text.strip() else []
    notes += [f"into {name}: {note}" for note in into]
    notes += [f"from {name}: {note}" for note in from_]
    known = first.confidence if sentences else None
    return replace(
        second,
        source=first.source,
        alternatives=tuple(joined_steps(first, one, via) for one in second.alternatives),
        alignment=_through(first.alignment, second.alignment),
        notes=(*notes, *doubts(sentences)),
        confidence=confidence_of(sentences),
        sentence_confidences=sentences,
        word_confidences=() if known is None else _times(known, second.word_confidences),
    )


def _sentences(first: Translation, second: Translation) -> tuple[SentenceConfidence, ...]:
    """The product of both steps' confidences for each sentence; for the whole text if the steps cut
    it in different places; none where a step has no confidence."""
    if first.confidence is None or second.confidence is None:
        return ()
    begun, ended = first.sentence_confidences, second.sentence_confidences
    if len(begun) == len(ended) > 0:
        return tuple(
            SentenceConfidence(a.source, b.text, a.confidence * b.confidence, b.tokens, b.doubtful)
            for a, b in zip(begun, ended, strict=True)
        )
    whole = first.confidence * second.confidence
    return (SentenceConfidence(first.source, second.text, whole, len(second.tokens)),)


def _times(factor: float, words: Sequence[float]) -> tuple[float, ...]:
    return tuple(factor * word for word in words)


def _through(first: Alignment | None, second: Alignment | None) -> Alignment | None:
    """Links between words that are linked with the same word between."""
    if first is None or second is None:
        return None
    after: dict[int, list[int]] = {}
    for between, target in second:
        after.setdefault(between, []).append(target)
    return tuple(sorted({(i, k) for i, j in first for k in after.get(j, ())}))
