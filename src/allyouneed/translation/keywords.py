"""Search options as keywords of a call: `translator(text, length_penalty=1.0)`."""

from typing import Any, TypedDict

from allyouneed.decoding.length_penalty import LengthPenalty, Wu
from allyouneed.decoding.options import BeamOptions, SamplingOptions, SearchOptions, Stop
from allyouneed.errors import UsageError, nearest
from allyouneed.translation.request import Options


class SearchKeywords(TypedDict, total=False):
    """The fields of `BeamOptions` and `SamplingOptions`, named as on the command line.

    `sample=True` draws; `temperature`, `top_k`, `top_p`, `seed` or `samples` imply it.
    `length_penalty` is a function, or the alpha of Wu et al. 2016.
    """

    min_length: int
    max_length: int | None
    extra_length: int
    no_repeat_ngram: int
    loop_guard: bool
    length_penalty: LengthPenalty | float
    stop: Stop
    sample: bool
    samples: int
    temperature: float
    top_k: int
    top_p: float
    seed: int


LENGTHS = frozenset(SearchOptions.__dataclass_fields__)
SEARCHING = frozenset(BeamOptions.__dataclass_fields__) - LENGTHS
DRAWING = frozenset(SamplingOptions.__dataclass_fields__) - LENGTHS


def search_options(
    beam: int, n_best: int, options: Options | None, keywords: SearchKeywords
) -> Options:
    """The options that a call asks for: `options`, or those made of the other arguments.

    The beam is at least `n_best` wide. With sampling, `n_best` is the number of samples.

    Raises:
        UsageError: a keyword that does not exist, options given in two ways, beam search and
            sampling in one call, or a value out of range.
    """
    given: dict[str, Any] = dict(keywords)
    if options is not None:
        if (beam, n_best) != (BeamOptions.beam, BeamOptions.n_best) or given:
            both = ", ".join([f"beam={beam}, n_best={n_best}", *given])
            raise UsageError(f"{both} and options were given; say it in options alone")
        if not isinstance(options, Options):
            raise UsageError(f"options={options!r} must be BeamOptions or SamplingOptions")
        return options
    for name in given:
        if name not in SearchKeywords.__annotations__:
            raise UsageError(_unknown(name))
    sample = given.pop("sample", not DRAWING.isdisjoint(given))
    if misplaced := sorted(given.keys() & (SEARCHING if sample else DRAWING)):
        raise UsageError(
            f"{', '.join(misplaced)}: not an option of "
            + ("sampling; leave it out, or sample" if sample else "beam search; leave sample=False")
            + " out"
        )
    if not sample:
        if isinstance(penalty := given.get("length_penalty"), int | float):
            given["length_penalty"] = Wu(penalty)
        width = max(beam, n_best) if _whole(beam) and _whole(n_best) and beam > 0 else beam
        return BeamOptions(beam=width, n_best=n_best, **given)
    if beam != BeamOptions.beam:
        raise UsageError(f"beam={beam} is for beam search, not for sampling; leave one of them out")
    return SamplingOptions(**{"samples": n_best, **given})


def _whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _unknown(name: str) -> str:
    known = sorted(SearchKeywords.__annotations__)
    guess = nearest(name, known)
    return f"{name!r} is no option of the search" + (
        f"; did you mean {guess}?" if guess else f"; there are beam, n_best, {', '.join(known)}"
    )
