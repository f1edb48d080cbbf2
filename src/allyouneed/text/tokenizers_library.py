"""The library `tokenizers`: it learns vocabularies, and cuts many texts on all cores."""

import functools
import importlib.util
import json
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from allyouneed.text.tokenizer_file import BYTE_ALPHABET, document

if TYPE_CHECKING:
    import tokenizers


def learnt(
    texts: Iterable[str], vocabulary: int, specials: Sequence[str]
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """A vocabulary of up to so many pieces (piece → id), and its merges in the order in which they
    were learnt."""
    import tokenizers

    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=2,
        special_tokens=list(specials),
        initial_alphabet=sorted(BYTE_ALPHABET),
        show_progress=False,
    )
    empty: dict[str, int] = {piece: i for i, piece in enumerate(specials)}
    library = opened(json.dumps(document(empty, [], specials)))
    library.train_from_iterator(texts, trainer)
    model = json.loads(library.to_str())["model"]
    return model["vocab"], [(left, right) for left, right in model["merges"]]


def opened(contents: str) -> "tokenizers.Tokenizer":
    """The library's tokenizer of a tokenizer.json with these contents."""
    import tokenizers

    library = tokenizers.Tokenizer.from_str(contents)
    library.encode_special_tokens = True  # the file format does not keep it
    stay_quiet_after_fork()
    return library


@functools.cache
def is_installed() -> bool:
    """Whether `tokenizers` is installed, as it is with the extra `torch`."""
    return importlib.util.find_spec("tokenizers") is not None


@functools.cache
def stay_quiet_after_fork() -> None:
    """Keeps older versions of `tokenizers` from printing a warning when the process forks.

    Their threads do not survive a fork. They read TOKENIZERS_PARALLELISM while the process forks,
    so the variable is set for that moment only. A value that the user has set is not changed.
    """
    name = "TOKENIZERS_PARALLELISM"
    if name in os.environ or not hasattr(os, "register_at_fork"):  # Windows has no forks
        return

    def before() -> None:
        os.environ[name] = "false"

    def after_in_parent() -> None:
        os.environ.pop(name, None)

    os.register_at_fork(before=before, after_in_parent=after_in_parent)
