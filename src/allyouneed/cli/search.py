"""Turns the typed options of the search into the options of `decoding`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from allyouneed.errors import UsageError

if TYPE_CHECKING:
    from allyouneed.decoding.options import BeamOptions, SamplingOptions

Typed = Mapping[str, Any]
"""Options by their names in `decoding`; None for an option that was not typed."""


def check_choice(sample: bool, searching: Typed, drawing: Typed) -> None:
    """Raises UsageError for options of beam search with --sample, and of sampling without it."""
    refused, reason = (
        (searching, "is for beam search, not for --sample; leave one of them out")
        if sample
        else (drawing, "is for sampling; add --sample, or leave it out")
    )
    for name in given(refused):
        raise UsageError(f"--{name.replace('_', '-')} {reason}")


def beam_options(n_best: int, searching: Typed, lengths: Typed) -> "BeamOptions":
    """Beam search with the typed options. If no beam was typed, it is at least `n_best`."""
    from allyouneed.decoding.length_penalty import Wu
    from allyouneed.decoding.options import BeamOptions

    options = {**given(searching), **given(lengths), "n_best": n_best}
    if "beam" not in options:
        options["beam"] = max(BeamOptions.beam, n_best)
    if "length_penalty" in options:
        options["length_penalty"] = Wu(options["length_penalty"])
    return BeamOptions(**options)


def sampling_options(n_best: int, drawing: Typed, lengths: Typed) -> "SamplingOptions":
    """Sampling with the typed options, `n_best` samples of each text."""
    from allyouneed.decoding.options import SamplingOptions

    return SamplingOptions(samples=n_best, **given(drawing), **given(lengths))


def given(options: Typed) -> dict[str, Any]:
    """The options that were typed."""
    return {name: value for name, value in options.items() if value is not None}
