"""Reads fairseq's dictionaries: dict.LANGUAGE.txt, with one symbol and its count per line."""

from pathlib import Path

from allyouneed.errors import DataError
from allyouneed.text.fairseq_tokenizer import SPECIALS

OVERWRITE = "#fairseq:overwrite"  # after a count: a repeated symbol gets this id instead


def read_dictionary(path: Path) -> list[str]:
    """The symbols in the order of their ids, with the special symbols first. Fillers such as
    madeupword0000 count as symbols.

    Raises:
        DataError: the file cannot be read, a line is not a symbol and a count, or a symbol occurs
            twice.
    """
    try:
        with path.open(encoding="utf-8") as file:  # with the same line ends as fairseq
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
                f"{path}:{number}: {symbol!r} occurs twice; leave one out, or end the line with "
                f"{OVERWRITE} if the later one counts"
            )
        symbols.append(symbol)
        known.add(symbol)
    return symbols
