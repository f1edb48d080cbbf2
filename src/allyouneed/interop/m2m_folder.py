"""Imports a Hugging Face folder of M2M-100, SMaLL-100 or NLLB-200.

The packages `transformers` and `sentencepiece` are not needed. A pickle, pytorch_model.bin, is
opened only if it holds nothing but tensors (`weights_only`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allyouneed.core.config import TransformerConfig
from allyouneed.errors import ConfigError, ModelFolderError, ShapeError
from allyouneed.interop.generation import Generation
from allyouneed.interop.language_codes import M2M_100, M2M_MARK, NLLB_200, NLLB_CODE, bcp47
from allyouneed.interop.m2m import from_m2m, misfits
from allyouneed.interop.new_folder import new_folder
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
from allyouneed.text.languages import NOTHING, SOURCE, TARGET, Languages
from allyouneed.text.piece_tokenizer import PieceTokenizer
from allyouneed.text.sentencepiece_file import Kind
from allyouneed.text.sentencepiece_model import SentencePieceModel

SPM, VOCABULARY = "sentencepiece.bpe.model", "vocab.json"
TOKENIZER_CONFIG, GENERATION_CONFIG = "tokenizer_config.json", "generation_config.json"
SPECIAL_TOKENS, ADDED_TOKENS = "special_tokens_map.json", "added_tokens.json"
SPECIAL = {"start": "<s>", "pad": "<pad>", "end": "</s>", "unknown": "<unk>"}  # ids 0, 1, 2, 3
SMALL_100 = "tokenization_small100.py"  # a file of SMaLL-100, which is not executed

CARD = """\
# {name}

Imported from {source}, a model of Hugging Face's class M2M100ForConditionalGeneration ({kind}).
Its licence is that of the model it was made from.

- {layers}
- {pieces:,} pieces
- {count} languages: {languages}

```python
from allyouneed import load
translator = load("{name}")
print(translator("Good morning.", source="{first}", target="{second}"))
```
{generation}"""


@dataclass(frozen=True, slots=True)
class _Marks:
    """The languages of a folder: the model's kind in words, the id of each code's mark, the
    beginning of sources and of translations, and other names of the codes."""

    kind: str
    ids: Mapping[str, int]
    source: str
    translation: str
    also: Mapping[str, str]


def import_m2m(source: Path, into: Path, *, note: Callable[[str], None]) -> ModelFolder:
    """Writes the model of the folder `source` to `into`, which must be empty or must not exist.

    `note` receives the settings of the folder that are not followed.

    Raises:
        ModelFolderError: files are missing, damaged or hold more than tensors, tables do not fit
            each other, or `into` cannot be written.
        ConfigError, ShapeError: the model is of another kind; the message lists what does not fit.
        UsageError: `into` is in use.
    """
    with new_folder(into) as beside:
        _check_files(source)
        config = read_table(source / CONFIG)
        if reasons := misfits(config):
            raise ConfigError(f"{source} does not fit: {'; '.join(reasons)}")
        settings = _optional(source / TOKENIZER_CONFIG)
        generation_settings = _optional(source / GENERATION_CONFIG)
        generation = Generation(
            config, generation_settings, GENERATION_CONFIG if generation_settings else CONFIG
        )
        spm = read_file(source / SPM)
        pieces = _pieces(source, spm)
        marks = _marks(source, settings, len(pieces))
        size = config.get("vocab_size")
        tokenizer = _tokenizer(source, spm, pieces, marks, size)
        weights = read_tensors(source)
        try:
            model = from_m2m(weights, config)
        except (ConfigError, ShapeError) as error:
            raise type(error)(f"{source}: {error}") from error
        languages = _languages(marks)
        for said in generation.not_followed(model.config.pad):
            note(said)
        if settings.get("legacy_behaviour"):
            note(f"{TOKENIZER_CONFIG} asks for legacy_behaviour=True: not followed")
        if generation.said:
            note("its generation settings are in README.md, with the options that mean the same")
        save_model_folder(
            beside,
            model,
            tokenizer,
            Traits(multilingual=languages),
            card=_card(source, into, marks, model.config, languages, generation),
            training={"imported_from": "m2m", "generation": generation.said},
            dtype=float16_of(weights),
        )
    return open_model_folder(Path(into))


def _check_files(source: Path) -> None:
    missing = [name for name in (CONFIG, SPM) if not (source / name).is_file()]
    if not any((source / name).is_file() for name in (WEIGHTS, PICKLE)):
        missing.append(f"{WEIGHTS} (or {PICKLE})")
    if missing:
        raise ModelFolderError(
            f"{source} lacks {', '.join(missing)}; such a folder has the weights, {CONFIG}, "
            f"{SPM}, and M2M-100 {VOCABULARY} too"
        )


def _optional(file: Path) -> dict[str, Any]:
    return read_table(file) if file.is_file() else {}


def _pieces(source: Path, spm: bytes) -> list[str]:
    """The pieces in the order of their ids, without the languages. They are those of vocab.json, or
    else four special pieces followed by those of the .spm file, in fairseq's order."""
    if (source / VOCABULARY).is_file():
        ids = read_ids(source / VOCABULARY)
        pieces = sorted(ids, key=ids.__getitem__)
        if sorted(ids.values()) != list(range(len(ids))):
            raise ModelFolderError(f"{source / VOCABULARY}: ids are not 0 to {len(ids) - 1}")
    else:
        try:
            model = SentencePieceModel(spm)
        except ValueError as error:
            raise ModelFolderError(f"{source / SPM}: {error}; it cannot be imported") from error
        special = (Kind.UNKNOWN, Kind.CONTROL)
        own = [p for p, kind in zip(model.pieces, model.kinds, strict=True) if kind not in special]
        pieces = [*SPECIAL.values(), *own]
    if pieces[:4] != list(SPECIAL.values()):
        raise ModelFolderError(
            f"{source}: the first pieces are {pieces[:4]}, and not {list(SPECIAL.values())}"
        )
    return pieces


def _marks(source: Path, settings: Mapping[str, Any], first: int) -> _Marks:
    """The languages of a folder, with the marks' ids from its files, or else in the known order
    from `first` on."""
    said = _added(source, settings)
    several = dict.fromkeys([*said, *_additional(source, settings)])
    if (source / VOCABULARY).is_file():
        found = [mark for mark in several if M2M_MARK.fullmatch(mark)]
        known = found or [f"__{code}__" for code in M2M_100]
        ids = {mark.strip("_"): said.get(mark, first + n) for n, mark in enumerate(known)}
        small = "small100" in str(settings.get("tokenizer_class", "")).lower()
        if small or (source / SMALL_100).is_file():
            return _Marks("SMaLL-100", ids, TARGET, NOTHING, {})
        return _Marks("M2M-100", ids, SOURCE, TARGET, {})
    found = [mark for mark in several if NLLB_CODE.fullmatch(mark)]
    codes = bcp47(tuple(found or NLLB_200))
    ids = {code: said.get(mark, first + n) for n, (mark, code) in enumerate(codes.items())}
    also = {mark: code for mark, code in codes.items() if mark != code}
    return _Marks("NLLB-200", ids, SOURCE, TARGET, also)


def _added(source: Path, settings: Mapping[str, Any]) -> dict[str, int]:
    """The added pieces, beyond the vocabulary, with their ids from one of the folder's files."""
    found: dict[str, int] = {}
    if (source / TOKENIZER).is_file():
        for entry in read_table(source / TOKENIZER).get("added_tokens") or ():
            if isinstance(entry, dict) and type(entry.get("id")) is int:
                found[str(entry.get("content"))] = entry["id"]
    for id, entry in (settings.get("added_tokens_decoder") or {}).items():
        if isinstance(entry, dict) and str(id).isdecimal():
            found[str(entry.get("content"))] = int(id)
    added = _optional(source / ADDED_TOKENS)
    return found | {piece: id for piece, id in added.items() if type(id) is int}


def _additional(source: Path, settings: Mapping[str, Any]) -> list[str]:
    """The names of added pieces in the order of their ids."""
    special = _optional(source / SPECIAL_TOKENS)
    key, other = "additional_special_tokens", "extra_special_tokens"
    named = settings.get(key) or settings.get(other) or special.get(key) or special.get(other) or ()
    if not isinstance(named, list):
        return []
    return [str(one["content"] if isinstance(one, dict) else one) for one in named]


def _tokenizer(
    source: Path, spm: bytes, pieces: list[str], marks: _Marks, size: object
) -> PieceTokenizer:
    """The tokenizer with all pieces, the marks at their ids, and names for unused ids."""
    last = max([len(pieces) - 1, *marks.ids.values()])
    if type(size) is not int or not last < size <= len(pieces) + 100_000:
        raise ModelFolderError(
            f"{source}: {CONFIG} says vocab_size={size!r}, but there are pieces up to id {last}; "
            "the two must come from one model"
        )
    table = [*pieces, *(f"<unused {n}>" for n in range(len(pieces), size))]
    for code, id in marks.ids.items():
        if id < len(pieces):
            raise ModelFolderError(f"{source}: the mark of {code!r} has the id {id} of a piece")
        table[id] = f"__{code}__"
    try:
        return PieceTokenizer.of_files((spm, table), None, SPECIAL, table[len(pieces) :])
    except (ValueError, ModelFolderError) as error:
        raise ModelFolderError(f"{source}: {error}; it cannot be imported") from error


def _languages(marks: _Marks) -> Languages:
    codes = tuple(marks.ids)
    return Languages(
        sources=codes,
        targets=codes,
        marks={code: (id,) for code, id in marks.ids.items()},
        source_begins_with=marks.source,
        translation_begins_with=marks.translation,
        also=marks.also,
    )


def _card(
    source: Path,
    into: Path,
    marks: _Marks,
    config: TransformerConfig,
    languages: Languages,
    generation: Generation,
) -> str:
    codes = languages.codes
    first = "en" if "en" in codes else codes[0]
    layers = f"{config.encoder_layers} encoder and {config.decoder_layers} decoder layers"
    return CARD.format(
        name=Path(into).resolve().name,
        source=source.resolve().name,
        kind=marks.kind,
        layers=f"{layers}, d_model {config.d_model}, {config.heads} heads",
        pieces=config.vocabulary,
        count=len(codes),
        languages=", ".join(codes),
        first=first,
        second=next((code for code in codes if code != first), first),
        generation=generation.card(),
    )
