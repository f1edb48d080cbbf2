"""The learning rate as a function of the step; steps count from 1."""

import math

from allyouneed.training.sections import Constant, Cosine, InverseSquareRoot, Noam


def noam(step: int, d_model: int, factor: float, warmup: int) -> float:
    """Section 5.3, equation 3, times `factor`:

    d_model^-0.5 * min(step^-0.5, step * warmup^-1.5)
    """
    return float(factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))


def inverse_square_root(step: int, peak: float, warmup: int) -> float:
    """The shape of section 5.3 with a peak of its own, reached at step `warmup`:

    peak * min(step / warmup, (warmup / step)^0.5)
    """
    return float(peak * min(step / warmup, (warmup / step) ** 0.5))


def cosine(step: int, section: Cosine) -> float:
    """Linear rise to the peak at step `warmup`, then half a cosine (Loshchilov and Hutter 2017,
    equation 5, without restarts) down to `final` of the peak at step `steps`, and no further:

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


def learning_rate(
    section: Noam | InverseSquareRoot | Cosine | Constant, step: int, d_model: int
) -> float:
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
