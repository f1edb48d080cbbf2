"""What a step takes, as far as it can be told beforehand."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from allyouneed.core.transformer import Transformer
from allyouneed.errors import TrainingError
from allyouneed.training import estimate as estimate_module
from allyouneed.training import memory
from allyouneed.training.estimate import Estimate, check_model_fits, estimate
from allyouneed.training.objective import Objective
from allyouneed.training.optimizer import make_optimizer
from allyouneed.training.survey import Survey
from allyouneed.training.tasks.task import Outlook
from allyouneed.training.tasks.translate import made_up_pairs

BATCHES = [(4, 6, 5), (8, 12, 10), (6, 6, 6)]


@pytest.fixture
def model(small_model: Any) -> Transformer:
    return small_model()


def estimated(runs: Any, model: Transformer, batches: Any = BATCHES) -> Estimate:
    recipe = runs.recipe()
    outlook = Outlook(
        [],
        "pairs",
        model,
        Survey(0, 0, 0, 0, batches),
        objective=lambda device: Objective(model, recipe.training, device),
        made_up=partial(made_up_pairs, model.config),
    )
    return estimate(recipe, outlook, torch.device("cpu"))


def test_an_update_is_really_made_and_leaves_the_weights(
    runs: Any, model: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def watched(*arguments: Any) -> torch.optim.Optimizer:
        made.append(make_optimizer(*arguments))
        return made[0]

    monkeypatch.setattr(estimate_module, "make_optimizer", watched)
    before = [weight.clone() for weight in model.parameters()]
    found = estimated(runs, model)
    assert found.batch_seconds > 0
    assert found.optimizer_seconds > 0
    assert found.update_seconds(3) == 3 * found.batch_seconds + found.optimizer_seconds
    moments = [made[0].state[weight]["exp_avg"] for weight in model.parameters()]
    assert all(moment.count_nonzero() for moment in moments)
    after = list(model.parameters())
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert all(weight.grad is None for weight in after)


def test_memory_grows_with_the_largest_batch_and_the_parameters(
    runs: Any, small_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate_module, "_memory", lambda device: (0, 10**9))
    torch.manual_seed(0)
    small, large, wide = (
        estimated(runs, small_model(d_model=width), [(rows, 8, 8)]).needed_bytes
        for width, rows in ((16, 8), (16, 64), (64, 8))
    )
    weights = [sum(w.numel() for w in small_model(d_model=n).parameters()) for n in (16, 64)]
    kept = small - 16 * weights[0]
    assert kept > 4 * 8 * 8 * 16  # at least one value for each number of the embeddings
    assert large - 16 * weights[0] == pytest.approx(8 * kept, rel=0.3)
    assert wide > 16 * weights[1] + 2 * kept


def test_a_model_that_the_process_holds_already_is_counted_once(
    runs: Any, model: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate_module, "_forward_and_backward", lambda o, b: (1.0, 7))
    weights = sum(weight.numel() for weight in model.parameters())
    monkeypatch.setattr(estimate_module, "_memory", lambda device: (10**9, 10**10))
    assert estimated(runs, model, [(1, 5, 5)]).needed_bytes == 10**9 + 12 * weights + 7
    monkeypatch.setattr(estimate_module, "_memory", lambda device: (0, 10**10))  # a GPU's
    assert estimated(runs, model, [(1, 5, 5)]).needed_bytes == 16 * weights + 7


def test_a_slow_batch_is_measured_in_part(
    runs: Any, model: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate_module, "MEASURED_S", 0.0)
    monkeypatch.setattr(
        estimate_module, "_forward_and_backward", lambda o, b: (len(b.labels_BT), 7)
    )
    found = estimated(runs, model, [(100, 10, 64)])
    assert found.batch_seconds == 100  # 2 rows took 2 s


def test_memory_that_does_not_suffice(
    runs: Any, model: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_much(*arguments: Any) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(estimate_module, "_forward_and_backward", too_much)
    with pytest.raises(TrainingError, match=r"cpu has not enough .*batch_tokens = 256; divide it"):
        estimated(runs, model)


def test_what_a_container_allows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "CONTAINER", tmp_path / "memory.max")
    monkeypatch.setattr(memory, "_kilobytes", lambda path: {"MemAvailable": 2048})
    cpu = torch.device("cpu")
    assert estimate_module._memory(cpu) == (0, 2 << 20)
    for limit, available in (("max\n", 2 << 20), ("1048576\n", 1 << 20)):
        (tmp_path / "memory.max").write_text(limit)
        assert estimate_module._memory(cpu) == (0, available)


def test_what_the_machine_has(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal:  8 kB\nMemAvailable:  5 kB\nHugePages: 0\n\n")
    sizes = memory._kilobytes(str(tmp_path / "meminfo"))
    assert sizes == {"MemTotal": 8, "MemAvailable": 5}
    assert memory._kilobytes(str(tmp_path / "absent")) == {}
    own, available = estimate_module._memory(torch.device("cpu"))
    assert available is None or own < available


def test_a_model_too_large_for_the_device_is_told_by_arithmetic(
    runs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = runs.recipe()
    weights = sum(weight.numel() for weight in Transformer(recipe.model.config(280)).parameters())
    table = 4 * recipe.model.max_positions * recipe.model.d_model
    cpu = torch.device("cpu")
    monkeypatch.setattr(estimate_module, "_memory", lambda device: (0, 16 * weights + table))
    check_model_fits(recipe, cpu)
    monkeypatch.setattr(estimate_module, "_memory", lambda device: (0, 16 * weights + table - 1))
    with pytest.raises(TrainingError, match=rf"training the model's {weights:,} weights needs"):
        check_model_fits(recipe, cpu)
