"""Results as a table, as Markdown and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from allyouneed.evaluation.metrics import MetricScore
from contest.machine import Limits, median_and_range
from contest.measure import Agreement, Measured
from contest.runners import PEERS
from contest.tables import page_of, print_rows, write_document

COLUMNS = (
    "cell", "engine", "setting", "sentences/s", "tokens/s", "ms/step", "× ct2 int8",
    "× ct2 float32", "× HF", "× Bergamot", "MiB", "× floor", "BLEU", "chrF",
)  # fmt: skip


def results_of(
    measured: Measured,
    all_of_cell: dict[str, Measured],
    floors: dict[str, float | None],
) -> dict[str, Any]:
    """The results of one engine in one cell as JSON values.

    `floor` is the engine's time divided by the least possible time, by bytes and by operations.
    `peak_mib` is measured later.
    """
    rate = median_and_range(list(measured.rates.values()))
    seconds = len(measured.cell.sources) / rate[0]
    steps = measured.cell.batches * measured.cell.length if measured.cell.batch else None
    return {
        "cell": measured.cell.name,
        "engine": measured.runner.name,
        "description": measured.runner.description,
        "setting": str(measured.setting),
        "tried_seconds": measured.tried,
        "sentences": len(measured.cell.sources),
        "target_tokens": measured.tokens,
        "sentences_per_second": rate,
        "tokens_per_second": measured.tokens / seconds,
        "ms_per_step": seconds / steps * 1000 if steps else None,
        "over": {
            peer: median_and_range(measured.over(all_of_cell[peer]))
            for peer in PEERS
            if peer in all_of_cell and peer != measured.runner.name
        },
        "peak_mib": None,
        "floor": {kind: seconds / least for kind, least in floors.items() if least},
    }


def quality_of(scores: Sequence[MetricScore], agreement: Agreement | None) -> dict[str, Any]:
    """The translations' metrics and their comparison with CTranslate2's, as JSON values."""
    quality: dict[str, Any] = {
        score.metric: {"score": score.score, "signature": score.signature} for score in scores
    }
    if agreement:
        quality["against ctranslate2-float32"] = asdict(agreement)
    return {"quality": quality}


def rows(results: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    """The rows of the table, in the order of `COLUMNS`."""
    table, last = [], ""
    for result in results:
        quality = result.get("quality", {})
        table.append(
            (
                result["cell"] if result["cell"] != last else "",
                result["engine"],
                result["setting"],
                f"{result['sentences_per_second'][0]:.1f}",
                f"{result['tokens_per_second']:.0f}",
                number(result["ms_per_step"]),
                *(ratio(result["over"].get(peer)) for peer in PEERS),
                number(result["peak_mib"], 0),
                number(min(result["floor"].values(), default=None)),  # the tighter of the two
                *(number(quality.get(name, {}).get("score")) for name in ("BLEU", "chrF")),
            )
        )
        last = result["cell"]
    return table


def print_table(results: Sequence[dict[str, Any]]) -> None:
    """Prints the table to standard output, as wide as needed."""
    print_rows(COLUMNS, rows(results))


def write_results(
    results: Sequence[dict[str, Any]],
    machine: dict[str, Any],
    limits: Limits,
    notes: Sequence[str],
    folder: Path,
) -> Path:
    """Writes decode-<processor>.json and .md. Returns the path of the JSON file."""
    document = {
        "machine": machine, "limits": limits.to_dict(), "notes": notes, "results": results
    }  # fmt: skip
    title = "Decoding: engines against their peers"
    page = page_of(title, document, limits.in_words(), COLUMNS, rows(results))
    return write_document("decode", document, page, folder)


def ratio(over: tuple[float, float, float] | None) -> str:
    """Median and range as a text; empty for None."""
    return f"{over[0]:.2f} ({over[1]:.2f} … {over[2]:.2f})" if over else ""


def number(value: float | None, digits: int = 1) -> str:
    """The number with this many decimals; empty for None."""
    return "" if value is None else f"{value:.{digits}f}"
