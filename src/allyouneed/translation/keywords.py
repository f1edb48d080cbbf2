"""The keywords of a call, such as `translator(text, length_penalty=1.0)`."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from allyouneed.checks import expect
from allyouneed.decoding.length_penalty import LengthPenalty, Wu
from allyouneed.decoding.options import BeamOptions, SamplingOptions, SearchOptions, Stop
from allyouneed.errors import UsageError, nearest
from allyouneed.translation.arguments import check_prefix
from allyouneed.translation.request import Options
from allyouneed.translation.terms.files import Terms


class SearchKeywords(TypedDict, total=False):
    """The fields of `BeamOptions` and `SamplingOptions`, named as on the command line.

    `sample=True` draws; `temperature`, `top_k`, `top_p`, `seed` or `samples` imply it.
    `length_penalty` is a function, or the alpha of Wu et al. 2016.
    """

    min_length: int
    max_length: int | None
    extra_length: int
    max_length_factor: float | None
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


class TextKeywords(TypedDict, total=False):
    """How texts are translated, apart from the search; `Translator.__call__` explains each."""

    prefix: str
    alignments: bool
    source: str | None
    target: str | None
    protect: bool | Sequence[str]
    terms: Terms | None


class LineKeywords(SearchKeywords, TextKeywords):
    """The keywords of `Translator.translate_lines`, apart from its own."""


class Keywords(LineKeywords, total=False):
    """The keywords of `Translator.__call__`."""

    options: Options | None
    markup: str | None
    ignore_tags: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The keywords of a call as one value: `TextKeywords`, and the options of the search.

    Raises:
        UsageError: the prefix is not a str, or `alignments` is not a bool.
    """

    options: Options
    prefix: str = ""
    alignments: bool = False
    source: str | None = None
    target: str | None = None
    protect: bool | Sequence[str] = True
    terms: Terms | None = None

    def __post_init__(self) -> None:
        check_prefix(self.prefix)
        expect(self.alignments, bool, "alignments", "True or False")

    @property
    def keywords(self) -> dict[str, Any]:
        """The call as the keywords of another one."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


NAMES = {
    "alignment": "alignments",
    "alpha": "length_penalty",
    "beam_size": "beam",
    "beams": "beam",
    "do_sample": "sample",
    "from": "source",
    "from_": "source",
    "glossary": "terms",
    "max_decoding_length": "max_length",
    "max_new_tokens": "max_length",
    "nbest": "n_best",
    "no_repeat_ngram_size": "no_repeat_ngram",
    "num_beams": "beam",
    "num_hypotheses": "n_best",
    "num_return_sequences": "n_best",
    "sampling_temperature": "temperature",
    "sampling_topk": "top_k",
    "sampling_topp": "top_p",
    "source_lang": "source",
    "src": "source",
    "target_lang": "target",
    "tgt": "target",
    "to": "target",
}
"""Names of the command line and of other libraries, each with the keyword for it here."""
PLACES = {
    **dict.fromkeys(
        ("bilingual", "format", "keys", "memory", "resume", "update_memory"),
        "it is an option of `allyouneed translate` for files",
    ),
    **dict.fromkeys(
        ("device", "engine", "model", "threads", "vocabulary_selection"),
        "give it to allyouneed.load",
    ),
    "attention": "call translator.attention(text, translation)",
    "debug": "it is an option of `allyouneed translate`; translator.engine names the engine",
    "greedy": "use beam=1",
    "json": "every result has to_dict()",
    "no_protect": "use protect=False",
    "output": "write the text of the result to the file yourself",
    "scores": "every result has average_log_likelihood, probability and confidence",
    "stream": "call translator.stream(text)",
}
"""Words of the command line that are no keywords of a call, each with what to do in Python."""

LENGTHS = frozenset(SearchOptions.__dataclass_fields__)
SEARCHING = frozenset(BeamOptions.__dataclass_fields__) - LENGTHS
DRAWING = frozenset(SamplingOptions.__dataclass_fields__) - LENGTHS


def call_of(beam: int, n_best: int, options: Options | None, keywords: LineKeywords) -> Call:
    """The call with these arguments.

    Raises:
        UsageError: as `search_options`.
    """
    own: Any = {k: v for k, v in keywords.items() if k in TextKeywords.__annotations__}
    search: Any = {k: v for k, v in keywords.items() if k not in own}
    return Call(options=search_options(beam, n_best, options, search), **own)


def search_options(
    beam: int,
    n_best: int,
    options: Options | None,
    keywords: SearchKeywords,
    usual_beam: int = BeamOptions.beam,
) -> Options:
    """The options that a call asks for: `options`, or those made of the other arguments.

    The beam is at least `n_best` wide. With sampling, `n_best` is the number of samples.
    `usual_beam` is the beam of a call that does not name one.

    Raises:
        UsageError: a keyword that does not exist, options given in two ways, beam search and
            sampling in one call, or a value out of range.
    """
    given: dict[str, Any] = dict(keywords)
    if options is not None:
        if (beam, n_best) != (usual_beam, BeamOptions.n_best) or given:
            both = ", ".join([f"beam={beam}, n_best={n_best}", *given])
            raise UsageError(f"{both} and options were given; say it in options alone")
        if not isinstance(options, Options):
            raise UsageError(f"options={options!r} must be BeamOptions or SamplingOptions")
        return options
    for name in given:
        if name not in SearchKeywords.__annotations__:
            raise UsageError(_unknown(name))
    sample = given.pop("sample", not DRAWING.isdisjoint(given))
    expect(sample, bool, "sample", "True or False")
    if misplaced := sorted(given.keys() & (SEARCHING if sample else DRAWING)):
        raise UsageError(
            f"{', '.join(misplaced)}: not an option of "
            + (
                "sampling; leave it out, or leave out the options of sampling"
                if sample
                else "beam search; leave it out, or leave out sample=False"
            )
        )
    if not sample:
        if isinstance(penalty := given.get("length_penalty"), int | float):
            given["length_penalty"] = Wu(penalty)
        width = max(beam, n_best) if _whole(beam) and _whole(n_best) and beam > 0 else beam
        return BeamOptions(beam=width, n_best=n_best, **given)
    if beam != usual_beam:
        raise UsageError(f"beam={beam} is for beam search, not for sampling; leave one of them out")
    return SamplingOptions(**{"samples": n_best, **given})


def _whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _unknown(name: str) -> str:
    known = sorted(SearchKeywords.__annotations__)
    written = name.replace("-", "_")
    guess = NAMES.get(written) or nearest(written, [*known, "beam", "n_best"])
    if written in PLACES:
        return f"{name!r} is no keyword of a call; {PLACES[written]}"
    return f"{name!r} is no option of the search" + (
        f"; did you mean {guess}?" if guess else f"; there are beam, n_best, {', '.join(known)}"
    )
