"""Learning rates against the formulas and their turning points."""

import pytest

from allyouneed.training.recipe.toml_file import load_recipe, packaged_recipes
from allyouneed.training.schedule import (
    Constant,
    Cosine,
    InverseSquareRoot,
    Noam,
    Trapezoid,
    learning_rate,
    never_peaks,
)


def test_noam_is_equation_3() -> None:
    section = Noam(name="noam", factor=2.0, warmup=4000)
    for step in (1, 100, 3999, 4000, 4001, 100_000):
        expected = 2.0 * 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
        assert learning_rate(section, step, 512) == pytest.approx(expected, rel=1e-12)
    assert learning_rate(Noam(), 4000, 512) == pytest.approx(6.9877e-4, rel=1e-4)


def test_inverse_square_root_reaches_its_peak_at_warmup() -> None:
    section = InverseSquareRoot(name="inverse-sqrt", learning_rate=5e-3, warmup=2000)
    rates = [learning_rate(section, step, 128) for step in range(1, 8001)]
    assert max(rates) == rates[1999] == 5e-3
    assert rates[0] == pytest.approx(2.5e-6)
    assert rates[7999] == pytest.approx(2.5e-3)


def test_inverse_square_root_is_noam_scaled() -> None:
    noam, ours = (
        Noam(warmup=50),
        InverseSquareRoot(name="inverse-sqrt", learning_rate=(64 * 50) ** -0.5, warmup=50),
    )
    for step in range(1, 200):
        assert learning_rate(noam, step, 64) == pytest.approx(learning_rate(ours, step, 64))


def test_cosine_rises_falls_and_stays() -> None:
    section = Cosine(name="cosine", learning_rate=1.0, warmup=10, steps=110, final=0.1)
    assert learning_rate(section, 5, 1) == pytest.approx(0.5)
    assert learning_rate(section, 10, 1) == pytest.approx(1.0)
    assert learning_rate(section, 60, 1) == pytest.approx(0.55)
    assert learning_rate(section, 110, 1) == pytest.approx(0.1)
    assert learning_rate(section, 10_000, 1) == pytest.approx(0.1)
    without_rise = Cosine(name="cosine", learning_rate=1.0, steps=100)
    assert learning_rate(without_rise, 50, 1) == pytest.approx(0.5)


def test_constant_after_its_rise() -> None:
    section = Constant(name="constant", learning_rate=0.2, warmup=4)
    assert [learning_rate(section, step, 1) for step in (1, 2, 4, 5, 99)] == pytest.approx(
        [0.05, 0.1, 0.2, 0.2, 0.2]
    )
    assert learning_rate(Constant(name="constant", learning_rate=0.2), 1, 1) == 0.2


def test_trapezoid_rises_stays_and_falls() -> None:
    section = Trapezoid(
        name="trapezoid", learning_rate=2.0, warmup=4, decay=10, steps=100, final=0.1
    )
    rates = {step: learning_rate(section, step, 1) for step in (1, 4, 50, 90, 91, 95, 100, 999)}
    assert rates == pytest.approx(
        {1: 0.5, 4: 2.0, 50: 2.0, 90: 2.0, 91: 1.82, 95: 1.1, 100: 0.2, 999: 0.2}
    )


def test_trapezoid_has_the_trunk_of_constant() -> None:
    trunk = Constant(name="constant", learning_rate=0.3, warmup=7)
    section = Trapezoid(name="trapezoid", learning_rate=0.3, warmup=7, decay=20, steps=60)
    steps = range(1, 41)
    assert [learning_rate(section, step, 1) for step in steps] == [
        learning_rate(trunk, step, 1) for step in steps
    ]
    assert 0 < learning_rate(section, 59, 1) < learning_rate(section, 41, 1) < 0.3
    assert learning_rate(section, 60, 1) == 0


def test_trapezoid_may_rise_and_fall_without_staying() -> None:
    values = {"name": "trapezoid", "learning_rate": 1.0, "warmup": 40, "decay": 60}
    assert learning_rate(Trapezoid(**values, steps=100), 40, 1) == 1.0
    with pytest.raises(ValueError, match="warmup = 40 and decay = 60 do not fit into steps = 99"):
        Trapezoid(**values, steps=99)


def test_cosine_needs_time_to_fall() -> None:
    with pytest.raises(ValueError, match="warmup = 100 must be less than steps = 100"):
        Cosine(name="cosine", learning_rate=1.0, warmup=100, steps=100)


@pytest.mark.parametrize("name", sorted(packaged_recipes()))
def test_no_packaged_recipe_has_a_warm_up_that_never_ends(name: str) -> None:
    recipe = load_recipe(name)
    assert never_peaks(recipe.schedule, recipe.training.steps or 5000) is None


def test_a_warm_up_as_long_as_the_run_never_peaks() -> None:
    for section in (Noam(warmup=20), Constant(name="constant", learning_rate=1.0, warmup=20)):
        assert never_peaks(section, 21) is None
        told = never_peaks(section, 20)
        assert told is not None
        assert "rises for 20 steps (schedule.warmup) and the run has 20" in told
    assert never_peaks(Constant(name="constant", learning_rate=1.0), 1) is None
