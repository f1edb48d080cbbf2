"""What an engine is: a trained model, ready to search translations of any number of sentences."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.options import BeamOptions, SamplingOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from allyouneed.decoding.protocol import Decodable
    from allyouneed.model_folder.vocabulary_selection import VocabularySelection

Note = Callable[[int, str], None]
"""note(sentence, text): receives what a caller should know about the search of a sentence."""


def ignore(sentence: int, text: str) -> None:
    """A `Note` for callers that tell nobody."""


class Engine(Protocol):
    """One way to run a model.

    `name` is what `load(engine=...)` calls it; `description` says in words what runs. `selection`
    may be set: a search then gives each sentence only the ids that it needs
    (`VocabularySelection.rows`); None gives it all. Many threads may search at the same time.
    """

    selection: "VocabularySelection | None"

    @property
    def name(self) -> str:
        """As `load(engine=...)` takes it: "core", "cpu-float32", "cpu-int8", "cuda"."""

    @property
    def description(self) -> str:
        """What runs, in words, such as "int8, native (AVX-512 VNNI), 2 threads"."""

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
    ) -> list[list[Hypothesis]]:
        """Hypotheses of each sentence, best first or in the order drawn, in the order given.

        `sources` are ids that end in the model's `end`; `prefixes` what each translation has to
        begin with; `numbers`, with sampling, what each sentence's random numbers follow from
        beside the seed (None: its place). With `heads`, an engine that can tell gives each
        hypothesis its `attention_TS`; others leave it None. Lengths may differ and there may be
        any number of sources: the engine makes batches as they suit it. `note` receives what the
        caller should know about the search of a sentence, such as memory that ran short.

        Raises:
            UsageError: prefixes that do not fit.
            ShapeError: a source longer than the model's positions.
            AllYouNeedError: a model that gives no finite probabilities, or a sentence that does
                not fit into memory.
        """

    def stream(
        self,
        source: Sequence[int],
        options: BeamOptions | SamplingOptions,
        prefix: Sequence[int] = (),
        number: int = 0,
    ) -> Iterator[int]:
        """The ids of the one hypothesis that `search` finds for this source, each as soon as it is
        known; `options` are those that `decoding.options.check_streamable` accepts.

        Raises:
            UsageError, ShapeError, AllYouNeedError: as `search`; or it cannot be streamed.
        """

    def attention(
        self, source: Sequence[int], target: Sequence[int], heads: AlignmentHeads
    ) -> "NDArray[np.float32] | None":
        """How much each id of a given target looks at each id of the source, TS, the mean of the
        heads; None where the core model has to tell.

        Raises:
            ShapeError: ids that do not fit into the model's positions.
        """

    @property
    def decodable(self) -> "Decodable":
        """The same model for searches written in Python, step by step, over all ids; needs
        torch."""
