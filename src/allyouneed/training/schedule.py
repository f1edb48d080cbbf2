"""Learning rate schedules and the sections of a recipe that set them; steps count from 1."""

import math
from typing import Annotated, Literal

from pydantic import Field, model_validator

from allyouneed.training.recipe.values import Count, NaturalNumber, Positive, Section


class Noam(Section):
    """The paper's section 5.3: linear rise for `warmup` steps, then a fall with 1/√step."""

    name: Literal["noam"] = Field(default="noam", description="the paper's schedule")
    factor: Positive = Field(default=1.0, description="scales the whole schedule")
    warmup: Count = Field(default=4000, description="steps of linear rise")


class InverseSquareRoot(Section):
    """Linear rise to a peak, then a fall with 1/√step."""

    name: Literal["inverse-sqrt"] = Field(
        description="the paper's shape with a peak that you choose"
    )
    learning_rate: Positive = Field(description="learning rate at the peak")
    warmup: Count = Field(default=4000, description="steps of linear rise")


class Cosine(Section):
    """Linear rise to a peak, then half a cosine down."""

    name: Literal["cosine"] = Field(description="half a cosine from the peak to the end")
    learning_rate: Positive = Field(description="learning rate at the peak")
    warmup: NaturalNumber = Field(default=0, description="steps of linear rise")
    steps: Count = Field(description="step at which the cosine ends")
    final: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.0, description="learning rate at the end, as a share of the peak"
    )

    @model_validator(mode="after")
    def _time_to_fall(self) -> "Cosine":
        if self.warmup >= self.steps:
            raise ValueError(f"warmup = {self.warmup} must be less than steps = {self.steps}")
        return self


class Constant(Section):
    """One learning rate throughout, after an optional linear rise; for fine-tuning."""

    name: Literal["constant"] = Field(description="one learning rate throughout")
    learning_rate: Positive = Field(description="learning rate after the warm-up")
    warmup: NaturalNumber = Field(default=0, description="steps of linear rise")


class Trapezoid(Section):
    """Linear rise to a peak, then constant, then a linear fall over the last `decay` steps.

    Until the fall it equals "constant": a run with that schedule can be resumed with this one.
    """

    name: Literal["trapezoid"] = Field(description="constant, then a linear fall at the end")
    learning_rate: Positive = Field(description="learning rate between the rise and the fall")
    warmup: NaturalNumber = Field(default=0, description="steps of linear rise")
    decay: Count = Field(description="steps of linear fall, the last ones before `steps`")
    steps: Count = Field(description="step at which the fall has ended")
    final: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.0, description="learning rate at the end, as a share of the peak"
    )

    @model_validator(mode="after")
    def _rises_before_it_falls(self) -> "Trapezoid":
        if self.warmup + self.decay > self.steps:
            raise ValueError(
                f"warmup = {self.warmup} and decay = {self.decay} do not fit into "
                f"steps = {self.steps}"
            )
        return self


ScheduleSection = Annotated[
    Noam | InverseSquareRoot | Cosine | Constant | Trapezoid, Field(discriminator="name")
]


def noam(step: int, d_model: int, factor: float, warmup: int) -> float:
    """Section 5.3, equation 3, times `factor`:

    d_model^-0.5 * min(step^-0.5, step * warmup^-1.5)
    """
    return float(factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))


def inverse_square_root(step: int, peak: float, warmup: int) -> float:
    """The shape of section 5.3 with any `peak`, which is reached at step `warmup`:

    peak * min(step / warmup, (warmup / step)^0.5)
    """
    return float(peak * min(step / warmup, (warmup / step) ** 0.5))


def cosine(step: int, section: Cosine) -> float:
    """Linear rise to the peak at step `warmup`, then half a cosine (Loshchilov and Hutter 2017,
    equation 5, without restarts) down to `final` times the peak at step `steps`, then constant:

    peak * (final + (1 - final) * (1 + cos(pi * share)) / 2)
    """
    if step < section.warmup:
        return constant(step, section.learning_rate, section.warmup)
    share = min(1.0, (step - section.warmup) / (section.steps - section.warmup))
    height = (1 + math.cos(math.pi * share)) / 2
    return section.learning_rate * (section.final + (1 - section.final) * height)


def constant(step: int, peak: float, warmup: int) -> float:
    """Linear rise to the peak at step `warmup`, then the peak: peak * min(1, step / warmup)."""
    return peak * min(1.0, step / warmup) if warmup else peak


def trapezoid(step: int, section: Trapezoid) -> float:
    """`constant` until the last `decay` steps (Hägele et al. 2024; the linear fall is that of Zhai
    et al. 2022), in which the rate falls to `final` times the peak at step `steps`; then constant:

    constant * (1 - (1 - final) * share), `share` being the part of the fall that is done
    """
    share = min(1.0, max(0.0, 1 - (section.steps - step) / section.decay))
    plain = constant(step, section.learning_rate, section.warmup)
    return plain * (1 - (1 - section.final) * share)


def learning_rate(section: ScheduleSection, step: int, d_model: int) -> float:
    """The learning rate of a recipe's [schedule] at a step, the first being 1."""
    match section:
        case Noam():
            return noam(step, d_model, section.factor, section.warmup)
        case InverseSquareRoot():
            return inverse_square_root(step, section.learning_rate, section.warmup)
        case Cosine():
            return cosine(step, section)
        case Constant():
            return constant(step, section.learning_rate, section.warmup)
        case Trapezoid():
            return trapezoid(step, section)


def never_peaks(section: ScheduleSection, steps: int) -> str | None:
    """A warning if a run of `steps` steps ends within the warm-up, else None."""
    if section.warmup < steps:
        return None
    return (
        f"the learning rate rises for {section.warmup:,} steps (schedule.warmup) and the run has "
        f"{steps:,}: it never reaches its peak, and little may be learnt; "
        f"try schedule.warmup={steps // 10}"
    )
