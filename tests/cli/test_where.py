"""From the paper to the code by reference, word, synonym, symbol, or something close."""

import json
from pathlib import Path

import pytest

from allyouneed.cli.paper_map import Row, find, paper_rows


def first(query: str) -> tuple[str, str]:
    row = find(query, paper_rows())[0]
    return row.file, row.symbol


@pytest.mark.parametrize(
    ("query", "file", "symbol"),
    [
        ("label smoothing", "training/loss.py", "label_smoothed_loss"),
        ("lable smoothing", "training/loss.py", "label_smoothed_loss"),
        ("eq. 1", "core/attention.py", "attention"),
        ("Equation (2)", "core/feed_forward.py", "FeedForward"),
        ("eq 3", "training/schedule.py", "noam"),
        ("§3.5", "core/positions.py", "sinusoidal_encoding"),
        ("3.3", "core/feed_forward.py", "FeedForward"),
        ("Table 3, big", "core/config.py", "BIG"),
        ("MultiHeadAttention", "core/attention.py", "MultiHeadAttention"),
        ("multi-head attention", "core/attention.py", "MultiHeadAttention"),
        ("W_Q", "core/attention.py", "MultiHeadAttention.W_Q"),
        ("look-ahead mask", "core/masks.py", "causal"),
        ("causal", "core/masks.py", "causal"),
        ("rope", "core/positions.py", "Rotary"),
        ("warmup steps", "training/schedule.py", "noam"),
        ("positional encodings", "core/positions.py", "sinusoidal_encoding"),
        ("nucleus", "decoding/options.py", "SamplingOptions"),
        ("beam search", "decoding/beam.py", "beam_search"),
        ("weight tying", "core/transformer.py", "Transformer.tied_weights"),
        ("initialization", "core/initialisation.py", "initialise"),
        ("xavier", "core/initialisation.py", "initialise"),
        ("padding mask", "core/masks.py", "padding"),
        ("KV cache", "core/cache.py", "Cache"),
        ("perplexity", "training/validation.py", "Validation"),
        ("mixed precision", "training/recipe/sections.py", "TrainingSection.precision"),
        ("gradient accumulation", "training/recipe/sections.py", "TrainingSection.accumulate"),
        ("gradient clipping", "training/recipe/sections.py", "OptimizerSection.clip_norm"),
        ("patience", "training/recipe/sections.py", "TrainingSection.patience"),
        ("quantization", "engine/torch_int8.py", "quantised"),
        ("ensemble", "decoding/ensemble.py", "Ensemble"),
    ],
)
def test_a_concept_is_found_at_once(query: str, file: str, symbol: str) -> None:
    assert first(query) == (file, symbol)


def test_a_section_holds_its_subsections_and_no_others() -> None:
    sections = {row.paper.split(",")[0] for row in find("section 3.2", paper_rows())}
    assert sections == {"Section 3.2", "Section 3.2.1", "Section 3.2.2", "Section 3.2.3"}


def test_a_figure_is_no_equation() -> None:
    assert all("igure 2" in row.paper for row in find("figure 2", paper_rows()))
    assert find("equation 9", paper_rows()) == []


def test_words_that_are_there_come_before_words_that_are_alike() -> None:
    rows = [Row("A", "the causal mask", "a.py", "a", ()), Row("B", "casual", "b.py", "b", ())]
    assert find("causal", rows) == rows[:1]
    assert find("casual", rows) == rows[1:]
    assert find("causall", rows) == rows[:1]


def test_the_line_can_be_opened(call) -> None:
    found = call("where", "label", "smoothing")
    assert found.code == 0
    head, place = found.lines[:2]
    assert head.startswith("Section 5.4, label smoothing: ")
    path, symbol = place.split()
    file, line = path.rsplit(":", 1)
    assert symbol == "label_smoothed_loss"
    assert f"def {symbol}" in Path(file).read_text("utf-8").split("\n")[int(line) - 1]


def test_json(call) -> None:
    (line,) = call("where", "--json", "table 3, base").lines
    values = json.loads(line)
    assert set(values) == {"paper", "idea", "file", "line", "symbol", "words"}
    assert values["symbol"] == "BASE"
    assert values["line"] > 0


def test_what_is_not_there_gives_the_nearest_and_exit_code_1(call) -> None:
    ended = call("where", "xyzzy")
    assert ended.code == 1
    assert len(ended.lines) == 6
    assert ended.err == "note: nothing matches 'xyzzy'; these are the nearest\n"


def test_without_a_query_the_whole_table_is_shown(call) -> None:
    assert len(call("where").lines) == 2 * len(paper_rows())
