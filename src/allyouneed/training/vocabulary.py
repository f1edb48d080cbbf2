"""The vocabulary of a run, learnt once from its training text and kept in the cache."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from allyouneed.data.mixing import mixed_weights
from allyouneed.errors import DataError, ModelFolderError
from allyouneed.text.tokenizer import Tokenizer

T = TypeVar("T", bound=Tokenizer)


def kept_vocabulary(
    kind: type[T],
    size: int,
    texts: Callable[[], Iterable[str]],
    file: Path,
    note: Callable[[str], None],
    languages: Sequence[str] = (),
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
    tokenizer = kind.train(texts(), size, languages)
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


BALANCE = 3.0  # temperature of the languages in the text that a vocabulary is learnt from
MOST_BYTES = 50_000_000  # of that text; learning takes about a minute


def balanced(texts: Callable[[], Iterable[tuple[str, str]]]) -> Iterator[str]:
    """The texts of (language, text) pairs, balanced so that a language with little text still gets
    pieces of its own. A language of n bytes gets a share proportional to n^(1/BALANCE): texts of
    large languages are left out, texts of small ones are repeated. At most `MOST_BYTES` of all
    languages together are taken, spread evenly over the texts. `texts` is read twice.
    """
    sizes: dict[str, int] = {}
    for language, text in texts():
        sizes[language] = sizes.get(language, 0) + len(text.encode(errors="replace"))
    often = mixed_weights(list(sizes.values()), [1.0] * len(sizes), BALANCE)
    share = min(1.0, MOST_BYTES / max(1, sum(sizes.values())))
    factor = {language: share * times for language, times in zip(sizes, often, strict=True)}
    owed = dict.fromkeys(sizes, 0.0)
    for language, text in texts():
        owed[language] += factor[language]
        while owed[language] >= 1:
            owed[language] -= 1
            yield text
