"""The vocabulary of a run, learnt once from its training text and kept in the cache."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from allyouneed.errors import DataError, ModelFolderError
from allyouneed.text.tokenizer import Tokenizer

T = TypeVar("T", bound=Tokenizer)


def kept_vocabulary(
    kind: type[T],
    size: int,
    texts: Callable[[], Iterable[str]],
    file: Path,
    note: Callable[[str], None],
) -> T:
    """The tokenizer in `file`. If the file does not exist, the tokenizer is learnt from the texts
    and written to it. The file's name must depend on everything that the tokenizer is learnt from.

    Raises:
        DataError: the file cannot be written.
    """
    if file.is_file():
        try:
            return kind.load(file)
        except ModelFolderError:
            note(f"{file} is damaged and is written again")
    note(f"learning a vocabulary of {size:,} from the training text")
    tokenizer = kind.train(texts(), size)
    if len(tokenizer) < size:
        note(f"the training text gave only {len(tokenizer):,} entries")
    try:
        tokenizer.save(file)
    except OSError as error:
        raise DataError(
            f"{file}: the vocabulary cannot be written there: {error.strerror}; free some space "
            "or choose another folder with --into"
        ) from error
    return tokenizer
