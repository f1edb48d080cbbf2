"""fairseq's dictionaries: dict.LANGUAGE.txt, one symbol a line with its count."""

from pathlib import Path

from allyouneed.errors import DataError
from allyouneed.text.fairseq_tokenizer import SPECIALS

OVERWRITE = "#fairseq:overwrite"  # behind a count: a symbol that is there already moves to this id


def read_dictionary(path: Path) -> list[str]:
    """The symbols in the order of their ids, the special ones first; fillers such as madeupword0000
    are symbols like the others.

    Raises:
        DataError: a file that cannot be read, a line that is no symbol and count, or a symbol that
            comes twice.
    """
    try:
        with path.open(encoding="utf-8") as file:  # lines end as fairseq has them end
            lines = file.readlines()
    except OSError as error:
        raise DataError(
            f"{path} cannot be read ({error.strerror}); check its permissions"
        ) from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 ({error}); give fairseq's dict.*.txt") from error
    symbols = list(SPECIALS)
    known = set(symbols)
    for number, line in enumerate(lines, 1):
        symbol, _, count = line.rstrip().rpartition(" ")
        overwrite = count == OVERWRITE
        if overwrite:
            symbol, _, count = symbol.rpartition(" ")
        if not symbol or not count.removeprefix("-").isdecimal():
            raise DataError(
                f"{path}:{number}: {line.rstrip()[:60]!r} is no symbol and count; "
                "give the dictionary that fairseq-preprocess wrote"
            )
        if symbol in known and not overwrite:
            raise DataError(
                f"{path}:{number}: {symbol!r} comes twice; leave one out, or end the line with "
                f"{OVERWRITE} if the later one counts"
            )
        symbols.append(symbol)
        known.add(symbol)
    return symbols
