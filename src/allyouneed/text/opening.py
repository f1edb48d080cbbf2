"""tokenizer.json of a model folder, read by the reader of its kind."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from allyouneed.errors import ModelFolderError, UsageError, nearest
from allyouneed.text.encoder_tokenizer import AnyEncoderTokenizer, EncoderTokenizer
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.text.tokenizer import Tokenizer, read_text

Reader = Callable[[Mapping[str, Any], str], AnyTokenizer]


def _marian(contents: Mapping[str, Any], origin: str) -> AnyTokenizer:
    from allyouneed.text.marian_tokenizer import read_marian_tokenizer

    return read_marian_tokenizer(contents, origin)


def _fairseq(contents: Mapping[str, Any], origin: str) -> AnyTokenizer:
    from allyouneed.text.fairseq_tokenizer import read_fairseq_tokenizer

    return read_fairseq_tokenizer(contents, origin)


def _pieces(contents: Mapping[str, Any], origin: str) -> AnyTokenizer:
    from allyouneed.text.piece_tokenizer import read_piece_tokenizer

    return read_piece_tokenizer(contents, origin)


def _word_piece(contents: Mapping[str, Any], origin: str) -> AnyTokenizer:
    from allyouneed.text.word_piece import read_word_piece

    return read_word_piece(contents, origin)


# Kinds of tokenizers that imported models bring, by the key "kind" of their JSON; the project's own
# file has no such key. A reader takes the JSON's contents and how an error names it, and raises
# ModelFolderError.
READERS: dict[str, Reader] = {
    "fairseq": _fairseq,
    "marian": _marian,
    "pieces": _pieces,
    "wordpiece": _word_piece,
}
_HAS_KIND = re.compile(r'\s*\{\s*"kind"\s*:')  # its writers put it first
_HAS_MASK = re.compile(r'"content":\s*"\[MASK\]"')  # among the special pieces: no piece is a text


def open_tokenizer(path: str | Path) -> AnyTokenizer:
    """Reads a `tokenizer.json` of any kind.

    Raises:
        ModelFolderError: no such file, unreadable, damaged, or of a kind that is not known.
    """
    return read_tokenizer(read_text(path), str(path))


def read_tokenizer(text: str, origin: str = "the tokenizer") -> AnyTokenizer:
    """Reads what `to_json` of any kind wrote; `origin` is how an error names it.

    Raises:
        ModelFolderError: it is damaged, or of a kind that is not known.
    """
    if not _HAS_KIND.match(text):
        own = EncoderTokenizer if _HAS_MASK.search(text) else Tokenizer
        return own.from_json(text, origin)
    try:
        contents = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFolderError(f"{origin} is damaged: {error}; import the model again") from error
    kind = contents["kind"]
    if not isinstance(kind, str) or kind not in READERS:
        guess = nearest(str(kind), READERS)
        raise ModelFolderError(
            f"{origin} is of the kind {kind!r}, which this version does not read"
            + (f"; did you mean {guess!r}?" if guess else "; upgrade allyouneed")
        )
    return READERS[kind](contents, origin)


def own_tokenizer(tokenizer: AnyTokenizer, purpose: str) -> Tokenizer:
    """The tokenizer, if it is this project's own; `purpose` begins the error where it is not.

    Raises:
        UsageError: it came with an imported model.
    """
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    raise UsageError(
        f"{purpose} needs a model with this project's own tokenizer, "
        "and this one was imported with another"
    )


def encoder_tokenizer(tokenizer: AnyTokenizer, purpose: str) -> AnyEncoderTokenizer:
    """The tokenizer, if it has [CLS], [SEP] and [MASK]; `purpose` begins the error where not.

    Raises:
        UsageError: it is a translator's.
    """
    if hasattr(tokenizer, "MASK"):
        return cast(AnyEncoderTokenizer, tokenizer)
    raise UsageError(
        f"{purpose} needs a vocabulary with [CLS], [SEP] and [MASK], and this one has none; "
        "train an encoder-only model's own"
    )
