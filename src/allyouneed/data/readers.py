"""Reads pairs of sentences from files: two parallel text files, TSV, CSV, JSON lines, Parquet."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from allyouneed.data.conversations import ConversationLine, replies_in_pairs, replies_in_turns
from allyouneed.data.corpus import Corpus, Pair
from allyouneed.data.lines import missing, read_lines
from allyouneed.data.report import DataReport
from allyouneed.data.synthetic import made_pairs
from allyouneed.errors import DataError, nearest
from allyouneed.text.clean import clean
from allyouneed.text.conversation import History, one_line
from allyouneed.text.normaliser import normaliser_named
from allyouneed.text.unspaced import unspaced

QUOTED = 'texts in the quotes of a spreadsheet ("a ""b"" c"); quoted = true takes them away'


@dataclass(frozen=True)
class Reading:
    """A corpus that is being read, and the report for problems in it."""

    corpus: Corpus
    index: int
    report: DataReport | None

    def lines(self, path: Path) -> Iterator[str]:
        def note(what: str, line: int) -> None:
            if self.report is not None:
                self.report.note(what, self.index, line, f"in {path.name}")

        return read_lines(path, note)

    def malformed(self, line: int, detail: str) -> None:
        """Leaves a line out and reports it.

        Raises:
            DataError: there is no report.
        """
        if self.report is None:
            raise DataError(f"{self.corpus.name}:{line}: {detail}")
        self.report.leave_out("malformed", self.index, line, detail)

    def texts(self, source: str, target: str, line: int) -> tuple[str, str]:
        """The two texts of a line of TSV, without the quotes of a spreadsheet if the corpus says
        that it has them. If it says nothing, the report counts texts with such quotes."""
        if self.corpus.quoted:
            return unquoted(source), unquoted(target)
        if self.report is not None:
            for text in (source, target):
                if unquoted(text) != text:
                    self.report.note(QUOTED, self.index, line, "")
        return source, target


def unquoted(text: str) -> str:
    """A text as it was before a spreadsheet wrote it with quotes: `"a ""b"" c"` is `a "b" c`. A
    text with other quotes, such as `"a"`, is not changed."""
    inner = text[1:-1]
    written = len(text) > 2 and text[0] == text[-1] == '"' and '""' in inner
    return inner.replace('""', '"') if written and '"' not in inner.replace('""', "") else text


def read_pairs(corpus: Corpus, report: DataReport | None = None, index: int = 0) -> Iterator[Pair]:
    """The pairs of a corpus in file order, one at a time.

    With a report, malformed lines are left out and counted under corpus `index`; removed byte order
    marks and carriage returns are counted too. Without a report, a malformed line is an error.

    Raises:
        DataError: text is not UTF-8 (the message names file, line and byte), the two files have
            different numbers of lines, or a file is missing or damaged.
    """
    reading = Reading(corpus, index, report)
    pairs = (
        read_replies(reading, corpus.history)
        if corpus.history is not None
        else _as_they_are(reading)
    )
    if corpus.swapped:
        pairs = (Pair(pair.target, pair.source, pair.line) for pair in pairs)
    if corpus.normaliser is None:
        yield from pairs
        return
    plain = normaliser_named(corpus.normaliser).plain
    for pair in pairs:
        yield Pair(plain(pair.source).text, plain(pair.target).text, pair.line)


def _as_they_are(reading: Reading) -> Iterator[Pair]:
    corpus = reading.corpus
    if corpus.made is not None:
        return made_pairs(corpus.made, corpus.pairs, corpus.seed)
    return READERS[corpus.resolved_format](reading)


def read_replies(reading: Reading, history: History) -> Iterator[Pair]:
    """Pairs of the turns before a reply, and the reply."""
    corpus = reading.corpus
    tidy = (lambda text: one_line(unspaced(text))) if corpus.spaced else one_line
    if corpus.turn_fields is not None:
        yield from replies_in_turns(read_turns(reading, corpus.turn_fields), history, tidy)
        return
    yield from replies_in_pairs(_as_they_are(reading), history, corpus.one_conversation, tidy)


def read_turns(reading: Reading, fields: tuple[str, str, str]) -> Iterator[ConversationLine]:
    """The lines of a file with one turn per line. `fields` are the columns of dialogue, speaker and
    text.

    Raises:
        DataError: a CSV file lacks one of the columns.
    """
    if reading.corpus.resolved_format == "csv":
        for number, record in _csv_records(reading, fields):
            dialogue, speaker, text = (record[field] for field in fields)
            yield ConversationLine(dialogue, speaker, text, number)
        return
    columns = [int(field) - 1 for field in fields]
    for number, line in enumerate(reading.lines(reading.corpus.files[0]), start=1):
        row = line.split("\t")
        if len(row) > max(columns):
            dialogue, speaker, text = (row[column] for column in columns)
            yield ConversationLine(dialogue, speaker, text, number)
        else:
            reading.malformed(number, f"has {len(row)} columns, not {max(columns) + 1} or more")


def read_text(reading: Reading) -> Iterator[Pair]:
    source, target = reading.corpus.source, reading.corpus.target
    assert source is not None
    if target is None:  # the path without a suffix, taken for a folder of shards, does not exist
        raise missing(source)
    sides = zip_longest(reading.lines(source), reading.lines(target))
    for number, (left, right) in enumerate(sides, start=1):
        if left is None or right is None:
            shorter, longer = (source, target) if left is None else (target, source)
            raise out_of_step((shorter, number - 1), (longer, number + sum(1 for _ in sides)))
        yield Pair(left, right, number)


def out_of_step(*counted: tuple[Path, int]) -> DataError:
    """The error for two files with different numbers of lines."""
    (shorter, few), (longer, many) = sorted(counted, key=lambda one: one[1])
    return DataError(
        f"{longer} has {many:,} lines, {shorter} has {few:,}: line {few + 1:,} is the first "
        "without a partner; both files need one sentence per line, and the same number of lines"
    )


def read_tsv(reading: Reading) -> Iterator[Pair]:
    named = reading.corpus.columns
    source, target = named or (0, 1)
    for number, line in enumerate(reading.lines(reading.corpus.files[0]), start=1):
        columns = line.split("\t")
        fits = len(columns) == 2 if named is None else len(columns) > max(named)
        if fits:
            yield Pair(*reading.texts(columns[source], columns[target], number), number)
        else:
            wanted = "the 2 of source<TAB>target" if named is None else f"{max(named) + 1} or more"
            reading.malformed(number, f"has {len(columns)} columns, not {wanted}")


def read_csv(reading: Reading) -> Iterator[Pair]:
    for number, record in _csv_records(
        reading, (reading.corpus.source_field, reading.corpus.target_field)
    ):
        pair = _fields(reading, record, number)
        if pair is not None:
            yield pair


def _csv_records(reading: Reading, fields: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """(line, values by the column names of the first line) of all rows."""
    path = reading.corpus.files[0]
    rows = csv.reader((f"{line}\n" for line in reading.lines(path)), strict=True)
    names: list[str] = []
    while True:
        begin = rows.line_num + 1  # a record may span many lines, intended or not
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            reading.malformed(begin, f"to line {rows.line_num} is not CSV: {error}")
            for line in range(begin + 1, rows.line_num + 1):  # each line is counted as left out
                reading.malformed(line, f"belongs to the malformed record from line {begin}")
            continue
        if not names:
            names = row
            for field in fields:
                if field not in names:
                    divided = len(names) == 1 and ";" in names[0]
                    hint = "; its columns are separated by semicolons; use commas"
                    raise DataError(
                        f'{path}: has no column "{field}"{hint if divided else _hint(field, names)}'
                    )
        elif len(row) == len(names):
            yield begin, dict(zip(names, row, strict=True))
        else:
            reading.malformed(begin, f"has {len(row)} columns, not {len(names)}")


def read_jsonl(reading: Reading) -> Iterator[Pair]:
    for number, line in enumerate(reading.lines(reading.corpus.files[0]), start=1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            reading.malformed(number, f"is not JSON: {error}")
            continue
        if not isinstance(record, dict):
            reading.malformed(number, "is not a JSON object")
            continue
        pair = _fields(reading, record, number)
        if pair is not None:
            yield pair


def _fields(reading: Reading, record: dict[str, Any], number: int) -> Pair | None:
    texts = []
    for name in (reading.corpus.source_field, reading.corpus.target_field):
        text = record.get(name)
        if not isinstance(text, str):
            there = f"holds {type(text).__name__}" if name in record else "is missing"
            reading.malformed(number, f'field "{name}" {there}, not text{_hint(name, record)}')
            return None
        cleaned, notes = clean(text)
        if notes and reading.report is not None:
            reading.report.note("lone surrogates replaced by U+FFFD", reading.index, number, name)
        texts.append(cleaned)
    return Pair(texts[0], texts[1], number)


def _hint(name: str, known: Any) -> str:
    names = [str(one) for one in known if one != name]
    close = nearest(name, names)
    if close:
        return f'; did you mean "{close}"?'
    return f"; it has {', '.join(names[:8])}; name two of these in source_field and target_field"


def read_parquet(reading: Reading) -> Iterator[Pair]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise DataError(
            f"{reading.corpus.name}: reading Parquet needs pyarrow; "
            'pip install "allyouneed[parquet]"'
        ) from error
    path = reading.corpus.files[0]
    fields = [reading.corpus.source_field, reading.corpus.target_field]
    if not path.is_file():
        raise missing(path)
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for name in fields:
                if name not in file.schema_arrow.names:
                    raise DataError(
                        f'{path}: has no column "{name}"{_hint(name, file.schema_arrow.names)}'
                    )
            for batch in file.iter_batches(batch_size=10_000, columns=fields):
                for record in batch.to_pylist():
                    number += 1
                    pair = _fields(reading, record, number)
                    if pair is not None:
                        yield pair
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as Parquet after row {number}: {error}") from error


READERS = {
    "text": read_text,
    "tsv": read_tsv,
    "csv": read_csv,
    "jsonl": read_jsonl,
    "parquet": read_parquet,
}
