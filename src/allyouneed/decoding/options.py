"""The options of searches."""

import math
from dataclasses import dataclass, replace
from typing import Literal, Self, get_args

from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.length_penalty import LengthPenalty, Wu
from allyouneed.errors import UsageError

Stop = Literal["common", "exact", "first"]

WIDEST_BEAM = 1000  # the widest that Koehn and Knowles 2017 tried; quality falls long before
MOST_SAMPLES = 10_000  # per sentence


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Options of every search: limits of length and of repetition.

    `min_length` is the smallest number of tokens before the end; 1 forbids an empty translation.
    `max_length` is the largest number of tokens, including the end. None means the number of source
    tokens without the end, plus `extra_length` (50, as in section 6.1). The model's `max_positions`
    is always a limit too. `max_length_factor`, Marian's max-length-factor, is one more limit: so
    many times the number of source tokens, both with their ends.
    With `no_repeat_ngram=n` no sequence of n tokens may occur twice in a hypothesis; 0 means no
    such limit. `loop_guard` ends endless repetition (see `constraints.LoopGuard`).
    `given` is the number of tokens at the start of a prefix that are marks of languages. They have
    the log-probability 0 and are not part of the translation.

    Raises:
        UsageError: a value is out of range. The message has the range.
    """

    min_length: int = 1
    max_length: int | None = None
    extra_length: int = 50
    max_length_factor: float | None = None
    no_repeat_ngram: int = 0
    loop_guard: bool = True
    given: int = 0

    def __post_init__(self) -> None:
        at_least("min_length", self.min_length, 0)
        at_least("extra_length", self.extra_length, 1)
        at_least("no_repeat_ngram", self.no_repeat_ngram, 0)
        at_least("given", self.given, 0)
        if self.max_length is not None:
            at_least("max_length", self.max_length, 1)
        if self.max_length_factor is not None:
            check_number("max_length_factor", self.max_length_factor)
            if not 0.0 < self.max_length_factor < math.inf:
                raise UsageError(
                    f"max_length_factor={self.max_length_factor} must be above 0, such as 2"
                )
        if self.max_length is not None and self.max_length <= self.min_length:
            raise UsageError(
                f"max_length={self.max_length} leaves no room for min_length={self.min_length} "
                f"tokens and the end; it must be at least {self.min_length + 1}"
            )

    def after(self, given: int) -> Self:
        """The same options with `given` tokens added to both limits of length."""
        if not given:
            return self
        longest = None if self.max_length is None else self.max_length + given
        return replace(self, given=given, min_length=self.min_length + given, max_length=longest)

    def limit(self, source_tokens: int, config: TransformerConfig) -> int:
        """The largest number of tokens of a hypothesis, including its end. `source_tokens` is the
        number of tokens of the source without its end."""
        wanted = self.max_length or source_tokens + self.extra_length
        if self.max_length_factor is not None:
            of_source = math.ceil(self.max_length_factor * (source_tokens + 1))
            wanted = min(wanted, self.given + max(of_source, self.min_length - self.given + 1))
        return min(wanted, config.max_positions)


@dataclass(frozen=True, kw_only=True)
class BeamOptions(SearchOptions):
    """Beam search in the paper's setting (section 6.1): beam 4, length penalty alpha 0.6.

    `beam` is at most 1,000. `n_best` hypotheses are returned. Without a `length_penalty`, a
    translator uses that of its model's folder; all else uses the paper's.

    A sentence is done when the best running hypothesis cannot overtake the `beam` best finished
    ones. `stop` is the rule for this. "common" compares scores with the length penalty of the
    present length. "exact" uses the most favourable penalty up to the length limit; it takes more
    steps and now and then finds a better hypothesis. "first", the rule of fairseq, ends as soon as
    `beam` hypotheses are finished.

    Raises:
        UsageError: a value is out of range. The message has the range.
    """

    beam: int = 4
    n_best: int = 1
    length_penalty: LengthPenalty | None = None
    stop: Stop = "common"

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("beam", self.beam, 1)
        at_least("n_best", self.n_best, 1)
        at_most("beam", self.beam, WIDEST_BEAM)
        if self.n_best > self.beam:
            raise UsageError(f"n_best={self.n_best} needs a beam at least as wide, not {self.beam}")
        if not (self.length_penalty is None or callable(self.length_penalty)):
            raise UsageError(
                f"length_penalty={self.length_penalty!r} must be a function of the length, such as "
                "Wu(0.6)"
            )
        if self.stop not in get_args(Stop):
            raise UsageError(f"stop={self.stop!r} is not one of {', '.join(get_args(Stop))}")

    @property
    def penalty(self) -> LengthPenalty:
        """The length penalty of the search."""
        return self.length_penalty or Wu()


@dataclass(frozen=True, kw_only=True)
class SamplingOptions(SearchOptions):
    """Sampling: draws `samples` hypotheses per sentence, at most 10,000.

    `temperature` divides the log-probabilities; near 0 the samples equal the greedy hypothesis.
    `top_k` draws from the k most probable tokens only; 0 means from all. `top_p` draws from the
    smallest set of most probable tokens whose probabilities sum to `top_p` (nucleus sampling,
    Holtzman et al. 2020, section 3.1).

    Raises:
        UsageError: a value is out of range. The message has the range.
    """

    samples: int = 1
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("samples", self.samples, 1)
        at_most("samples", self.samples, MOST_SAMPLES)
        at_least("top_k", self.top_k, 0)
        at_least("seed", self.seed, 0)
        check_number("temperature", self.temperature)
        check_number("top_p", self.top_p)
        if not 0.0 < self.temperature < math.inf:
            raise UsageError(
                f"temperature={self.temperature} must be above 0; for the most probable token "
                "at each step, use greedy search: beam=1"
            )
        if not 0.0 < self.top_p <= 1.0:
            raise UsageError(f"top_p={self.top_p} must be above 0 and at most 1")


def check_streamable(options: BeamOptions | SamplingOptions) -> None:
    """Raises UsageError for a search whose first tokens are not certain until its end."""
    if isinstance(options, SamplingOptions):
        if options.samples != 1:
            raise UsageError(f"samples={options.samples} cannot be streamed; use samples=1")
    elif options.beam != 1 or options.stop != "common":
        raise UsageError(
            f"beam={options.beam} with stop={options.stop!r} cannot be streamed, because later "
            "steps may change the first tokens; use beam=1, or sample"
        )


def check_takes_terms(options: BeamOptions | SamplingOptions) -> None:
    """Raises UsageError for a search that cannot use given terms."""
    if isinstance(options, SamplingOptions):
        raise UsageError("terms need beam search; leave out the terms, or what asks for sampling")


def at_least(name: str, value: int, least: int) -> None:
    """Raises UsageError for an option that is not a whole number or is below `least`."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise UsageError(f"{name}={value!r} must be a whole number, at least {least}")
    if value < least:
        raise UsageError(f"{name}={value} must be at least {least}")


def at_most(name: str, value: int, most: int) -> None:
    """Raises UsageError for an option above `most`."""
    if value > most:
        raise UsageError(f"{name}={value} must be at most {most}")


def check_number(name: str, value: float) -> None:
    """Raises UsageError for an option that is not a number, or is above every float."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise UsageError(f"{name}={value!r} must be a number")
    try:
        float(value)
    except OverflowError as error:
        raise UsageError(f"{name}={value} is too large") from error
