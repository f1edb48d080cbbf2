"""A corpus: the origin of pairs of sentences, and how often an epoch sees them."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from allyouneed.errors import DataError
from allyouneed.text.conversation import History

Format = Literal["text", "tsv", "csv", "jsonl", "parquet"]
MadeTask = Literal["copy", "reverse"]
Side = Literal["source", "target"]

SIDES: tuple[Side, Side] = ("source", "target")
FIELDS = ("source", "target")
COMPRESSED = (".gz", ".xz", ".zst")
FORMAT_OF: dict[str, Format] = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}


class Pair(NamedTuple):
    """A source sentence and its target. `line` is the line (or row) in the file, from 1."""

    source: str
    target: str
    line: int


@dataclass(frozen=True)
class Corpus:
    """Pairs in files, or pairs made from a seed.

    Files: `source` and `target` are files with one sentence per line. Or `source` alone holds both
    sides as TSV, CSV, JSON lines or Parquet. With `format=None` the suffix decides; .gz, .xz and
    .zst may follow it. `source_field` and `target_field` name the fields of JSON lines, or the
    columns of Parquet and of CSV (by its first line). In TSV they are column numbers from "1", and
    are only needed if there are more than two columns or the target comes first. A path may be a
    folder of such files, see `shards.py`.

    Made pairs: `made` names a task of `synthetic.py`, `pairs` is the number of pairs, and `seed`
    the seed of the random choices.

    `weight` is the mean number of times that an epoch sees each pair; 0.5 means a random half of
    them.

    Conversations: with a `history`, the source is the text of the turns before a reply, see
    `conversations.py`. The files hold turns and replies as other corpora hold sources and targets;
    each pair stands alone unless they are `one_conversation`. Or `turn_fields` names the columns of
    dialogue, speaker and text (TSV, CSV) of a file with one turn per line. The words of `spaced`
    text are joined (`text/unspaced.py`).

    `languages` are the codes of source and target, where a model is told its direction. The pairs
    of a `swapped` corpus stand in its files the other way round.

    `quoted` texts stand in TSV as a spreadsheet writes them: `"a ""b"" c"` is read as `a "b" c`.

    `normaliser` names the normaliser for both sides; with None the texts are not changed.

    Raises:
        DataError: the fields contradict each other.
    """

    source: Path | None = None
    target: Path | None = None
    weight: float = 1.0
    format: Format | None = None
    source_field: str = FIELDS[0]
    target_field: str = FIELDS[1]
    made: MadeTask | None = None
    pairs: int = 5000
    seed: int = 0
    history: History | None = None
    one_conversation: bool = False
    turn_fields: tuple[str, str, str] | None = None
    spaced: bool = False
    quoted: bool = False
    normaliser: str | None = None
    languages: tuple[str, str] | None = None
    swapped: bool = False

    def __post_init__(self) -> None:
        if (self.source is None) == (self.made is None):
            raise DataError(
                "a corpus has no source; name the file with the sentences to translate, or, if "
                "there are only targets, the model that translates them back (back_translate)"
                if self.made is None
                else f"a corpus has either a source file or made pairs, not both: "
                f"source={self.source} and made={self.made}; leave one out"
            )
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise DataError(
                f"{self.name}: weight={self.weight} must be a number above 0; "
                "take the corpus out to leave it out"
            )
        if self.quoted:
            self._check_quotes()
        if self.made is not None:
            self._check_made()
        elif self.format not in (None, *get_args(Format)):
            raise DataError(
                f"{self.name}: format={self.format!r} is not one of {', '.join(get_args(Format))}"
            )
        elif self.turn_fields is None:
            self._check_sides(self.resolved_format)
        else:
            self._check_turns(self.turn_fields, self.resolved_format)

    def _check_made(self) -> None:
        if self.made not in ("copy", "reverse"):
            raise DataError(f"made={self.made!r} is not one of copy, reverse")
        if self.target is not None or self.format is not None:
            raise DataError(f"{self.name}: made pairs need no target and no format; leave them out")
        if self.pairs < 1:
            raise DataError(f"{self.name}: pairs={self.pairs} must be at least 1")

    def _check_sides(self, format: Format) -> None:
        if format == "text" and self.target is None and not self._may_be_folder:
            raise DataError(
                f"{self.source}: the target sentences are missing; name a target file, or, if the "
                'file holds both sides, set format to "tsv", "csv", "jsonl" or "parquet"'
            )
        if format != "text" and self.target is not None:
            if self.target == self.source:
                raise DataError(
                    f"{self.source} is read as {format}, by columns; name it as source only, with "
                    "source_field and target_field (the same column twice is allowed)"
                )
            raise DataError(
                f"{self.source} is read as {format}, which holds both sides, but target="
                f'{self.target} is given too; leave target out, or set format="text"'
            )
        fields = self.source_field, self.target_field
        if format == "tsv" and fields != FIELDS and not all(map(_is_column, fields)):
            raise DataError(
                f"{self.name}: source_field={fields[0]!r} and target_field={fields[1]!r} must be "
                'columns of a TSV file, counted from "1"; leave both out for source<TAB>target'
            )

    def _check_quotes(self) -> None:
        read_as: str = "made" if self.made is not None else self.resolved_format
        read_as = read_as if self.turn_fields is None else "turns of dialogues"
        if read_as != "tsv":
            raise DataError(
                f"{self.name}: quoted=True is for pairs in TSV, but these are {read_as}; "
                "leave it out (CSV is read with its quotes)"
            )

    def _check_turns(self, fields: tuple[str, str, str], format: Format) -> None:
        if self.one_conversation or self.target is not None:
            raise DataError(
                f"{self.name}: with turn_fields={list(fields)} each line is a turn of a dialogue, "
                "so leave target and one_conversation out"
            )
        if format not in ("tsv", "csv"):
            raise DataError(
                f"{self.name} is read as {format}, but turn_fields needs TSV or CSV; convert the "
                "file, or set format"
            )
        if format == "tsv" and not all(map(_is_column, fields)):
            raise DataError(
                f"{self.name}: turn_fields={list(fields)} must be the columns of dialogue, speaker "
                'and text in a TSV file, counted from "1"'
            )

    @property
    def resolved_format(self) -> Format:
        """The format of the files; if none is given, it follows from the suffix."""
        if self.format is not None:
            return self.format
        return "text" if self.source is None else format_of(self.source)

    @property
    def _may_be_folder(self) -> bool:
        """Whether `source` is a folder, or does not exist and has no file's suffix."""
        if self.source is None:
            return False
        is_called_a_file = self.source.suffix.lower() in (".txt", *COMPRESSED, *FORMAT_OF)
        return self.source.is_dir() or not (is_called_a_file or self.source.exists())

    @property
    def columns(self) -> tuple[int, int] | None:
        """The TSV columns of source and target, counted from 0; None for a file of two columns."""
        if (self.source_field, self.target_field) == FIELDS:
            return None
        return int(self.source_field) - 1, int(self.target_field) - 1

    @property
    def files(self) -> list[Path]:
        """The files of the corpus; none for made pairs."""
        return [path for path in (self.source, self.target) if path is not None]

    def turned(self) -> "Corpus":
        """The same pairs the other way round: the targets are translated into the sources."""
        languages = self.languages and self.languages[::-1]
        return replace(self, swapped=not self.swapped, languages=languages)

    @property
    def name(self) -> str:
        """The name in messages and reports: the source path, or the task and its seed."""
        name = f"made:{self.made}:{self.seed}" if self.source is None else str(self.source)
        return name if self.languages is None else f"{name} ({'-'.join(self.languages)})"


def format_of(path: Path) -> Format:
    """The format of a file, as its suffix says."""
    every = [suffix.lower() for suffix in path.suffixes]
    suffixes = [suffix for suffix in every if suffix not in COMPRESSED]
    return FORMAT_OF.get(suffixes[-1], "text") if suffixes else "text"


def _is_column(field: str) -> bool:
    return field.isdecimal() and int(field) >= 1
