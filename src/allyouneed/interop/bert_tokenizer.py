"""Reads the vocabulary of a BERT folder from `tokenizer.json` or `vocab.txt`, and writes it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import AddedToken, decoders, processors

from allyouneed.errors import ModelFolderError
from allyouneed.interop.pretrained import read_table
from allyouneed.model_folder.folder import TOKENIZER
from allyouneed.text.encoder_tokenizer import AnyEncoderTokenizer, EncoderTokenizer
from allyouneed.text.tokenizer_file import ENCODER_SPECIALS, MisfitError, document, read_text
from allyouneed.text.word_piece import INSIDE, LONGEST_WORD, SPECIAL, WordPiece

VOCABULARY, SETTINGS = "vocab.txt", "tokenizer_config.json"
THEIR_NAMES = {
    "pad": "pad_token",
    "unknown": "unk_token",
    "start": "cls_token",
    "end": "sep_token",
    "mask": "mask_token",
}


def read_bert_tokenizer(source: Path) -> AnyEncoderTokenizer:
    """The tokenizer of a folder: WordPiece, or this project's own in a folder that it exported.

    Raises:
        ModelFolderError: the folder has no vocabulary, or one of another kind.
    """
    settings = read_table(source / SETTINGS) if (source / SETTINGS).is_file() else {}
    try:
        special = {
            name: _content(settings.get(THEIR_NAMES[name], spelt))
            for name, spelt in SPECIAL.items()
        }
        if (source / TOKENIZER).is_file():
            return _from_json(read_table(source / TOKENIZER), special)
        if (source / VOCABULARY).is_file():
            return _from_lines(read_text(source / VOCABULARY), settings, special)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ModelFolderError(f"{source}: its tokenizer cannot be used: {reason}") from error
    raise ModelFolderError(
        f"{source} has no vocabulary; it must have {TOKENIZER} or {VOCABULARY} beside the weights"
    )


def tokenizer_files(tokenizer: AnyEncoderTokenizer, longest: int) -> dict[str, str]:
    """The contents of the files that `AutoTokenizer` reads, by name. `longest` is the model's
    number of positions.

    The tokenizer in them turns a text into [CLS] text [SEP], and "[MASK]" in it into the mask.
    """
    settings: dict[str, Any] = {
        "model_max_length": longest,
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
    }
    files: dict[str, str] = {}
    if isinstance(tokenizer, WordPiece):
        special = tokenizer.special
        library = tokenizers.Tokenizer.from_str(tokenizer.library.to_str())
        library.add_special_tokens([AddedToken(special[name], special=True) for name in special])
        library.decoder = decoders.WordPiece(prefix=INSIDE)
        settings |= {
            "tokenizer_class": "BertTokenizer",
            "do_lower_case": tokenizer.settings["lowercase"],
            "strip_accents": tokenizer.settings["strip_accents"],
            "tokenize_chinese_chars": tokenizer.settings["chinese_characters"],
        }
        files[VOCABULARY] = "".join(f"{piece}\n" for piece in tokenizer.vocabulary)
    else:
        spelt = (tokenizer.PAD, tokenizer.UNKNOWN, tokenizer.START, tokenizer.END, tokenizer.MASK)
        special = {name: tokenizer.piece(id) for name, id in zip(THEIR_NAMES, spelt, strict=True)}
        library = tokenizers.Tokenizer.from_str(tokenizer.to_json())
        mask = AddedToken(special["mask"], lstrip=True, special=True)  # with the space before it
        library.add_special_tokens([mask])
        settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    start, end = special["start"], special["end"]
    library.post_processor = processors.TemplateProcessing(
        single=f"{start} $A {end}",
        pair=f"{start} $A {end} $B:1 {end}:1",
        special_tokens=[(start, tokenizer.START), (end, tokenizer.END)],
    )
    settings |= {THEIR_NAMES[name]: spelt for name, spelt in special.items()}
    files[TOKENIZER] = library.to_str()
    files[SETTINGS] = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
    return files


def _content(piece: Any) -> str:
    """The text of a special piece; some versions write a table with the text in it."""
    return str(piece["content"] if isinstance(piece, Mapping) else piece)


def _from_json(contents: Mapping[str, Any], special: Mapping[str, str]) -> AnyEncoderTokenizer:
    model = contents["model"]
    if model["type"] == "BPE":
        return _own(contents)
    rules = contents.get("normalizer") or {}
    wanted = {
        "model": (model["type"], "WordPiece"),
        "normalizer": (rules.get("type"), "BertNormalizer"),
        "pre_tokenizer": ((contents.get("pre_tokenizer") or {}).get("type"), "BertPreTokenizer"),
        "clean_text": (rules.get("clean_text"), True),
        "continuing_subword_prefix": (model.get("continuing_subword_prefix"), INSIDE),
        "max_input_chars_per_word": (model.get("max_input_chars_per_word"), LONGEST_WORD),
    }
    for name, (found, expected) in wanted.items():
        if found != expected:
            raise ValueError(f"{name} is {found!r}, not {expected!r}")
    vocabulary = dict(model["vocab"])
    for added in contents.get("added_tokens") or ():
        if vocabulary.get(added["content"]) != added["id"]:
            raise ValueError(f"the added piece {added['content']!r} is not in its vocabulary")
    return WordPiece(
        vocabulary,
        lowercase=rules["lowercase"],
        strip_accents=rules["strip_accents"],
        chinese_characters=rules["handle_chinese_chars"],
        special=special,
    )


def _own(contents: Mapping[str, Any]) -> EncoderTokenizer:
    """The byte-level tokenizer in a file that `tokenizer_files` wrote."""
    model = contents["model"]
    merges = [(left, right) for left, right in model["merges"]]
    own = document(dict(model["vocab"]), [list(merge) for merge in merges], ENCODER_SPECIALS)
    for part in ("normalizer", "pre_tokenizer", "model"):
        if contents[part] != own[part]:
            raise MisfitError(f"its {part} is neither WordPiece's nor this project's")
    return EncoderTokenizer(dict(model["vocab"]), merges)


def _from_lines(text: str, settings: Mapping[str, Any], special: Mapping[str, str]) -> WordPiece:
    pieces = text.removesuffix("\n").split("\n")
    vocabulary = {piece.removesuffix("\r"): id for id, piece in enumerate(pieces)}
    if len(vocabulary) != len(pieces):
        raise ValueError(f"{VOCABULARY} has the same piece twice")
    return WordPiece(
        vocabulary,
        lowercase=bool(settings.get("do_lower_case", True)),
        strip_accents=settings.get("strip_accents"),
        chinese_characters=bool(settings.get("tokenize_chinese_chars", True)),
        special=special,
    )
