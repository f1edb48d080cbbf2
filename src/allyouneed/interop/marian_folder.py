"""Imports a folder of Hugging Face's `MarianMTModel`, the form in which OPUS-MT is published.

The packages `transformers` and `sentencepiece` are not needed. A pickle, pytorch_model.bin, is
opened only if it holds nothing but tensors (`weights_only`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from allyouneed.core.config import TransformerConfig
from allyouneed.errors import ConfigError, ModelFolderError, ShapeError
from allyouneed.interop.generation import Generation
from allyouneed.interop.huggingface import from_marian, misfits
from allyouneed.interop.new_folder import new_folder
from allyouneed.interop.own_export import ABOUT, read_about, read_own_tokenizer
from allyouneed.interop.pretrained import (
    PICKLE,
    float16_of,
    read_file,
    read_ids,
    read_table,
    read_tensors,
)
from allyouneed.model_folder.folder import (
    CONFIG,
    TOKENIZER,
    WEIGHTS,
    ModelFolder,
    open_model_folder,
    save_model_folder,
)
from allyouneed.model_folder.traits import Traits
from allyouneed.text.marian_tokenizer import LANGUAGE_CODE, MarianTokenizer
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.text.tokenizer import Tokenizer

SOURCE_SPM, TARGET_SPM, VOCABULARY = "source.spm", "target.spm", "vocab.json"
TARGET_VOCABULARY = "target_vocab.json"
TOKENIZER_CONFIG, GENERATION_CONFIG = "tokenizer_config.json", "generation_config.json"
SPECIAL = {"pad": "<pad>", "end": "</s>", "unknown": "<unk>"}
THEIR_SPECIAL = {"pad": "pad_token", "end": "eos_token", "unknown": "unk_token"}

CARD = """\
# {name}

Imported from {source}, a MarianMTModel of Hugging Face. Its licence is that of the model it was
made from.

{facts}
{generation}"""


@dataclass(frozen=True, slots=True)
class _Source:
    """The contents of a folder's files, without the weights."""

    path: Path
    config: Mapping[str, Any]
    tokenizer_config: Mapping[str, Any]
    generation: Generation


def import_marian(source: Path, into: Path, *, note: Callable[[str], None]) -> ModelFolder:
    """Writes the model of the folder `source` to `into`, which must be empty or must not exist.

    `note` receives the settings of the folder that are not followed.

    Raises:
        ModelFolderError: files are missing, damaged or hold more than tensors, tables do not fit
            each other, or `into` cannot be written.
        ConfigError, ShapeError: the model is not Marian's; the message lists what does not fit.
        UsageError: `into` is in use.
    """
    with new_folder(into) as beside:
        files = _read(source)
        tokenizer = _tokenizer(files)
        try:
            weights = read_tensors(source)
            model = from_marian(weights, files.config)
        except (ConfigError, ShapeError) as error:
            raise type(error)(f"{source}: {error}") from error
        _check_ids(source, model.config, tokenizer)
        for said in files.generation.not_followed(model.config.pad) + _not_read(files, tokenizer):
            note(said)
        if files.generation.said:
            note("its generation settings are in README.md, with the options that mean the same")
        save_model_folder(
            beside,
            model,
            tokenizer,
            replace(Traits(languages=_languages(files.tokenizer_config)), **read_about(source)),
            card=CARD.format(
                name=Path(into).resolve().name,
                source=source.resolve().name,
                facts="\n".join(f"- {fact}" for fact in _facts(model.config, tokenizer)),
                generation=files.generation.card(),
            ),
            training={"imported_from": "marian", "generation": files.generation.said},
            dtype=float16_of(weights),
        )
    return open_model_folder(Path(into))


def _read(source: Path) -> _Source:
    theirs = [VOCABULARY, SOURCE_SPM, TARGET_SPM]
    ours = (source / ABOUT).is_file() and not (source / VOCABULARY).is_file()
    needed = [CONFIG, *([TOKENIZER] if ours else theirs)]
    missing = [name for name in needed if not (source / name).is_file()]
    if not any((source / name).is_file() for name in (WEIGHTS, PICKLE)):
        missing.append(f"{WEIGHTS} (or {PICKLE})")
    if missing:
        raise ModelFolderError(
            f"{source} lacks {', '.join(missing)}; a folder of MarianMTModel has the weights and "
            f"{', '.join(needed)}"
        )
    config = read_table(source / CONFIG)
    if reasons := misfits(config):
        raise ConfigError(f"{source} does not fit: {'; '.join(reasons)}")
    optional = [
        read_table(source / name) if (source / name).is_file() else {}
        for name in (TOKENIZER_CONFIG, GENERATION_CONFIG)
    ]
    generation = Generation(config, optional[1], GENERATION_CONFIG if optional[1] else CONFIG)
    return _Source(source, config, optional[0], generation)


def _tokenizer(files: _Source) -> MarianTokenizer | Tokenizer:
    """Marian's tokenizer, or this project's own in a folder that it exported."""
    if not (files.path / VOCABULARY).is_file():
        own = read_own_tokenizer(files.path)
        if own is None:
            raise ModelFolderError(f"{files.path / TOKENIZER} is not of this project's kind")
        return own
    return _of_marian(files)


def _of_marian(files: _Source) -> MarianTokenizer:
    apart = bool(files.tokenizer_config.get("separate_vocabs"))
    path = files.path
    if apart and not (path / TARGET_VOCABULARY).is_file():
        raise ModelFolderError(f"{path} lacks {TARGET_VOCABULARY}, which separate_vocabs asks for")
    vocabulary = read_ids(path / VOCABULARY)
    target_vocabulary = read_ids(path / TARGET_VOCABULARY) if apart else None
    special = {
        name: _special(files.tokenizer_config.get(THEIR_SPECIAL[name], spelt))
        for name, spelt in SPECIAL.items()
    }
    models = [read_file(path / name) for name in (SOURCE_SPM, TARGET_SPM)]
    try:
        return MarianTokenizer.of_files(
            models[0], models[1], vocabulary, target_vocabulary, special
        )
    except (ValueError, ModelFolderError) as error:
        raise ModelFolderError(f"{path}: {error}; it cannot be imported") from error


def _not_read(files: _Source, tokenizer: AnyTokenizer) -> list[str]:
    """Notes about settings of tokenizer_config.json that are not followed."""
    pieces = {tokenizer.piece(id) for id in range(len(tokenizer))}
    added = files.tokenizer_config.get("added_tokens_decoder") or {}
    said = [
        f"{TOKENIZER_CONFIG} adds {piece!r}, which {VOCABULARY} lacks; it is read as other text is"
        for piece in map(_special, added.values())
        if piece not in pieces
    ]
    if settings := files.tokenizer_config.get("sp_model_kwargs"):
        said.append(f"{TOKENIZER_CONFIG} asks for sp_model_kwargs={settings!r}: not followed")
    return said


def _special(piece: Any) -> str:
    """The text of a special piece; some versions write a table with the text in it."""
    return str(piece["content"] if isinstance(piece, Mapping) else piece)


def _check_ids(source: Path, config: TransformerConfig, tokenizer: AnyTokenizer) -> None:
    """Raises ModelFolderError if the tables of ids do not fit the rows of the model."""
    sides = (
        ("vocab_size", config.source_vocabulary or config.vocabulary, tokenizer),
        ("decoder_vocab_size", config.vocabulary, tokenizer.target),
    )
    for name, rows, side in sides:
        if rows != len(side):
            raise ModelFolderError(
                f"{source}: {VOCABULARY} has {len(side)} pieces, but {CONFIG} says {name}={rows}; "
                "the two must come from one model"
            )
        for kind, theirs, ours in (
            ("pad_token_id", config.pad, side.PAD),
            ("eos_token_id", config.end, side.END),
        ):
            if theirs != ours:
                raise ModelFolderError(
                    f"{source}: {CONFIG} says {kind}={theirs}, but the piece has the id {ours} in "
                    f"{VOCABULARY}; the two must come from one model"
                )


def _languages(tokenizer_config: Mapping[str, Any]) -> tuple[str, str]:
    source, target = (str(tokenizer_config.get(f"{side}_lang") or "") for side in SIDES)
    return source, target


SIDES = ("source", "target")


def _facts(config: TransformerConfig, tokenizer: AnyTokenizer) -> list[str]:
    layers = f"{config.encoder_layers} encoder and {config.decoder_layers} decoder layers"
    facts = [
        f"{layers}, d_model {config.d_model}, {config.heads} heads",
        f"{len(tokenizer):,} source pieces, {len(tokenizer.target):,} target pieces",
    ]
    pieces = [tokenizer.piece(id) for id in range(len(tokenizer))]
    codes = [f"`{piece}`" for piece in pieces if LANGUAGE_CODE.fullmatch(piece)]
    if codes:
        facts.append(
            "a source text begins with a code for the language that it goes into: "
            + ", ".join(codes[:10])
            + (f" and {len(codes) - 10} more" if len(codes) > 10 else "")
        )
    return facts
