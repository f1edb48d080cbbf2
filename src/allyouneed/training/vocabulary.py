"""The vocabulary of a run: learnt once from its training text, and kept in the cache."""

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
    """The tokenizer in `file`, whose name follows from all that it is learnt from; learnt from the
    texts now and written there, where it is not there yet.

    Raises DataError when it cannot be written.
    """
    if file.is_file():
        try:
            return kind.load(file)
        except ModelFolderError:
            note(f"{file} is damaged and is made anew")
    note(f"learning a vocabulary of {size:,} from the training text")
    tokenizer = kind.train(texts(), size)
    if len(tokenizer) < size:
        note(f"no more than {len(tokenizer):,} entries could be learnt from it")
    try:
        tokenizer.save(file)
    except OSError as error:
        raise DataError(
            f"{file}: the vocabulary cannot be kept there: {error.strerror}; free some space or "
            "choose another folder by --into"
        ) from error
    return tokenizer
