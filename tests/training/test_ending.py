"""The reasons for which a run ends, in words."""

from typing import Any

import pytest

from allyouneed.training.ending import ending
from allyouneed.training.recipe.sections import TrainingSection
from allyouneed.training.state import State


@pytest.mark.parametrize(
    ("limit", "reached", "reason"),
    [
        ({"steps": 1}, {"step": 1}, "1 step done"),
        ({"steps": 2}, {"step": 2}, "2 steps done"),
        ({"epochs": 1}, {"epoch": 1}, "1 epoch done"),
        ({"max_minutes": 1}, {"seconds": 60.0}, "1 minute has passed"),
        ({"max_minutes": 1.5}, {"seconds": 90.0}, "1.5 minutes have passed"),
        ({"patience": 1}, {"validations_since_best": 1}, "no better for 1 validation"),
    ],
)
def test_one_is_no_plural(limit: Any, reached: dict[str, Any], reason: str) -> None:
    state = State(data="", valid="", config={}, threads=1, **reached)
    assert ending(TrainingSection(**({"epochs": 9} | limit)), state).reason == reason
