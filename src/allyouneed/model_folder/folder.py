"""Model folders: config.json, model.safetensors, tokenizer.json, README.md, training.json.

`open_model_folder` reads a folder, given its path or a bundled model's name. `save_model_folder`
writes a folder. If writing fails, an older folder is unchanged.
"""

import errno
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING, Any, TypeVar

from allyouneed.checks import shortened
from allyouneed.core.config import TransformerConfig
from allyouneed.errors import ModelFolderError, UsageError, nearest, needs_torch
from allyouneed.files import old_folder, whole_folder
from allyouneed.model_folder.config import (
    FORMAT_VERSION,
    alignment_heads_of,
    heads_of,
    known_normaliser,
    languages_of,
    length_penalty_of,
    read_config,
    reply_history,
    term_mark_of,
    transformer_config,
    unreadable,
)
from allyouneed.model_folder.places import imported_models
from allyouneed.model_folder.traits import Traits
from allyouneed.model_folder.weights.file import check_plain_file
from allyouneed.model_folder.weights.shapes import check_size
from allyouneed.text.opening import open_tokenizer
from allyouneed.text.protocol import AnyTokenizer

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

    from allyouneed.core.encoder_only import EncoderOnly
    from allyouneed.core.transformer import Transformer
    from allyouneed.model_folder.weights.model import AnyModel

Model = TypeVar("Model", "Transformer", "EncoderOnly")
CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
CARD, TRAINING = "README.md", "training.json"
FILES = (CONFIG, WEIGHTS, TOKENIZER, CARD, TRAINING)
VOCABULARY_SELECTION = "vocabulary_selection.safetensors"  # an optional file of the folder
CONFIDENCE = "confidence.json"  # another one, by `allyouneed calibrate`


@dataclass(frozen=True, slots=True)
class ModelFolder(Traits):
    """An opened model folder: its path, configuration, tokenizer and traits."""

    path: Path
    config: TransformerConfig
    tokenizer: AnyTokenizer

    @needs_torch("a model in torch")
    def load_model(self) -> "Transformer":
        """The Transformer with this folder's weights, in float32 and evaluation mode.

        Raises:
            ModelFolderError: the weights are missing, damaged, pickled or of another shape; the
                model is too large for this machine, or has no decoder.
        """
        from allyouneed.core.transformer import Transformer

        self.check_translates()
        return self._filled(lambda: Transformer(self.config))

    @needs_torch("a model in torch")
    def load_encoder(self) -> "EncoderOnly":
        """The encoder and heads with this folder's weights, in float32 and evaluation mode.

        Raises:
            ModelFolderError: as in `load_model`; or the model has a decoder.
        """
        from allyouneed.core.encoder_only import build_encoder_only

        if self.heads is None:
            raise ModelFolderError(
                f"{self.path} holds a model with a decoder, not an encoder with heads; "
                f"use it with `allyouneed {'chat' if self.history else 'translate'}`"
            )
        parts = self.heads.parts()
        return self._filled(lambda: build_encoder_only(self.config, **parts))

    def load_arrays(self) -> "Mapping[str, NDArray[np.float32]]":
        """All weights by name, as read-only NumPy arrays in float32. Needs no torch.

        Each look-up reads the array from the file; arrays are not kept.

        Raises:
            ModelFolderError: the weights are missing, damaged, pickled or of another shape, or the
                model has no decoder.
        """
        from allyouneed.model_folder.weights.arrays import StoredArrays

        self.check_translates()
        return StoredArrays(self.path / WEIGHTS, self.config)

    def check_translates(self) -> None:
        """Raises ModelFolderError for a model without a decoder."""
        if self.heads is not None:
            raise ModelFolderError(
                f"{self.path} holds an encoder without a decoder, which cannot translate; use it "
                "with `allyouneed predict`, `fill` or `encode`"
            )
        if self.config.segments:
            raise ModelFolderError(
                f"{self.path / CONFIG}: model.segments={self.config.segments}, but a translation "
                "model has no segments; leave it out"
            )

    def _filled(self, build: "Callable[[], Model]") -> "Model":
        from allyouneed.model_folder.weights.model import (
            WeightsLeftUnset,
            fill_weights,
            read_weights,
        )

        weights = read_weights(self.path / WEIGHTS)
        try:
            with WeightsLeftUnset():
                model = build()
        except (RuntimeError, TypeError, OverflowError) as error:  # torch's errors for huge sizes
            raise ModelFolderError(
                f"{self.path / CONFIG} describes a model that cannot be built here: "
                f"{str(error).splitlines()[0]}"
            ) from error
        fill_weights(model, weights, self.path / WEIGHTS)
        return model.eval()


def bundled_models() -> list[str]:
    """Names of the models that come with the package."""
    folder = resources.files("allyouneed") / "models"
    if not folder.is_dir():
        return []
    return sorted(entry.name for entry in folder.iterdir() if (entry / CONFIG).is_file())


def bundled_folder(name: str) -> Path:
    """The folder of the bundled model of this name."""
    return Path(str(resources.files("allyouneed") / "models" / name))


def open_model_folder(name_or_path: str | Path) -> ModelFolder:
    """The model folder at a path or of a bundled or imported model's name, with checked contents.

    A string that is a bundled model's name means that model. A folder of the same name in the
    working directory must be given as "./NAME" or as a Path. A string that is not a model folder
    may be the name of an imported model (`places.models_home`).

    Raises:
        UsageError: the name is empty, or neither a text nor a path.
        ModelFolderError: no such folder or name, no model in the folder, or a format that this
            version does not read. The message says what to do.
    """
    path = _locate(name_or_path)
    document = read_config(path / CONFIG)
    config = transformer_config(path / CONFIG, document["model"])
    check_size(config, path / WEIGHTS)
    check_plain_file(path / TOKENIZER)
    tokenizer = open_tokenizer(path / TOKENIZER)
    check_fit(config, tokenizer, path)
    file = path / CONFIG
    return ModelFolder(
        path,
        config,
        tokenizer,
        languages=(document.get("source_language", ""), document.get("target_language", "")),
        trained_length=document.get("trained_length"),
        history=reply_history(file, document),
        heads=heads_of(file, document["heads"]) if "heads" in document else None,
        normaliser=known_normaliser(file, document),
        alignment_heads=alignment_heads_of(file, document),
        multilingual=languages_of(file, document, config),
        term_mark=term_mark_of(file, document, config),
        length_penalty=length_penalty_of(file, document),
        set_phrases=document.get("set_phrases", False),
    )


@needs_torch("saving a model")
def save_model_folder(
    path: Path,
    model: "AnyModel",
    tokenizer: AnyTokenizer,
    traits: Traits = Traits(),  # noqa: B008 - it is frozen
    *,
    card: str = "",
    training: Mapping[str, Any] | None = None,
    dtype: "torch.dtype | None" = None,
    steps: Mapping[str, float] | None = None,
) -> None:
    """Writes a model folder next to `path` and renames it to `path`, in place of an older one.

    A shared weight is stored once, under the name that the model's `tied_weights` gives. `card` is
    the content of README.md, `training` that of training.json. `dtype` is the type of the stored
    weights; None means float32. In int8 each row of a matrix is stored with a scale. `steps` names
    matrices that were in int8 before: their numbers are whole multiples, at most 127, of a step.
    They are stored in int8 again, without loss. Files in an older folder that do not belong to a
    model are kept.

    Raises:
        ModelFolderError: the tokenizer or the heads do not fit the model, `path` holds something
            other than a model, or the folder cannot be written. An older folder is then unchanged.
    """
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    from allyouneed.model_folder.weights.model import check_heads, stored, untied_weights

    path = Path(path).resolve()
    check_fit(model.config, tokenizer, path)
    check_heads(model, traits.heads, path)
    config = {
        "format": "allyouneed",
        "format_version": FORMAT_VERSION,
        **traits.document(),
        "model": asdict(model.config),
    }
    weights = stored(untied_weights(model), dtype or torch.float32, steps)
    try:
        _check_replaceable(path)
        with whole_folder(path, replaces=(*FILES, VOCABULARY_SELECTION, CONFIDENCE)) as beside:
            (beside / CONFIG).write_text(_json(config), encoding="utf-8")
            save_file(weights, beside / WEIGHTS)
            tokenizer.save(beside / TOKENIZER)
            (beside / CARD).write_text(card, encoding="utf-8")
            (beside / TRAINING).write_text(_json(dict(training or {})), encoding="utf-8")
    except (OSError, SafetensorError) as error:
        raise ModelFolderError(
            f"{path} could not be written: {error}; make room, or choose another place"
        ) from error


def check_fit(config: TransformerConfig, tokenizer: AnyTokenizer, path: Path) -> None:
    """Raises ModelFolderError if the tokenizer's size or special ids differ from the model's.

    Errors name the folder `path`.
    """
    remedy = f"{CONFIG} and {TOKENIZER} must come from one model"
    for name, side in (("vocabulary", tokenizer.target), ("source_vocabulary", tokenizer)):
        if getattr(config, name) not in (None, len(side)):
            raise ModelFolderError(
                f"{path}: the tokenizer has {len(side)} pieces, but the model's {name} is "
                f"{getattr(config, name)}; {remedy}"
            )
        if (config.pad, config.end) != (side.PAD, side.END):
            raise ModelFolderError(
                f"{path}: the tokenizer has pad={side.PAD} and end={side.END}, but the model "
                f"has pad={config.pad} and end={config.end}; {remedy}"
            )


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, indent=2) + "\n"


def _locate(name_or_path: str | Path) -> Path:
    if not isinstance(name_or_path, str | os.PathLike):
        raise UsageError(
            f"{shortened(name_or_path)} is no model; give a name or the path of a model folder"
        )
    if name_or_path == "":  # as a path, it is the working directory
        raise UsageError("the name of the model is empty; give a name or a path")
    known = bundled_models()
    if isinstance(name_or_path, str) and name_or_path in known:
        return bundled_folder(name_or_path)
    path = Path(name_or_path)
    try:
        if S_ISDIR(path.stat().st_mode):
            # A model is often imported from a folder of its name in the working directory.
            other = imported_models().get(name_or_path) if isinstance(name_or_path, str) else None
            return other if other and not _holds_a_model(path) else path
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:  # ValueError: a NUL byte
        imported = imported_models()
        if isinstance(name_or_path, str) and name_or_path in imported:
            return imported[name_or_path]
        raise ModelFolderError(_no_such_model(path, known, list(imported))) from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise ModelFolderError(
                f"there is no model {shortened(str(path))}: the name is too long"
            ) from error
        raise unreadable(path, error) from error
    perhaps = f", perhaps {path.parent}" if (path.parent / CONFIG).is_file() else ""
    raise ModelFolderError(f"{path} is a file; give the model folder{perhaps}")


def _holds_a_model(path: Path) -> bool:
    try:
        return bool(read_config(path / CONFIG))
    except ModelFolderError:
        return False


def _no_such_model(path: Path, known: list[str], imported: list[str]) -> str:
    if path.name and "\0" not in path.name and old_folder(path).is_dir():
        return (
            f"{path} is missing: a process was killed while it replaced this model. The earlier "
            f"model is complete in {old_folder(path)}; rename that folder to {path.name}"
        )
    guess = nearest(str(path), [*known, *imported])
    return (
        f"there is no model {str(path)!r}: no folder of that name, "
        f"and the bundled models are {', '.join(known) or 'none'}"
        + (f", the imported ones {', '.join(imported)}" if imported else "")
        + (f"; did you mean {guess}?" if guess else "")
    )


def _check_replaceable(path: Path) -> None:
    """Raises ModelFolderError unless `path` is a model folder, an empty folder, or missing."""
    if path.exists() and not (
        path.is_dir() and ((path / CONFIG).is_file() or not any(path.iterdir()))
    ):
        raise ModelFolderError(
            f"{path} holds something other than a model and was not changed; choose another folder"
        )
