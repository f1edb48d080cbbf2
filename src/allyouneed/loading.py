"""Opening models: one of any kind, or several that translate as one."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn, TypeVar, overload

from allyouneed.checks import expect_list, shortened
from allyouneed.engine.choice import check_engine, choose
from allyouneed.errors import UsageError, needs_torch
from allyouneed.model_folder.folder import ModelFolder, open_model_folder
from allyouneed.translation.rules import TextRules
from allyouneed.translation.translator import Translator

if TYPE_CHECKING:
    from allyouneed.encoder_only.model import EncoderModel

__all__ = ["load", "load_ensemble"]

Named = str | Path | ModelFolder
Kind = TypeVar("Kind", "Translator", "EncoderModel")


@overload
def load(
    name_or_folder: Literal["en-de", "de-en", "en-es-fr", "en-it-pt", "en-nl-sv"],
    engine: str = "auto",
    device: str | None = None,
    threads: int | None = None,
    *,
    vocabulary_selection: bool = False,
) -> Translator: ...


@overload
def load(
    name_or_folder: Named,
    engine: str = "auto",
    device: str | None = None,
    threads: int | None = None,
    *,
    vocabulary_selection: bool = False,
    kind: type[Kind],
) -> Kind: ...


@overload
def load(
    name_or_folder: Named,
    engine: str = "auto",
    device: str | None = None,
    threads: int | None = None,
    *,
    vocabulary_selection: bool = False,
) -> "Translator | EncoderModel": ...


def load(
    name_or_folder: Named,
    engine: str = "auto",
    device: str | None = None,
    threads: int | None = None,
    *,
    vocabulary_selection: bool = False,
    kind: type | None = None,
) -> "Translator | EncoderModel":
    """Opens a bundled or imported model by name ("en-de") or a model folder, ready for texts.

    The folder of a translation model gives a `Translator`, the folder of a model without a decoder
    an `EncoderModel`. `kind` names the one that the caller needs; type checkers then know it too.

    `engine` is what runs the model: "core" (the paper's code, in float32, on any device),
    "cpu-float32", "cpu-int8", "cuda", or "auto", the fastest one available for the device. Models
    without a decoder run on the core alone. `device` is a torch device such as "cuda"; None is the
    CPU. `threads` is the number of cores that may be used. `vocabulary_selection` limits each
    translation to the pieces that its source is likely to need, as `allyouneed select-vocabulary`
    learned them. This is faster and now and then changes a word.

    Raises:
        ModelFolderError: there is no such model, it cannot be read, or it is not of this `kind`.
        UsageError: the engine, device, number of threads or vocabulary selection does not exist.
    """
    check_engine(engine, device, threads)
    given = name_or_folder
    folder = given if isinstance(given, ModelFolder) else open_model_folder(given)
    if folder.heads is None and kind in (None, Translator):
        return _translator(folder, engine, device, threads, vocabulary_selection)
    if kind is Translator:
        folder.check_translates()
    elif folder.heads is None:
        raise UsageError(
            f"{folder.path} holds a translation model; leave kind={shortened(kind)} out"
        )
    with needs_torch("a model without a decoder"):
        from allyouneed.encoder_only.model import EncoderModel

    if engine not in ("auto", "core") or vocabulary_selection:
        raise UsageError(
            f"engine={engine!r}, vocabulary_selection={vocabulary_selection}: {folder.path} holds "
            "a model without a decoder, which runs on the core alone; leave them out"
        )
    return EncoderModel.open(folder, device, threads)


def load_ensemble(
    models: Sequence[str | Path], *, device: str | None = None, threads: int | None = None
) -> Translator:
    """A translator that searches with the mean of the models' probabilities.

    The core engine runs all models on one device. The ensemble has no attention of its own. Names,
    folders and the other arguments are as for `load`.

    Raises:
        ModelFolderError: as `load`.
        UsageError: no model was given, or the models' tokenizers differ.
    """
    with needs_torch("an ensemble"):
        from allyouneed.decoding.ensemble import Ensemble
        from allyouneed.engine.torch_engine import TorchEngine

    expect_list(models, "models", "a list of names or folders of models")
    if not models:
        raise UsageError("an ensemble needs at least one model")
    members = [
        load(name, engine="core", device=device, threads=threads, kind=Translator)
        for name in models
    ]
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
    rules = TextRules(
        trained_length=min(member.known_length for member in members),
        normaliser=first.rules.normaliser,
        language=first.rules.language,
        term_mark=first.rules.term_mark,
        length_penalty=first.rules.length_penalty,
    )
    return Translator(
        engine,
        first.tokenizer,
        _no_single_model,
        rules,
        device=first.device,
        name=f"{len(members)} models",
        notes=[note for member in members for note in member.notes],
        reopen=partial(load_ensemble, list(models), device=device, threads=threads),
    )


def _translator(
    folder: ModelFolder,
    engine: str,
    device: str | None,
    threads: int | None,
    vocabulary_selection: bool,
) -> Translator:
    """The translator of a folder, its engine chosen for this machine."""
    selection = None
    if vocabulary_selection:
        from allyouneed.model_folder.vocabulary_selection import open_vocabulary_selection

        selection = open_vocabulary_selection(folder)
    chosen = choose(engine, folder, device, threads)
    chosen.engine.selection = selection
    return Translator(
        chosen.engine,
        folder.tokenizer,
        chosen.core,
        TextRules.of(folder),
        device=chosen.device,
        name=folder.path.name,
        notes=chosen.notes,
        reopen=partial(
            load,
            folder.path,
            engine,
            device,
            threads,
            vocabulary_selection=vocabulary_selection,
            kind=Translator,
        ),
    )


def _no_single_model() -> NoReturn:
    raise UsageError(
        "an ensemble has no single set of weights or attention; load one of its models"
    )
