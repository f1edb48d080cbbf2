"""Where a model computes: a torch device by its name."""

import torch

from allyouneed.errors import UsageError


def named_device(name: str) -> torch.device:
    """The device that torch calls by this name ("cpu", "cuda:1"), after using it once.

    Raises:
        UsageError: no such device here; it names those that are.
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError) as error:
        here = ["cpu", *(f"cuda:{n}" for n in range(torch.cuda.device_count()))]
        here += ["mps"] if torch.backends.mps.is_available() else []
        raise UsageError(
            f"device={name!r} cannot be used; choose from {', '.join(here)} "
            f"({str(error).splitlines()[0]})"
        ) from error
    return device
