"""Imports a folder of CTranslate2, or a package of Argos that contains one.

The packages ctranslate2 and argostranslate are not needed.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ConfigError, ModelFolderError
from allyouneed.interop.adoption import adopt, check_sizes
from allyouneed.interop.ctranslate2_file import read_variables
from allyouneed.interop.ctranslate2_weights import Variables, config_of, weights_of
from allyouneed.interop.families import is_argos
from allyouneed.interop.language_codes import M2M_MARK, NLLB_CODE, bcp47
from allyouneed.interop.new_folder import new_folder
from allyouneed.interop.own_export import read_about, read_own_tokenizer
from allyouneed.interop.pretrained import read_file, read_table
from allyouneed.model_folder.folder import (
    CONFIG,
    TOKENIZER,
    ModelFolder,
    open_model_folder,
    save_model_folder,
)
from allyouneed.model_folder.traits import Traits
from allyouneed.model_folder.weights.model import WeightsLeftUnset
from allyouneed.text.languages import SOURCE, TARGET, Languages
from allyouneed.text.piece_tokenizer import PieceTokenizer
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.text.tokenizer import Tokenizer

MODEL = "model.bin"
METADATA, PACKAGE_SPM = "metadata.json", "sentencepiece.model"
PADS = ("<pad>", "<blank>", "[PAD]")
# The files with the pieces, and whether sources of such a model have an end token.
SPMS = (
    (("source.spm", "target.spm"), True),
    (("sentencepiece.bpe.model",), True),
    ((PACKAGE_SPM,), False),
)
CARD = """\
# {name}

Imported from {source}, {what}. {licence}

- {layers}
- {pieces}
{more}"""


def import_ctranslate2(
    source: Path, into: Path, *, note: Callable[[str], None], name: str | None = None
) -> ModelFolder:
    """Writes the model of a folder of CTranslate2, or of an unpacked package of Argos, to `into`,
    which must be empty or must not exist. `name` is the name of `source` on the model card.

    The pieces are read from a tokenizer.json written by `allyouneed export`, from source.spm and
    target.spm, from sentencepiece.bpe.model, or from sentencepiece.model. With the last file,
    sources have no end token, because OpenNMT trains such models, unless config.json has
    add_source_eos.

    Raises:
        ModelFolderError: files are missing or damaged, vocabularies do not fit, or `into` cannot be
            written.
        ConfigError, ShapeError: the model has unsupported features; the message lists all of them.
        UsageError: `into` is in use.
    """
    package = is_argos(source)
    folder = source / "model" if package else source
    with new_folder(into) as beside:
        about = read_table(source / METADATA) if package else {}
        settings = read_table(folder / CONFIG) if (folder / CONFIG).is_file() else {}
        if settings.get("add_source_bos"):
            raise ConfigError(f"{folder / CONFIG}: add_source_bos=true is not supported")
        variables = Variables(read_variables(folder / MODEL))
        sides = _vocabularies(folder)
        tokenizer = _tokenizer(folder, source, sides, settings, variables)
        try:
            model = _model(variables, tokenizer, settings)
        except ConfigError as error:
            raise type(error)(f"{folder / MODEL}: {error}") from error
        languages = (str(about.get("from_code") or ""), str(about.get("to_code") or ""))
        many = _languages(sides[1]) if isinstance(tokenizer, PieceTokenizer) else None
        save_model_folder(
            beside,
            model,
            tokenizer,
            replace(Traits(languages=languages, multilingual=many), **read_about(folder)),
            card=_card(into, name or source.resolve().name, package, model.config, about),
            training={"imported_from": "argos" if package else "ctranslate2", "metadata": about},
        )
    if isinstance(tokenizer, PieceTokenizer) and not tokenizer.ends:
        note("sources get no end token, because OpenNMT trained the model without one")
    return open_model_folder(Path(into))


def _vocabularies(folder: Path) -> tuple[list[str], list[str]]:
    """The pieces of source and target, by their ids."""

    def read(name: str) -> list[str] | None:
        if (folder / f"{name}_vocabulary.json").is_file():
            file = folder / f"{name}_vocabulary.json"
            try:
                pieces = json.loads(read_file(file))
            except (ValueError, RecursionError) as error:
                raise ModelFolderError(f"{file} is no JSON: {error}; copy it again") from error
            if not isinstance(pieces, list) or not all(isinstance(p, str) for p in pieces):
                raise ModelFolderError(f"{file} holds no list of pieces")
            return pieces
        if (folder / f"{name}_vocabulary.txt").is_file():
            content = read_file(folder / f"{name}_vocabulary.txt").decode(errors="replace")
            return content.removesuffix("\n").split("\n")
        return None

    if shared := read("shared"):
        return shared, shared
    source, target = read("source"), read("target")
    if not source or not target:
        raise ModelFolderError(
            f"{folder} lacks its vocabularies: shared_vocabulary, or source_vocabulary and "
            "target_vocabulary, each .json or .txt"
        )
    return source, target


def _tokenizer(
    folder: Path,
    source: Path,
    sides: tuple[list[str], list[str]],
    settings: Mapping[str, Any],
    variables: Variables,
) -> AnyTokenizer:
    if (own := _own(folder, sides)) is not None:
        return own
    for names, ends in SPMS:
        for place in (folder, source):
            if all((place / name).is_file() for name in names):
                files = [read_file(place / name) for name in names]
                ends = ends or bool(settings.get("add_source_eos"))
                return _of_pieces(folder, files, ends, sides, settings, variables)
    known = ", ".join(" and ".join(names) for names, _ in SPMS)
    raise ModelFolderError(
        f"{folder} has no tokenizer: put beside it what the model was trained with ({known})"
    )


def _own(folder: Path, sides: tuple[list[str], list[str]]) -> Tokenizer | None:
    """This project's tokenizer if the folder has one, otherwise None."""
    tokenizer = read_own_tokenizer(folder)
    if tokenizer is None:
        return None
    ids: dict[str, int] = json.loads(tokenizer.to_json())["model"]["vocab"]
    if any(sorted(ids, key=ids.__getitem__) != side for side in sides):
        raise ModelFolderError(
            f"{folder / TOKENIZER} has other pieces than the vocabulary; the two must come from "
            "one model"
        )
    return tokenizer


def _of_pieces(
    folder: Path,
    files: Sequence[bytes],
    ends: bool,
    sides: tuple[list[str], list[str]],
    settings: Mapping[str, Any],
    variables: Variables,
) -> PieceTokenizer:
    unknown, end = (
        str(settings.get(key) or default)
        for key, default in (("unk_token", "<unk>"), ("eos_token", "</s>"))
    )
    start = settings.get("decoder_start_token") or settings.get("bos_token") or "<s>"
    pad = next((piece for piece in PADS if all(piece in side for side in sides)), None)
    if pad is None or variables.scalar("decoder/start_from_zero_embedding"):
        pad = pad or PADS[0]  # one more piece, whose embedding is zero
        sides = tuple(side if pad in side else [*side, pad] for side in sides)  # type: ignore[assignment]
        if variables.scalar("decoder/start_from_zero_embedding"):
            start = pad
    for name, side in zip(("source", "target"), sides, strict=True):
        needed = (unknown, end) if name == "source" else (unknown, end, start)
        if missing := [piece for piece in needed if piece not in side]:
            raise ModelFolderError(f"{folder}: the {name} vocabulary lacks {missing[0]!r}")
    if start not in sides[0]:
        raise ModelFolderError(f"{folder}: the source vocabulary lacks {start!r}")
    if len({side.index(piece) for side in sides for piece in (pad,)}) > 1 or (
        sides[0].index(end) != sides[1].index(end)
    ):
        raise ModelFolderError(f"{folder}: {pad!r} and {end!r} have other ids in the two sides")
    special = {"pad": pad, "start": start, "end": end, "unknown": unknown}
    marks = [p for p in sides[1] if M2M_MARK.fullmatch(p) or NLLB_CODE.fullmatch(p)]
    silent = {*marks, str(settings.get("bos_token") or "<s>")}
    same = sides[0] == sides[1] and len(files) == 1
    target = None if same else (files[-1], sides[1])
    try:
        return PieceTokenizer.of_files((files[0], sides[0]), target, special, silent, ends)
    except (ValueError, ModelFolderError) as error:
        raise ModelFolderError(f"{folder}: {error}; it cannot be imported") from error


def _model(
    variables: Variables, tokenizer: AnyTokenizer, settings: Mapping[str, Any]
) -> Transformer:
    target = tokenizer.target
    ids = {"pad": target.PAD, "start": target.START, "end": target.END}
    epsilon = settings.get("layer_norm_epsilon")
    if epsilon is not None and not isinstance(epsilon, int | float):
        raise ConfigError(f"layer_norm_epsilon={epsilon!r} is no number")
    config = config_of(variables, ids, (len(tokenizer), len(target)), epsilon)
    weights = {
        name: torch.from_numpy(array.copy())
        for name, array in weights_of(variables, config).items()
    }
    check_sizes(config, weights)
    with WeightsLeftUnset():
        model = Transformer(config)
    adopt(model, weights, str, (), "a Transformer of CTranslate2")
    return model.eval()


def _languages(pieces: Sequence[str]) -> Languages | None:
    """The languages of a converted M2M-100 or NLLB-200, whose language marks are pieces; else
    None."""
    marks = {found[1]: n for n, p in enumerate(pieces) if (found := M2M_MARK.fullmatch(p))}
    also: dict[str, str] = {}
    if not marks:
        spelt = {piece: n for n, piece in enumerate(pieces) if NLLB_CODE.fullmatch(piece)}
        codes = bcp47(tuple(spelt))
        marks = {codes[piece]: n for piece, n in spelt.items()}
        also = {piece: code for piece, code in codes.items() if piece != code}
    if len(marks) < 2:
        return None
    return Languages(
        sources=tuple(marks),
        targets=tuple(marks),
        marks={code: (n,) for code, n in marks.items()},
        source_begins_with=SOURCE,
        translation_begins_with=TARGET,
        also=also,
    )


def _card(
    into: Path, source: str, package: bool, config: TransformerConfig, about: Mapping[str, Any]
) -> str:
    layers = f"{config.encoder_layers} encoder and {config.decoder_layers} decoder layers"
    said = [f"- {key}: {about[key]}" for key in ("name", "package_version") if about.get(key)]
    licence = str(about.get("license") or "")
    return CARD.format(
        name=Path(into).resolve().name,
        source=source,
        what="a package of Argos Translate" if package else "a folder of CTranslate2",
        licence=f"Its licence: {licence}."
        if licence
        else "Its licence is that of the model it was made from.",
        layers=f"{layers}, d_model {config.d_model}, {config.heads} heads",
        pieces=f"{config.vocabulary:,} pieces",
        more="".join(f"{line}\n" for line in said),
    )
