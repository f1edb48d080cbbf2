"""Reads the tokenizer.json of a model folder, of whichever kind."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from allyouneed.errors import ModelFolderError, UsageError, nearest, needs_torch
from allyouneed.text.encoder_tokenizer import AnyEncoderTokenizer, EncoderTokenizer
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.text.tokenizer_file import read_text

Reader = Callable[[Mapping[str, Any], str], AnyTokenizer]


def _marian(contents: Mapping[str, Any], origin: str) -> AnyTokenizer:
    from allyouneed.text.marian_tokenizer import MarianTokenizer
    from allyouneed.text.sentencepiece_tokenizer import read_sentencepiece_tokenizer

    return read_sentencepiece_tokenizer(MarianTokenizer, contents, origin)


def _fairseq(contents: Mapping[str, Any], origin: str) -> AnyTokenizer:
    from allyouneed.text.fairseq_tokenizer import read_fairseq_tokenizer

    return read_fairseq_tokenizer(contents, origin)


def _pieces(contents: Mapping[str, Any], origin: str) -> AnyTokenizer:
    from allyouneed.text.piece_tokenizer import PieceTokenizer
    from allyouneed.text.sentencepiece_tokenizer import read_sentencepiece_tokenizer

    return read_sentencepiece_tokenizer(PieceTokenizer, contents, origin)


def _word_piece(contents: Mapping[str, Any], origin: str) -> AnyTokenizer:
    with needs_torch("a BERT model's tokenizer"):
        from allyouneed.text.word_piece import read_word_piece

    return read_word_piece(contents, origin)


# The kinds of tokenizers of imported models, by the key "kind" of their JSON. The project's own
# tokenizer.json has no such key. A reader takes the JSON's contents and the file's name for errors,
# and raises ModelFolderError.
READERS: dict[str, Reader] = {
    "fairseq": _fairseq,
    "marian": _marian,
    "pieces": _pieces,
    "wordpiece": _word_piece,
}
_HAS_KIND = re.compile(r'\s*\{\s*"kind"\s*:')  # "kind" is always written first
_HAS_MASK = re.compile(r'"content":\s*"\[MASK\]"')  # only special pieces have the key "content"


def open_tokenizer(path: str | Path) -> AnyTokenizer:
    """The tokenizer of a `tokenizer.json` of any kind.

    Raises:
        ModelFolderError: no such file, unreadable, damaged, or of an unknown kind.
    """
    return read_tokenizer(read_text(path), str(path))


def read_tokenizer(text: str, origin: str = "the tokenizer") -> AnyTokenizer:
    """The tokenizer that a `to_json` of any kind wrote as `text`; errors name the file `origin`.

    Raises:
        ModelFolderError: damaged, or of an unknown kind.
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
    """The same tokenizer, if it is of this project's own kind; `purpose` begins the error if not.

    Raises:
        UsageError: the tokenizer is of an imported model's kind.
    """
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    raise UsageError(
        f"{purpose} needs a model with this project's own tokenizer; "
        "this model was imported with another kind"
    )


def encoder_tokenizer(tokenizer: AnyTokenizer, purpose: str) -> AnyEncoderTokenizer:
    """The same tokenizer, if it has [CLS], [SEP] and [MASK]; `purpose` begins the error if not.

    Raises:
        UsageError: the tokenizer is a translation model's.
    """
    if hasattr(tokenizer, "MASK"):
        return cast(AnyEncoderTokenizer, tokenizer)
    raise UsageError(
        f"{purpose} needs a vocabulary with [CLS], [SEP] and [MASK]; this one lacks them. "
        "Train a vocabulary for an encoder-only model"
    )
