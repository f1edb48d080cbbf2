"""Reads config.json of a model folder and checks each key."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.length_penalty import Wu
from allyouneed.errors import ConfigError, ModelFolderError, UsageError, nearest
from allyouneed.model_folder.weights.file import check_plain_file
from allyouneed.text.conversation import History
from allyouneed.text.languages import Languages
from allyouneed.text.normaliser import NORMALISERS

FORMAT_VERSION = 1
CONFIG_KEYS: dict[str, tuple[type, ...]] = {
    "format": (str,),
    "format_version": (int,),
    "source_language": (str,),
    "target_language": (str,),
    "trained_length": (int, type(None)),
    "normaliser": (str,),
    "history": (dict,),
    "heads": (dict,),
    "alignment_heads": (dict,),
    "languages": (dict,),
    "term_mark": (int,),
    "length_penalty": (int, float),
    "set_phrases": (bool,),
    "model": (dict,),
}
ALIGNMENT_KEYS: dict[str, tuple[type, ...]] = {"layer": (int,), "heads": (list,)}
HEAD_KEYS: dict[str, tuple[type, ...]] = {
    "masked_words": (bool,),
    "next_sentence": (bool,),
    "labels": (list,),
    "tags": (list,),
    "pooler": (bool,),
}
HISTORY_KEYS: dict[str, tuple[type, ...]] = {"turns": (int,), "marks": (list,)}
KINDS_IN_WORDS = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a text",
    list: "a list",
    dict: "a table",
    type(None): "null",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """The output heads of a model without a decoder.

    `labels` and `tags` are the names of labels and tags in the order of their logits; () means
    that the model lacks the head. `pooler` says whether the model has a pooler (see
    `build_encoder_only`).

    Raises:
        ConfigError: a name is empty or occurs twice.
    """

    masked_words: bool = False
    next_sentence: bool = False
    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    pooler: bool = False

    def __post_init__(self) -> None:
        for kind, names in (("labels", self.labels), ("tags", self.tags)):
            for number, name in enumerate(names):
                if not isinstance(name, str) or not name or name in names[:number]:
                    raise ConfigError(
                        f"{kind}={json.dumps(names)}: {json.dumps(name)} must be a text that is "
                        "not empty and occurs once"
                    )

    def parts(self) -> dict[str, Any]:
        """The keyword arguments for `build_encoder_only`."""
        counts = {"labels": len(self.labels) or None, "tags": len(self.tags) or None}
        return asdict(self) | counts


def unreadable(path: Path, error: OSError) -> ModelFolderError:
    """The error for a file or folder that the system does not let this process read."""
    return ModelFolderError(f"{path} cannot be read ({error.strerror}); check its permissions")


def read_config(file: Path) -> dict[str, Any]:
    """The contents of config.json. The format and the keys outside "model" are checked.

    Raises:
        ModelFolderError: the file is missing, damaged, or of a format that this version does not
            read.
    """
    check_plain_file(file)
    try:
        config = json.loads(file.read_bytes().decode())
    except FileNotFoundError as error:
        path = file.parent
        inside = sorted(str(found.parent) for found in path.glob(f"*/{file.name}"))
        hint = f"; did you mean {' or '.join(inside)}?" if inside else ""
        raise ModelFolderError(
            f"{path} is not a model folder: {file.name} is missing{hint}"
        ) from error
    except OSError as error:
        raise unreadable(file, error) from error
    except (ValueError, RecursionError) as error:
        raise ModelFolderError(
            f"{file} is not JSON ({error}); copy it again from where the model came from"
        ) from error
    if not isinstance(config, dict) or config.get("format") != "allyouneed":
        raise ModelFolderError(
            f"{file} is not of the format 'allyouneed'; import models of other toolkits with: "
            f"allyouneed import {file.parent} --into NEW"
        )
    version = config.get("format_version")
    if type(version) is int and version > FORMAT_VERSION:
        raise ModelFolderError(
            f"{file} has format version {version}; this allyouneed reads up to "
            f"{FORMAT_VERSION}: upgrade it with pip install -U allyouneed"
        )
    if type(version) is not int or version < 1:
        raise ModelFolderError(f"{file}: format_version={json.dumps(version)} must be 1 or more")
    _check_keys(file, "", {"model": None} | config, CONFIG_KEYS)
    length = config.get("trained_length")
    if length is not None and length < 2:
        raise ModelFolderError(f"{file}: trained_length={length} must be 2 or more, or null")
    return config


def transformer_config(file: Path, values: dict[str, Any]) -> TransformerConfig:
    """The configuration of the model, from the key "model" of config.json.

    Raises:
        ModelFolderError: an unknown key, or a value with which no model can be built.
    """
    kinds = {  # TransformerConfig checks the choices of a Literal
        name: (str,) if get_origin(kind) is Literal else get_args(kind) or (kind,)
        for name, kind in get_type_hints(TransformerConfig).items()
    }
    _check_keys(file, "model.", values, kinds)
    try:
        return TransformerConfig(**values)
    except ConfigError as error:
        raise ModelFolderError(f"{file}: {error}") from error


def known_normaliser(file: Path, document: Mapping[str, Any]) -> str | None:
    """The name of the model's normaliser, from the key "normaliser"; None without the key.

    Raises:
        ModelFolderError: this version does not know the normaliser.
    """
    name = document.get("normaliser")
    if name is not None and name not in NORMALISERS:
        raise ModelFolderError(
            f"{file}: this allyouneed does not know normaliser={json.dumps(name)} "
            f"(known: {', '.join(NORMALISERS)}); upgrade it with pip install -U allyouneed"
        )
    return name


def reply_history(file: Path, document: Mapping[str, Any]) -> History | None:
    """How a chat model reads a conversation, from the key "history"; None without the key.

    Raises:
        ModelFolderError: an unknown key, or a value that `History` refuses.
    """
    if "history" not in document:
        return None
    values = document["history"]
    _check_keys(file, "history.", {"turns": None, "marks": None} | values, HISTORY_KEYS)
    try:
        return History(turns=values["turns"], marks=tuple(map(str, values["marks"])))  # type: ignore[arg-type]
    except ConfigError as error:
        raise ModelFolderError(f"{file}: {error}") from error


def term_mark_of(file: Path, document: Mapping[str, Any], config: TransformerConfig) -> int | None:
    """The mark around terms in a source, from the key "term_mark"; None without it.

    Raises:
        ModelFolderError: the mark is no id of the vocabulary.
    """
    mark: int | None = document.get("term_mark")
    size = config.source_vocabulary or config.vocabulary
    if mark is not None and not 0 <= mark < size:
        raise ModelFolderError(f"{file}: term_mark={mark} must be an id below {size}")
    return mark


def length_penalty_of(file: Path, document: Mapping[str, Any]) -> float | None:
    """The alpha of the search's length penalty, from the key "length_penalty"; None without it.

    Raises:
        ModelFolderError: an alpha that `Wu` refuses.
    """
    alpha: float | None = document.get("length_penalty")
    if alpha is None:
        return None
    try:
        return Wu(alpha).alpha
    except UsageError as error:
        raise ModelFolderError(f"{file}: length_penalty: {error}") from error


def languages_of(
    file: Path, document: Mapping[str, Any], config: TransformerConfig
) -> Languages | None:
    """The languages of a model of several directions, from the key "languages"; None without it.

    Raises:
        ModelFolderError: an unknown key, or a value that `Languages` refuses.
    """
    if "languages" not in document:
        return None
    smaller = min(config.vocabulary, config.source_vocabulary or config.vocabulary)
    try:
        return Languages.from_dict(document["languages"], smaller)
    except ConfigError as error:
        raise ModelFolderError(f"{file}: languages: {error}") from error


def heads_of(file: Path, values: dict[str, Any]) -> Heads:
    """The output heads, from `values`, the value of the key "heads" of config.json.

    Raises:
        ModelFolderError: an unknown key, or a value that `Heads` refuses.
    """
    _check_keys(file, "heads.", values, HEAD_KEYS)
    lists = {name: tuple(values.get(name, ())) for name in ("labels", "tags")}
    try:
        return Heads(**values | lists)
    except ConfigError as error:
        raise ModelFolderError(f"{file}: heads.{error}") from error


def alignment_heads_of(file: Path, document: Mapping[str, Any]) -> AlignmentHeads | None:
    """The heads that give word alignments, from the key "alignment_heads"; None without the key.

    Raises:
        ModelFolderError: an unknown key, or a layer or head that the model lacks.
    """
    if "alignment_heads" not in document:
        return None
    values = document["alignment_heads"]
    _check_keys(file, "alignment_heads.", values, ALIGNMENT_KEYS)
    heads = values.get("heads", [])
    if any(type(head) is not int for head in heads):
        raise ModelFolderError(
            f"{file}: alignment_heads.heads={json.dumps(heads)} must be whole numbers"
        )
    chosen = AlignmentHeads(values.get("layer", -1), tuple(heads))
    try:
        chosen.check(document["model"].get("decoder_layers", 6), document["model"].get("heads", 8))
    except UsageError as error:
        raise ModelFolderError(f"{file}: alignment_heads: {error}") from error
    return chosen


def _check_keys(
    file: Path, prefix: str, values: Mapping[str, Any], kinds: Mapping[str, tuple[Any, ...]]
) -> None:
    """Raises ModelFolderError for an unknown key or a value of the wrong type."""
    for key, value in values.items():
        if key not in kinds:
            guess = nearest(key, kinds)
            raise ModelFolderError(
                f"{file}: unknown key {prefix}{key}"
                + (f"; did you mean {prefix}{guess}?" if guess else "; leave it out")
            )
        if type(value) not in kinds[key] and not (type(value) is int and float in kinds[key]):
            words = " or ".join(KINDS_IN_WORDS[kind] for kind in kinds[key])
            raise ModelFolderError(f"{file}: {prefix}{key}={json.dumps(value)} must be {words}")
