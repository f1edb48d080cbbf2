"""Results as a table, as Markdown and as JSON."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from contest.machine import median_and_range
from contest.report import number, ratio
from contest.tables import page_of, print_rows, write_document
from numpy.typing import NDArray

from allyouneed.data.batches import Indices
from steps.measure import BAR, Measured, fall_of, largest_difference
from steps.work import Work

Lengths = NDArray[np.int32]
NAMES = ("shape", "engine", "precision")
SPEED = ("tokens/s", "× fastest peer", "× in the long run", "of the peak", "MiB")
LOSSES = ("loss after", "differs by")


def results_of(work: Work, engines: Sequence[Measured], peaks: dict[str, float]) -> list[Any]:
    """The results of the engines of one shape as JSON values; without rounds, without speeds."""
    return [
        {
            "shape": work.shape.preset,
            "words": "random" if work.made_up else "Multi30k",
            "vocabulary": work.config.vocabulary,
            "batch_tokens": work.shape.batch_tokens,
            "padding": padding(work.material.train.lengths(), work.numbers),
            "engine": engine.name,
            "precision": engine.precision,
            "losses": [engine.losses[0], engine.losses[-1]],
            "compared_steps": len(engine.losses),
            "largest_difference": largest_difference(engine),
            "equal": largest_difference(engine) <= BAR,
            "fall": fall_of(engine),
            "rounds": len(engine.rates),
            **(speed_of(engine, engines, peaks[engine.precision]) if engine.rates else {}),
        }
        for engine in engines
    ]


def speed_of(engine: Measured, engines: Sequence[Measured], peak: float) -> dict[str, Any]:
    """The speeds of an engine. `over_fastest_peer` is the ratio in each round to the peer, in any
    precision, with the highest median speed."""
    peers = [other for other in engines if not other.ours]
    fastest = max(peers, key=lambda peer: median_and_range(peer.rates)[0])
    over = [rate / other for rate, other in zip(engine.rates, fastest.rates, strict=True)]
    operations = median_and_range(engine.operations)[0]
    long_rates = [peer.long_rate for peer in peers if peer.long_rate]
    return {
        "tokens_per_second": median_and_range(engine.rates),
        "fastest_peer": str(fastest),
        "over_fastest_peer": median_and_range(over),
        "long_run_over_fastest_peer": (
            engine.long_rate / max(long_rates) if engine.long_rate and long_rates else None
        ),
        "operations_per_second": operations,
        "share_of_peak": operations / peak,
        "peak_mib": engine.peak_mib,
    }


def complaints(results: Sequence[dict[str, Any]], fall: float) -> list[str]:
    """Reasons why the speeds cannot be compared: losses differ, or fell by less than `fall`."""
    found = []
    for result in results:
        who = f"{result['shape']}: {result['engine']} {result['precision']}"
        if not result["equal"]:
            differs = f"{result['largest_difference']:.2%}"
            found.append(f"{who}: its losses differ by {differs}, more than {BAR:.0%}")
        if result["fall"] < fall:
            found.append(
                f"{who}: its losses fell by {result['fall']:.1%} in {result['compared_steps']} "
                f"steps, less than {fall:.0%}; compare more steps (--equal-steps)"
            )
    return found


def padding(lengths: tuple[Lengths, Lengths], batches: Iterable[Indices]) -> float:
    """The share of positions that hold padding, over both sides together."""
    sides = [side[batch] for batch in batches for side in lengths]
    return 1 - sum(int(s.sum()) for s in sides) / sum(len(s) * int(s.max()) for s in sides)


def columns(results: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """The columns of the table, including those of speed if it was measured."""
    return (*NAMES, *(SPEED if results[0]["rounds"] else ()), *LOSSES)


def rows(results: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    """The rows of the table, in the order of its columns."""
    return [
        (
            *(result[name] for name in NAMES),
            *(in_figures(result) if result["rounds"] else ()),
            f"{result['losses'][-1]:.3f} ({result['compared_steps']} steps)",
            f"{result['largest_difference']:.2%}" + ("" if result["equal"] else " NOT EQUAL"),
        )
        for result in results
    ]


def in_figures(result: dict[str, Any]) -> tuple[str, ...]:
    """The figures of speed, in the order of the columns of speed."""
    return (
        f"{result['tokens_per_second'][0]:.0f}",
        ratio(result["over_fastest_peer"]),
        number(result["long_run_over_fastest_peer"], 2),
        f"{result['share_of_peak']:.0%}",
        number(result["peak_mib"], 0),
    )


def print_table(results: Sequence[dict[str, Any]]) -> None:
    """Prints the table to standard output."""
    print_rows(columns(results), rows(results))


def write_results(document: dict[str, Any], folder: Path) -> Path:
    """Writes train-<processor>.json and .md. Returns the path of the JSON file."""
    peaks, results = document["product_peaks"], document["results"]
    told = " and ".join(f"{peak / 1e9:.0f} in {name}" for name, peak in peaks.items())
    about = f"Large matrix products, just then, reached G operations a second: {told}."
    title = "Training: our step against its peers"
    page = page_of(title, document, about, columns(results), rows(results))
    return write_document("train", document, page, folder)
