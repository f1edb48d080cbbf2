"""The contents of this project's own `tokenizer.json`: how they are written and checked."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from allyouneed.errors import ModelFolderError

SPECIALS = ("<pad>", "<s>", "</s>", "<unk>")
ENCODER_SPECIALS = ("<pad>", "[CLS]", "[SEP]", "<unk>", "[MASK]")
"""Special pieces of a model without a decoder (Devlin et al. 2019): [CLS] begins a text, [SEP] ends
it."""
END = 2  # index of the end in both lists


class MisfitError(ValueError):
    """The reason why a file is not a byte-level vocabulary with this project's special ids."""


def _byte_alphabet() -> dict[str, int]:
    """The byte alphabet of GPT-2 (Radford et al. 2019), which `tokenizers` uses: character → byte.

    A printable byte is its own character; the other bytes get characters from U+0100 on.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    return {chr(byte): byte for byte in printable} | {
        chr(0x100 + n): byte for n, byte in enumerate(others)
    }


BYTE_ALPHABET = _byte_alphabet()
_AS_LATIN_1 = str.maketrans({character: chr(byte) for character, byte in BYTE_ALPHABET.items()})


def spell(piece: str) -> bytes:
    """The bytes of a piece that is written in the byte alphabet."""
    return piece.translate(_AS_LATIN_1).encode("latin-1")


def check(
    vocabulary: dict[str, int], merges: list[tuple[str, str]], specials: Sequence[str] = SPECIALS
) -> None:
    """Checks a vocabulary with its merges.

    Raises:
        MisfitError: it is not a byte-level vocabulary with these special ids. The message names the
            first fault.
    """
    if not {type(i) for i in vocabulary.values()} <= {int}:
        raise MisfitError("its ids are not all whole numbers")
    if sorted(vocabulary.values()) != list(range(len(vocabulary))):
        raise MisfitError(f"its ids are not 0 to {len(vocabulary) - 1}")
    for i, special in enumerate(specials):
        if vocabulary.get(special) != i:
            raise MisfitError(f"{special} must have id {i}, not {vocabulary.get(special)}")
    if missing := sorted(BYTE_ALPHABET.keys() - vocabulary.keys()):
        raise MisfitError(f"its vocabulary lacks {len(missing)} of the 256 bytes")
    alphabet = frozenset(BYTE_ALPHABET)
    if "" in vocabulary or not alphabet.issuperset("".join(vocabulary)):
        wrong = next(piece for piece in vocabulary if not piece or not alphabet.issuperset(piece))
        raise MisfitError(f"its piece {wrong!r} is not spelt in bytes")
    for left, right in merges:
        if not (left in vocabulary and right in vocabulary and left + right in vocabulary):
            raise MisfitError(f"its merge {left!r} + {right!r} is not in the vocabulary")
        if left + right in specials:
            raise MisfitError(
                f"its merge {left!r} + {right!r} would turn text into a special piece"
            )


def document(
    vocabulary: dict[str, int],
    merges: Sequence[Sequence[str]],
    specials: Sequence[str] = SPECIALS,
) -> dict[str, Any]:
    """The contents of `tokenizer.json`, as the library `tokenizers` reads them.

    They are spelt out here so that the file does not change with the library's version. `ByteLevel`
    separates letters from other signs before it merges. Therefore no merge can produce `</s>`, and
    no piece gets the id of a special piece; `check` tests that.
    """
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    special = [
        {"id": i, "content": text, **flags, "special": True} for i, text in enumerate(specials)
    ]
    byte_level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": False,
        "use_regex": True,
    }
    end = specials[END]
    first = [
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": end, "type_id": 0}},
    ]
    second = [
        {"Sequence": {"id": "B", "type_id": 1}},
        {"SpecialToken": {"id": end, "type_id": 1}},
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": {"type": "Prepend", "prepend": " "},
        "pre_tokenizer": byte_level,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": first,
            "pair": first + second,
            "special_tokens": {end: {"id": end, "ids": [END], "tokens": [end]}},
        },
        "decoder": {
            "type": "Sequence",
            "decoders": [byte_level, {"type": "Strip", "content": " ", "start": 1, "stop": 0}],
        },
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": vocabulary,
            "merges": merges,
        },
    }


def read_text(path: str | Path) -> str:
    """The content of a `tokenizer.json`.

    Raises:
        ModelFolderError: no such file, unreadable, or not UTF-8.
    """
    try:
        return Path(path).read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ModelFolderError(
            f"{path} is not UTF-8 at byte {error.start}; "
            "copy it again from the model folder it belongs to"
        ) from error
    except OSError as error:
        raise ModelFolderError(
            f"{path} cannot be read ({error.strerror}); give the tokenizer.json of a model folder"
        ) from error
