"""Imports a model in Marian's own files."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ConfigError, ModelFolderError
from allyouneed.interop.marian.decoder_settings import DecoderSettings
from allyouneed.interop.marian.folder import MarianFiles, find_files, languages
from allyouneed.interop.marian.names import names
from allyouneed.interop.marian.packed_file import read_file
from allyouneed.interop.marian.reading import MarianModel, read_model
from allyouneed.interop.marian.shape import is_searched_otherwise, misfits, shape_of
from allyouneed.interop.marian.shortlist import read_shortlist
from allyouneed.interop.marian.vocabulary import (
    Vocabulary,
    spm_vocabulary,
    table_vocabulary,
    tokenizer_of,
)
from allyouneed.interop.marian.weights import WPOS, our_weights
from allyouneed.interop.new_folder import new_folder
from allyouneed.model_folder.folder import (
    VOCABULARY_SELECTION,
    ModelFolder,
    open_model_folder,
    save_model_folder,
)
from allyouneed.model_folder.traits import Traits
from allyouneed.model_folder.weights.model import WeightsLeftUnset, fill_weights
from allyouneed.text.marian_tokenizer import MarianTokenizer

SPM_SIZE = 64 << 20  # bytes
METADATA = "metadata.json"
METADATA_SIZE = 4 << 20
CARD = """\
# {name}

Imported from {model}, a model of Marian. Its licence is that of the model it was made from.

{facts}

{generation}"""


def import_marian_files(source: Path, into: Path, *, note: Callable[[str], None]) -> ModelFolder:
    """Writes the model at `source`, a folder or the file of weights in it, to `into`, which must be
    empty or must not exist.

    `note` receives the settings of the files that are not followed.

    Raises:
        ModelFolderError: files are missing, damaged or do not fit each other, or `into` cannot be
            written.
        ConfigError: the model has unsupported features; the message lists all of them.
        UsageError: there are several models at `source`, or `into` is in use.
    """
    files = find_files(source)
    read = read_model(files.model)
    found = misfits(read.settings)
    if found:
        raise ConfigError(f"{files.model} has unsupported features: {'; '.join(found)}")
    tokenizer = _tokenizer(files, read)
    decoder = DecoderSettings(files.decoder)
    with new_folder(into) as beside:
        model = _model(files, read, tokenizer, decoder)
        metadata = _metadata(files.path)
        selection = None
        if files.shortlist is not None:
            shared = tokenizer.target_vocabulary is None
            selection = read_shortlist(files.shortlist, tokenizer, shared)
        save_model_folder(
            beside,
            model,
            tokenizer,
            Traits(languages=languages(files, metadata)),
            card=CARD.format(
                name=Path(into).resolve().name,
                model=files.model.name,
                facts="\n".join(f"- {fact}" for fact in _facts(model.config, tokenizer)),
                generation=decoder.card(selection is not None),
            ),
            training={
                "imported_from": "marian",
                "generation": dict(files.decoder),
                **({"metadata": dict(metadata)} if metadata else {}),
            },
            steps={
                ours: read.steps[theirs]
                for ours, theirs in names(model.config, read.settings).items()
                if theirs in read.steps
            },
        )
        if selection is not None:
            selection.save(beside / VOCABULARY_SELECTION, tokenizer)
    for said in decoder.notes(selection is not None):
        note(said)
    if is_searched_otherwise(read.settings):
        note(
            "the model is pre-norm with self-attention in its decoder: it translates here as it "
            "was trained, and Marian's own search leaves out norms of earlier target tokens"
        )
    if "preprocess.sh" in files.unread:
        note("preprocess.sh is not supported: its changes of texts are not made")
    return open_model_folder(Path(into))


def _tokenizer(files: MarianFiles, read: MarianModel) -> MarianTokenizer:
    spms = (read_file(files.spms[0], SPM_SIZE), read_file(files.spms[1], SPM_SIZE))
    sizes = _sizes(files, read)
    vocabularies: tuple[Vocabulary, Vocabulary]
    if files.tables is None:
        vocabularies = (
            spm_vocabulary(files.spms[0], spms[0]),
            spm_vocabulary(files.spms[1], spms[1]),
        )
    else:
        vocabularies = (table_vocabulary(files.tables[0]), table_vocabulary(files.tables[1]))
    codes = files.tables is not None
    return tokenizer_of(files.path, spms, vocabularies, sizes, language_codes=codes)


def _sizes(files: MarianFiles, read: MarianModel) -> tuple[int, int]:
    """The numbers of rows of the source's and target's embeddings."""
    sizes = []
    for name in ("encoder_Wemb", "decoder_Wemb"):
        array = read.arrays.get(name, read.arrays.get("Wemb"))
        if array is None or array.ndim != 2:
            raise ModelFolderError(
                f"{files.model} has no matrix {name} or Wemb; it is no translation model"
            )
        sizes.append(len(array))
    return sizes[0], sizes[1]


def _model(
    files: MarianFiles, read: MarianModel, tokenizer: MarianTokenizer, decoder: DecoderSettings
) -> Transformer:
    try:
        config = _config(read, tokenizer)
        theirs = names(config, read.settings)
        excluded = None if decoder.allows_unknown else tokenizer.target.UNKNOWN
        weights = our_weights(read.arrays, config, theirs, excluded)
    except ConfigError as error:
        raise ConfigError(f"{files.model}: {error}") from error
    with WeightsLeftUnset():
        model = Transformer(config)
    tensors = {name: torch.from_numpy(array) for name, array in weights.items()}
    with torch.no_grad():
        fill_weights(model, tensors, files.model)
    return model.eval()


def _config(read: MarianModel, tokenizer: MarianTokenizer) -> TransformerConfig:
    sizes = (len(tokenizer), len(tokenizer.target))
    positions = None
    if WPOS in read.arrays:  # embeddings are not scaled then
        shape = read.arrays[WPOS].shape
        positions = shape[0]
        if shape != (positions, read.settings.get("dim-emb")):
            raise ConfigError(f"{WPOS}, the trained positions, has the shape {shape}")
    config = shape_of(read.settings, sizes, tokenizer.PAD, tokenizer.END, positions)
    layers = config.encoder_layers + config.decoder_layers
    if layers > len(read.arrays):
        raise ConfigError(f"{layers} layers cannot be in {len(read.arrays)} arrays")
    return config


def _metadata(folder: Path) -> Mapping[str, Any]:
    """The content of Firefox's metadata.json; empty if there is none."""
    file = folder / METADATA
    if not file.is_file():
        return {}
    try:
        found = json.loads(read_file(file, METADATA_SIZE))
    except (ValueError, RecursionError) as error:
        raise ModelFolderError(f"{file} is no JSON: {error}; copy it again") from error
    return found if isinstance(found, dict) else {}


def _facts(config: TransformerConfig, tokenizer: MarianTokenizer) -> list[str]:
    decoder = "SSRU" if config.decoder == "ssru" else "self-attention"
    layers = f"{config.encoder_layers} encoder and {config.decoder_layers} decoder layers"
    return [
        f"{layers} ({decoder}), d_model {config.d_model}, {config.heads} heads",
        f"{len(tokenizer):,} source pieces, {len(tokenizer.target):,} target pieces",
    ]
