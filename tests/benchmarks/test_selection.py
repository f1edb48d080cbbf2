"""The benchmark of vocabulary selection: its sentences, its selections, and one measured cell."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allyouneed.core.transformer import Transformer
from allyouneed.engine.native.build import NoCompiler, find_compiler
from allyouneed.engine.native.engine import NativeEngine
from allyouneed.model_folder.folder import open_model_folder, save_model_folder
from allyouneed.text.tokenizer import Tokenizer

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(BENCHMARKS)
    import selection

    return selection


def test_a_source_may_become_itself_the_frequent_and_its_candidates(benchmark: Any) -> None:
    chosen = benchmark.selection(500, candidates=7, frequent=10)
    for source in (4, 120, 499):
        ids = set(chosen.ids([[source]]).tolist())
        assert {source, *range(14)} <= ids
        assert len(ids) <= 14 + 1 + 7
    bound = benchmark.selection(500, candidates=0, frequent=10)
    assert bound.ids([[499]]).tolist() == [*range(14), 499]


def test_sources_are_of_frequent_and_rare_pieces(benchmark: Any) -> None:
    cell = benchmark.forced(500, 8, 4)
    assert cell.batches == len(cell.sources) / 8
    assert {len(source) for source in cell.sources} == {25}
    words = [id_ for source in cell.sources for id_ in source[:-1]]
    assert min(words) == 4
    assert 250 < max(words) < 500
    assert sum(id_ < 50 for id_ in words) > len(words) / 2


def test_a_cell_is_measured(
    benchmark: Any,
    small_model: Callable[..., Transformer],
    small_tokenizer: Tokenizer,
    tmp_path: Path,
) -> None:
    try:
        find_compiler()
    except NoCompiler as error:
        pytest.skip(str(error))
    save_model_folder(tmp_path / "model", small_model(max_positions=80), small_tokenizer)
    engine = NativeEngine.open(open_model_folder(tmp_path / "model"), threads=1)
    said = benchmark.measured(engine, 2, 3, rounds=2)
    number = r"\d+\.\d\d"
    assert re.fullmatch(rf"2x3: \d+, \d+; {number} \({number} … {number}\); {number}", said)
