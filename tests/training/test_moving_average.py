"""The moving average against its sum written out, alone and in a run."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.testing import assert_close

from allyouneed.training.checkpoint import checkpoints
from allyouneed.training.moving_average import MovingAverage

DECAY = 0.9
AVERAGED = f"training.average_decay={DECAY}"


def written_out(weights: Sequence[Tensor]) -> Tensor:
    """Kingma & Ba 2015, section 7.2: a decaying sum, over the sum of its own factors."""
    total = len(weights)
    summed = sum((1 - DECAY) * DECAY ** (total - t) * w for t, w in enumerate(weights, start=1))
    return torch.as_tensor(summed) / (1 - DECAY**total)


def weights_of_updates(
    updates: int, decay: float
) -> tuple[list[Tensor], Tensor, torch.optim.Optimizer]:
    torch.manual_seed(1)
    weight = torch.randn(5, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([weight], lr=0.5)
    average, passed = MovingAverage(optimizer, decay), []
    for _ in range(updates):
        weight.grad = torch.randn(5, dtype=torch.float64)
        optimizer.step()
        average.update()
        passed.append(weight.detach().clone())
    return passed, weight, optimizer


@pytest.mark.parametrize("updates", [1, 2, 30])
def test_it_is_the_sum_with_the_bias_of_its_start_taken_out(updates: int) -> None:
    passed, weight, optimizer = weights_of_updates(updates, DECAY)
    with MovingAverage(optimizer, DECAY).in_place():
        assert_close(weight.detach(), written_out(passed))
        if updates == 1:
            assert torch.equal(weight, passed[0])
    assert torch.equal(weight, passed[-1])


def test_the_weights_come_back_after_an_error_too() -> None:
    passed, weight, optimizer = weights_of_updates(3, DECAY)
    average = MovingAverage(optimizer, DECAY)

    def fail() -> None:
        with average.in_place():
            assert not torch.equal(weight, passed[-1])
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert torch.equal(weight, passed[-1])
    with average.in_place():
        assert_close(weight.detach(), written_out(passed))


def test_a_decay_of_0_keeps_nothing() -> None:
    passed, weight, optimizer = weights_of_updates(2, 0.0)
    with MovingAverage(optimizer, 0.0).in_place():
        assert torch.equal(weight, passed[-1])
    assert set(optimizer.state[weight]) == {"step", "exp_avg", "exp_avg_sq"}


def test_the_average_is_validated_and_kept_as_the_best(runs: Any) -> None:
    every_step = ("training.checkpoint_every_steps=1", "training.keep_last=9", "training.steps=4")
    runs.start("plain", *every_step)
    runs.start("averaged", *every_step, AVERAGED)
    # it does not act back on the training
    assert runs.losses("averaged") == runs.losses("plain")
    passed = [load_file(path / "model.safetensors") for path in checkpoints(runs.root / "averaged")]
    assert len(passed) == 4
    best = load_file(runs.root / "averaged" / "best" / "model.safetensors")
    for name, weight in best.items():
        assert_close(weight, written_out([weights[name] for weights in passed]))
        assert not torch.equal(weight, passed[-1][name])
    (averaged,), (plain,) = (runs.records(name, "validation") for name in ("averaged", "plain"))
    assert averaged["loss"] != plain["loss"]
