"""How much text corpora hold: counted in small files, estimated from the beginning of large ones.

Nothing is tokenised, so the answer takes a fraction of a second for any corpus.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from allyouneed.data.contents import file_state
from allyouneed.data.corpus import Corpus
from allyouneed.data.lines import DAMAGE, DECOMPRESSORS, Decompressed, read_lines
from allyouneed.data.readers import out_of_step, read_pairs
from allyouneed.data.report import DataReport
from allyouneed.errors import DataError

MOST_STORED = 8 << 20  # bytes of a file, as it is stored, that are read
MOST_TEXT = 1 << 26  # bytes of text read, since a small compressed file may hold very much
AT_ONCE = 1 << 18  # bytes
SAMPLE = 200  # pairs that tell how a line is shared between the two sides


@dataclass(frozen=True, slots=True)
class TextSize:
    """Lines and bytes of text in a file; `exact` if the whole file was read."""

    lines: float
    bytes: float
    exact: bool = True


@dataclass(frozen=True, slots=True)
class CorpusSize:
    """Pairs of a corpus, and bytes of the text on each side. `exact` tells whether the number of
    pairs was counted; the bytes of the sides are always an estimate. No filter is applied."""

    pairs: float
    source_bytes: float
    target_bytes: float
    exact: bool


def text_size(path: Path) -> TextSize:
    """The size of a file's text. If the file is large, its beginning is read, and the rest is
    assumed to be like it.

    Raises:
        DataError: the file is missing, damaged, or no plain file.
    """
    stored, _ = file_state(path)
    begin = DECOMPRESSORS.get(path.suffix.lower())
    lines = text = 0
    chunk = last = b"\n"
    try:
        with path.open("rb") as raw:
            file = raw if begin is None else io.BufferedReader(Decompressed(raw, begin), AT_ONCE)
            while chunk and raw.tell() < MOST_STORED and text < MOST_TEXT:
                chunk = file.read1(AT_ONCE)  # `read` would lose what comes before damage
                lines, text, last = lines + chunk.count(b"\n"), text + len(chunk), chunk or last
            share = raw.tell() / max(stored, 1)
            whole = not chunk or not file.read(1)
    except DAMAGE as error:
        raise DataError(
            f"{path} is damaged or cut short after line {lines} ({error}); download or compress "
            "it again"
        ) from error
    except OSError as error:
        raise DataError(f"{path} cannot be read after line {lines}: {error}") from error
    lines += whole and not last.endswith(b"\n")  # the last line may lack its end
    return TextSize(lines, text) if whole else TextSize(lines / share, text / share, False)


def corpus_size(corpus: Corpus) -> CorpusSize:
    """The size of a corpus.

    Raises:
        DataError: a file is missing or damaged, the first lines cannot be read as pairs, or the two
            files have different numbers of lines.
    """
    report = DataReport([corpus.name])
    pairs = list(islice(read_pairs(corpus, report), SAMPLE))
    if not pairs:
        raise DataError(f"{corpus.name}: no pair is left; {report.summary()}")
    own = _bytes(pair.source for pair in pairs), _bytes(pair.target for pair in pairs)
    rows = _rows(corpus)
    if rows is not None:
        times = rows / len(pairs)
        return CorpusSize(rows, times * own[0], times * own[1], exact=True)
    sizes = {path: text_size(path) for path in corpus.files}
    counted = {path: int(size.lines) for path, size in sizes.items() if size.exact}
    if len(counted) == len(corpus.files) and len(set(counted.values())) > 1:
        raise out_of_step(*counted.items())
    read = pairs[-1].line
    first, last = corpus.files[0], corpus.files[-1]
    source, target = (last, first) if corpus.swapped else (first, last)
    lines = sizes[source]
    return CorpusSize(
        lines.lines * len(pairs) / read,
        sizes[source].bytes * own[0] / _bytes_of_lines(source, read),
        sizes[target].bytes * own[1] / _bytes_of_lines(target, read),
        exact=lines.exact and read == len(pairs),
    )


def _rows(corpus: Corpus) -> int | None:
    """The number of pairs where it is known without reading: of made pairs and Parquet files."""
    if corpus.made is not None:
        return corpus.pairs
    if corpus.resolved_format != "parquet":
        return None
    from pyarrow import parquet

    rows: int = parquet.read_metadata(corpus.files[0]).num_rows
    return rows


def _bytes(texts: Iterator[str]) -> int:
    return sum(len(text.encode(errors="replace")) for text in texts)


def _bytes_of_lines(path: Path, count: int) -> int:
    """The bytes of a file's first lines, with their ends."""
    lines = islice(read_lines(path, lambda what, line: None), count)
    return sum(len(line.encode()) + 1 for line in lines)
