"""A model is a folder: config.json, model.safetensors, tokenizer.json, README.md, training.json.

`open_model_folder` reads one by path or bundled name; `save_model_folder` writes one whole or not
at all.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING, Any, TypeVar

from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.errors import ModelFolderError, nearest, needs_torch
from allyouneed.files import old_folder, whole_folder
from allyouneed.model_folder.config import (
    FORMAT_VERSION,
    Heads,
    alignment_heads_of,
    heads_of,
    known_normaliser,
    languages_of,
    read_config,
    reply_history,
    transformer_config,
    unreadable,
)
from allyouneed.model_folder.places import imported_models
from allyouneed.model_folder.weights.file import check_plain_file
from allyouneed.model_folder.weights.shapes import check_size
from allyouneed.text.conversation import History
from allyouneed.text.languages import Languages
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
VOCABULARY_SELECTION = "vocabulary_selection.safetensors"  # part of a model that may be missing


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model folder that has been opened: its path, configuration and tokenizer.

    `languages` are (source, target) as the recipe names them, empty where unknown.
    `trained_length` is the source length, in tokens, that training covered well; None if unknown.
    `history` is how a model that replies sees a conversation; None for a translator.
    `heads` are those of a model without a decoder; None for one with a decoder.
    `normaliser` is the name of how texts are written for the model; None: as they are typed.
    `alignment_heads` are what alignments are read from; None: all heads of the last layer.
    `multilingual` says how a model of several directions is told which is meant; None for one.
    """

    path: Path
    config: TransformerConfig
    tokenizer: AnyTokenizer
    languages: tuple[str, str] = ("", "")
    trained_length: int | None = None
    history: History | None = None
    heads: Heads | None = None
    normaliser: str | None = None
    alignment_heads: AlignmentHeads | None = None
    multilingual: Languages | None = None

    @property
    def speaks(self) -> Languages:
        """The languages that can be asked for, of a model of one direction too."""
        return self.multilingual or Languages.of_pair(*self.languages)

    @needs_torch("a model in torch")
    def load_model(self) -> "Transformer":
        """The Transformer with this folder's weights, in float32, ready to translate (`eval`).

        Raises:
            ModelFolderError: weights that are missing, damaged, pickled or of another shape, a
                configuration too large for this machine, or a model without a decoder.
        """
        from allyouneed.core.transformer import Transformer

        self.check_translates()
        return self._filled(lambda: Transformer(self.config))

    @needs_torch("a model in torch")
    def load_encoder(self) -> "EncoderOnly":
        """The model of a folder that has `heads`, in float32, ready to be used (`eval`).

        Raises:
            ModelFolderError: as `load_model`; or it is a translator.
        """
        from allyouneed.core.encoder_only import build_encoder_only

        if self.heads is None:
            raise ModelFolderError(
                f"{self.path} holds a model that writes, not an encoder with heads of its own; "
                f"use it with `allyouneed {'chat' if self.history else 'translate'}`"
            )
        parts = self.heads.parts()
        return self._filled(lambda: build_encoder_only(self.config, **parts))

    def load_arrays(self) -> "Mapping[str, NDArray[np.float32]]":
        """All weights by name, as read-only NumPy arrays in float32, without torch.

        Each is read from the file when it is asked for, and is not kept.

        Raises:
            ModelFolderError: weights that are missing, damaged, pickled or of another shape, or a
                model without a decoder.
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
                f"{self.path / CONFIG}: model.segments={self.config.segments} in a translator, "
                "which tells none apart; leave it out"
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
        except (RuntimeError, TypeError, OverflowError) as error:  # what torch says to such sizes
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
    """Where the bundled model of this name lies."""
    return Path(str(resources.files("allyouneed") / "models" / name))


def open_model_folder(name_or_path: str | Path) -> ModelFolder:
    """Opens a folder, or a bundled model by its name, and checks its configuration.

    A string that is a bundled model's name means that model, whatever lies in the working
    directory; a folder of the same name is given as "./NAME" or as a Path. A string that is no
    folder may be the name of an imported model (`places.models_home`).

    Raises:
        ModelFolderError: no such folder or name, no model in it, or a format this version does
            not read; the message says what to do.
    """
    path = _locate(name_or_path)
    document = read_config(path / CONFIG)
    config = transformer_config(path / CONFIG, document["model"])
    check_size(config, path / WEIGHTS)
    check_plain_file(path / TOKENIZER)
    tokenizer = open_tokenizer(path / TOKENIZER)
    check_fit(config, tokenizer, path)
    languages = (document.get("source_language", ""), document.get("target_language", ""))
    history = reply_history(path / CONFIG, document)
    heads = heads_of(path / CONFIG, document["heads"]) if "heads" in document else None
    length = document.get("trained_length")
    normaliser = known_normaliser(path / CONFIG, document)
    alignment = alignment_heads_of(path / CONFIG, document)
    many = languages_of(path / CONFIG, document, config)
    return ModelFolder(
        path, config, tokenizer, languages, length, history, heads, normaliser, alignment, many
    )


@needs_torch("saving a model")
def save_model_folder(
    path: Path,
    model: "AnyModel",
    tokenizer: AnyTokenizer,
    *,
    heads: Heads | None = None,
    languages: tuple[str, str] = ("", ""),
    multilingual: Languages | None = None,
    trained_length: int | None = None,
    history: History | None = None,
    normaliser: str | None = None,
    alignment_heads: AlignmentHeads | None = None,
    card: str = "",
    training: Mapping[str, Any] | None = None,
    dtype: "torch.dtype | None" = None,
) -> None:
    """Writes the folder beside `path` and renames it into place, replacing an older one.

    Of tied weights the file holds the one that the model's `tied_weights` points to. `heads` say
    what an `EncoderOnly` has and what its labels are called. `normaliser` names how texts are
    written for the model. `card` is the README, `training` the content of training.json, `dtype`
    that of the stored weights (float32 where it is None; of matrices in int8 every row has a
    scale).
    Files in an older folder that are no part of a model are kept.

    Raises:
        ModelFolderError: a tokenizer or heads that do not fit the model, a `path` that holds other
            things than a model, or one that cannot be written; an older folder is intact then.
    """
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    from allyouneed.model_folder.weights.model import check_heads, stored, untied_weights

    path = Path(path).resolve()
    check_fit(model.config, tokenizer, path)
    check_heads(model, heads, path)
    config = {
        "format": "allyouneed",
        "format_version": FORMAT_VERSION,
        "source_language": languages[0],
        "target_language": languages[1],
        "trained_length": trained_length,
        **({} if normaliser is None else {"normaliser": normaliser}),
        **({} if history is None else {"history": asdict(history)}),
        **({} if alignment_heads is None else {"alignment_heads": asdict(alignment_heads)}),
        "model": asdict(model.config),
        **({} if heads is None else {"heads": asdict(heads)}),
        **({} if multilingual is None else {"languages": multilingual.to_dict()}),
    }
    weights = stored(untied_weights(model), dtype or torch.float32)
    try:
        _check_replaceable(path)
        with whole_folder(path, replaces=(*FILES, VOCABULARY_SELECTION)) as beside:
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
    """Raises ModelFolderError where this tokenizer's ids are not those that the model was built
    for; `path` is the folder of both."""
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
    known = bundled_models()
    if isinstance(name_or_path, str) and name_or_path in known:
        return bundled_folder(name_or_path)
    path = Path(name_or_path)
    try:
        if S_ISDIR(path.stat().st_mode):
            return path
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:  # ValueError: a NUL in it
        imported = imported_models()
        if isinstance(name_or_path, str) and name_or_path in imported:
            return imported[name_or_path]
        raise ModelFolderError(_no_such_model(path, known, list(imported))) from error
    except OSError as error:
        raise unreadable(path, error) from error
    perhaps = f", perhaps {path.parent}" if (path.parent / CONFIG).is_file() else ""
    raise ModelFolderError(f"{path} is a file; give the model folder{perhaps}")


def _no_such_model(path: Path, known: list[str], imported: list[str]) -> str:
    if path.name and "\0" not in path.name and old_folder(path).is_dir():
        return (
            f"{path} is missing: a process was killed while replacing it; the earlier model is "
            f"whole in {old_folder(path)}, rename that to {path.name}"
        )
    guess = nearest(str(path), [*known, *imported])
    return (
        f"there is no model {str(path)!r}: no folder of that name, and the bundled models are "
        + (", ".join(known) or "none")
        + (f", the imported ones {', '.join(imported)}" if imported else "")
        + (f"; did you mean {guess}?" if guess else "")
    )


def _check_replaceable(path: Path) -> None:
    """Raises ModelFolderError for all but a model folder, an empty one, or none."""
    if path.exists() and not (
        path.is_dir() and ((path / CONFIG).is_file() or not any(path.iterdir()))
    ):
        raise ModelFolderError(
            f"{path} holds other things than a model and is left as it is; choose another folder"
        )
