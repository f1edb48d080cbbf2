"""Opening a model of any kind."""

from pathlib import Path
from typing import Any

from allyouneed.errors import UsageError
from allyouneed.model_folder import open_model_folder
from allyouneed.translator import Translator
from allyouneed.translator import load as load_translator


def load(
    name_or_folder: str | Path,
    engine: str = "auto",
    device: str | None = None,
    threads: int | None = None,
    *,
    vocabulary_selection: bool = False,
) -> Translator | Any:
    """Opens a bundled model by name ("en-de") or a model folder, ready for texts.

    A translator's folder gives a `Translator`, that of a model without a decoder an `EncoderModel`
    (which is why the type is Any beside: what a folder holds is not in its name).

    `engine` is what runs it: "core" (the paper's code, in float32, on any device), "cpu-float32",
    "cpu-int8", "cuda", or "auto", the fastest that there is for the device; a model without a
    decoder runs on the core alone. `device` is a torch device such as "cuda", None being the CPU;
    `threads` how many cores may be used. `vocabulary_selection` lets a translation have only the
    pieces that its source can need, as learned by `allyouneed select-vocabulary`: faster, and now
    and then another word.

    Raises:
        ModelFolderError: no such model, or one that cannot be read.
        UsageError: an engine, device, number of threads or vocabulary selection that is not there.
    """
    folder = open_model_folder(name_or_folder)
    if folder.heads is None:
        return load_translator(
            folder, engine, device, threads, vocabulary_selection=vocabulary_selection
        )
    from allyouneed.encoder_model import EncoderModel

    if engine not in ("auto", "core") or vocabulary_selection:
        raise UsageError(
            f"engine={engine!r}, vocabulary_selection={vocabulary_selection}: {folder.path} holds "
            "a model without a decoder, which runs on the core alone; leave them out"
        )
    return EncoderModel.open(folder, device, threads)
