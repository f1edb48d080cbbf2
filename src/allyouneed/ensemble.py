"""Several models that translate as one."""

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from allyouneed.decoding.ensemble import Ensemble
from allyouneed.engine.torch_engine import TorchEngine
from allyouneed.errors import UsageError
from allyouneed.translator import Translator, load


def load_ensemble(
    models: Sequence[str | Path], *, device: str | None = None, threads: int | None = None
) -> Translator:
    """A translator that searches the mean of the models' probabilities (the core, on one device).

    It has no attention of its own. Names, folders and the rest are as for `load`.

    Raises:
        ModelFolderError: as `load`.
        UsageError: no model, or models whose pieces of text differ.
    """
    if not models:
        raise UsageError("an ensemble needs at least one model")
    members = [load(name, engine="core", device=device, threads=threads) for name in models]
    first = members[0]
    for name, member in zip(models, members, strict=True):
        if member.tokenizer.fingerprint() != first.tokenizer.fingerprint():
            raise UsageError(
                f"{name} has another tokenizer than {models[0]}; only models that share one can "
                "decide together, such as runs that differ in their seed"
            )
    engine = TorchEngine(
        "core",
        f"{len(members)} models, float32, torch",
        Ensemble([member.model for member in members]),
        first.device,
    )
    return Translator(
        engine,
        first.tokenizer,
        _no_single_model,
        device=first.device,
        trained_length=min(member.known_length for member in members),
    )


def _no_single_model() -> NoReturn:
    raise UsageError("several models have no weights or attention in common; ask one of them")
