"""A model is a folder: config.json, model.safetensors, tokenizer.json, README.md, training.json.

`open_model_folder` reads one by path or bundled name; `save_model_folder` writes one whole or not
at all. Weights are never unpickled.
"""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ConfigError, ModelFolderError, nearest
from allyouneed.text.tokenizer import Tokenizer

FORMAT_VERSION = 1
CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
PICKLES = ("pytorch_model.bin", "model.pt", "model.pth", "model.ckpt", "checkpoint.pt")


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model folder that has been opened: its path, configuration and tokenizer.

    `languages` are (source, target) as the recipe names them, empty where unknown.
    `trained_length` is the source length, in tokens, that training covered well; None if unknown.
    """

    path: Path
    config: TransformerConfig
    tokenizer: Tokenizer
    languages: tuple[str, str] = ("", "")
    trained_length: int | None = None

    def load_model(self) -> Transformer:
        """The Transformer with this folder's weights, in float32, ready to translate (`eval`).

        Raises:
            ModelFolderError: weights that are missing, damaged, pickled or of another shape.
        """
        with torch.random.fork_rng(devices=[]):  # the caller's random numbers stay as they were
            model = Transformer(self.config)
        fill_weights(model, read_weights(self.path / WEIGHTS), self.path / WEIGHTS)
        return model.eval()


def bundled_models() -> list[str]:
    """Names of the models that come with the package."""
    folder = resources.files("allyouneed") / "models"
    return sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []


def open_model_folder(name_or_path: str | Path) -> ModelFolder:
    """Opens a folder, or a bundled model by its name, and checks its configuration.

    Raises:
        ModelFolderError: no such folder or name, no model in it, or a format this version does
            not read; the message says what to do.
    """
    path = _locate(name_or_path)
    if not (path / CONFIG).is_file():
        raise ModelFolderError(f"{path} is no model folder: {CONFIG} is missing")
    config = _read_json(path / CONFIG)
    version = config.get("format_version")
    if config.get("format") != "allyouneed" or not isinstance(version, int):
        raise ModelFolderError(
            f"{path / CONFIG} is not of the format 'allyouneed'; "
            "models of other toolkits have to be imported first"
        )
    if version > FORMAT_VERSION:
        raise ModelFolderError(
            f"{path / CONFIG} has format version {version}; this allyouneed reads up to "
            f"{FORMAT_VERSION}: upgrade it with pip install -U allyouneed"
        )
    return ModelFolder(
        path,
        _transformer_config(path / CONFIG, config.get("model")),
        Tokenizer.load(path / TOKENIZER),
        (str(config.get("source_language", "")), str(config.get("target_language", ""))),
        config.get("trained_length"),
    )


def save_model_folder(
    path: Path,
    model: Transformer,
    tokenizer: Tokenizer,
    *,
    languages: tuple[str, str] = ("", ""),
    trained_length: int | None = None,
    card: str = "",
    training: Mapping[str, Any] | None = None,
    dtype: torch.dtype = torch.float32,
) -> None:
    """Writes the folder beside `path` and renames it into place, replacing an older one.

    Of tied weights the file holds the one that `Transformer.tied_weights` points to. `card` is
    the README, `training` the content of training.json, `dtype` that of the stored weights.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        beside.mkdir(parents=True)
        config = {
            "format": "allyouneed",
            "format_version": FORMAT_VERSION,
            "source_language": languages[0],
            "target_language": languages[1],
            "trained_length": trained_length,
            "model": asdict(model.config),
        }
        (beside / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        save_file(
            {name: tensor.to(dtype) for name, tensor in untied_weights(model).items()},
            beside / WEIGHTS,
        )
        tokenizer.save(beside / TOKENIZER)
        (beside / "README.md").write_text(card, encoding="utf-8")
        (beside / "training.json").write_text(
            json.dumps(dict(training or {}), indent=2) + "\n", encoding="utf-8"
        )
        _replace_folder(beside, path)
    except OSError as error:
        raise ModelFolderError(f"{path} could not be written: {error}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def untied_weights(model: Transformer) -> dict[str, Tensor]:
    """The model's weights by name, each shared one once."""
    tied = model.tied_weights()
    return {
        name: tensor.detach().contiguous()
        for name, tensor in model.state_dict().items()
        if name not in tied
    }


def read_weights(path: Path) -> dict[str, Tensor]:
    """Tensors of a safetensors file, as stored.

    Raises:
        ModelFolderError: a file that is missing, a pickle, or cut short.
    """
    if not path.is_file():
        pickles = [name for name in PICKLES if (path.parent / name).exists()]
        why = f"; {pickles[0]} is a pickle and is not loaded" if pickles else ""
        raise ModelFolderError(f"{path} is missing{why}: weights are kept as safetensors")
    with path.open("rb") as file:
        magic = file.read(2)
    if magic in (b"PK", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"):
        raise ModelFolderError(
            f"{path} is a pickle under another name and is not loaded: it could run any code; "
            "convert it to safetensors where it came from"
        )
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise ModelFolderError(
            f"{path} is damaged or cut short ({error}); copy the folder again"
        ) from error


def fill_weights(model: Transformer, weights: Mapping[str, Tensor], source: Path) -> None:
    """Copies weights into the model, in the model's dtype.

    Raises:
        ModelFolderError: names or shapes that do not fit; `source` is named in it.
    """
    expected = untied_weights(model)
    for complaint, names in (
        ("lacks", expected.keys() - weights.keys()),
        ("has the unknown", weights.keys() - expected.keys()),
    ):
        if names:
            raise ModelFolderError(
                f"{source} does not fit its config: it {complaint} {min(names)} "
                f"({len(names)} such); config and weights must come from one model"
            )
    for name, tensor in expected.items():
        if weights[name].shape != tensor.shape:
            raise ModelFolderError(
                f"{source} does not fit its config: {name} has the shape "
                f"{tuple(weights[name].shape)}, the config needs {tuple(tensor.shape)}"
            )
        tensor.copy_(weights[name])


def _locate(name_or_path: str | Path) -> Path:
    path = Path(name_or_path)
    if path.is_dir():
        return path
    if str(name_or_path) in bundled_models():
        return Path(str(resources.files("allyouneed") / "models" / str(name_or_path)))
    known = bundled_models()
    guess = nearest(str(name_or_path), known)
    raise ModelFolderError(
        f"there is no model {str(name_or_path)!r}: no folder of that name, and the bundled "
        f"models are {', '.join(known)}" + (f"; did you mean {guess}?" if guess else "")
    )


def _transformer_config(path: Path, values: object) -> TransformerConfig:
    known = {field.name for field in fields(TransformerConfig)}
    if not isinstance(values, dict):
        raise ModelFolderError(f'{path} has no table "model" with the shape of the Transformer')
    for key in values:
        if key not in known:
            guess = nearest(key, known)
            raise ModelFolderError(
                f"{path}: unknown key model.{key}" + (f"; did you mean {guess}?" if guess else "")
            )
    try:
        return TransformerConfig(**values)
    except (ConfigError, TypeError) as error:
        raise ModelFolderError(f"{path}: {error}") from error


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelFolderError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(content, dict):
        raise ModelFolderError(f"{path} must hold a JSON object")
    return content


def _replace_folder(new: Path, path: Path) -> None:
    """`path` becomes `new`. A kill between the renames leaves the old one as `.NAME.old`."""
    old = path.with_name(f".{path.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if path.exists():
        path.rename(old)
    new.rename(path)
    shutil.rmtree(old, ignore_errors=True)
