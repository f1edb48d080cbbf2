"""The `Engine` protocol: a trained model that searches translations of any number of sentences."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.decoding.terms import WantedTerms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from allyouneed.decoding.protocol import Decodable
    from allyouneed.model_folder.vocabulary_selection import VocabularySelection

Note = Callable[[int, str], None]
"""note(sentence, text) receives remarks for the caller about the search of a sentence."""


def ignore(sentence: int, text: str) -> None:
    """A `Note` that ignores the remarks."""


class Engine(Protocol):
    """One way to run a model.

    `selection` may be set: a search then offers each sentence only the ids that it needs
    (`VocabularySelection.rows`). None offers the whole vocabulary. Several threads may search at
    the same time.
    """

    selection: "VocabularySelection | None"

    @property
    def name(self) -> str:
        """The name for `load(engine=...)`: "core", "cpu-float32", "cpu-int8" or "cuda"."""

    @property
    def description(self) -> str:
        """A description in words, such as "int8, native (AVX-512 VNNI), 2 threads"."""

    @property
    def config(self) -> TransformerConfig:
        """The shape of the model."""

    def search(
        self,
        sources: Sequence[Sequence[int]],
        options: BeamOptions | SamplingOptions,
        prefixes: Sequence[Sequence[int]] | None = None,
        numbers: Sequence[int] | None = None,
        heads: AlignmentHeads | None = None,
        note: Note = ignore,
        terms: WantedTerms | None = None,
    ) -> list[list[Hypothesis]]:
        """The hypotheses of each sentence, in the order of `sources`. A beam search returns the
        best first, sampling returns them in the order drawn.

        Args:
            sources: ids that end in the model's `end`. There may be any number of sources, of
                different lengths; the engine makes its own batches.
            prefixes: the ids that each translation must begin with.
            numbers: with sampling, the number of each sentence, which decides its random numbers
                together with the seed. None: its index in `sources`.
            heads: attention heads. An engine that can report attention sets each hypothesis'
                `attention_TS`; others leave it None.
            note: receives remarks about a sentence, for instance that memory ran short.
            terms: the terms that each translation has to use (`term_search`); for beam search.

        Raises:
            UsageError: the prefixes do not fit, or terms come with sampling.
            ShapeError: a source is longer than the model's positions.
            AllYouNeedError: the model's probabilities are not finite, or a sentence does not fit
                into memory.
        """

    def stream(
        self,
        source: Sequence[int],
        options: BeamOptions | SamplingOptions,
        prefix: Sequence[int] = (),
        number: int = 0,
    ) -> Iterator[int]:
        """The ids of the one hypothesis that `search` finds for this source, each as soon as it is
        final. `options` must be accepted by `decoding.options.check_streamable`.

        Raises:
            UsageError, ShapeError, AllYouNeedError: as `search`.
            UsageError: these options cannot be streamed.
        """

    def attention(
        self, source: Sequence[int], target: Sequence[int], heads: AlignmentHeads
    ) -> "NDArray[np.float32] | None":
        """The cross-attention TS of a given target: the weight that each target id gives to each
        source id, as the mean of the heads. None if this engine cannot compute it; the core model
        can.

        Raises:
            ShapeError: there are more ids than the model has positions.
        """

    @property
    def decodable(self) -> "Decodable":
        """The same model as a `Decodable`, for searches written in Python. Its steps give the
        logits of all ids. Needs torch."""
