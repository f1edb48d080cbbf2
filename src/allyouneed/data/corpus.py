"""A corpus: where pairs of sentences come from, and how often an epoch sees them."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from allyouneed.errors import DataError
from allyouneed.text.conversation import History

Format = Literal["text", "tsv", "csv", "jsonl", "parquet"]
MadeTask = Literal["copy", "reverse"]

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
    """One source sentence and its target, from line (or row) `line`, counted from 1."""

    source: str
    target: str
    line: int


@dataclass(frozen=True)
class Corpus:
    """Pairs in files, or made from a seed.

    Files: `source` and `target` hold one sentence a line each; or `source` alone holds both
    sides as TSV, CSV, JSON lines or Parquet. `format=None` goes by the suffix, under .gz, .xz or
    .zst. `source_field` and `target_field` name the fields of JSON lines and the columns of Parquet
    and CSV (its first line); in TSV they are column numbers, from "1", and only needed where there
    are more than the two columns or these stand the other way round. A path may be a folder of such
    files: `shards.py`.
    Made: `made` names a task of `synthetic.py`, `pairs` and `seed` say how many and which.
    `weight` is how often an epoch sees each pair, on average: 0.5 is a random half of them.
    Conversations: with a `history`, sources are what was said before a reply, see
    `conversations.py`. The files hold turns and replies as they do sources and targets, each pair
    by itself or all `one_conversation`; or, where `turn_fields` names the columns of dialogue,
    speaker and text (TSV, CSV), one turn a line. `spaced` text is joined (`text/unspaced.py`).
    `normaliser` names how both sides are written once they are read; None: as the files have them.

    Raises DataError when these do not fit together.
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
    normaliser: str | None = None

    def __post_init__(self) -> None:
        if (self.source is None) == (self.made is None):
            raise DataError(
                "a corpus names no source: name the file with the sentences to translate, or, "
                "where there are targets alone, the model that writes it (back_translate)"
                if self.made is None
                else f"a corpus has a source file or is made; here are both, source={self.source} "
                f"and made={self.made}"
            )
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise DataError(
                f"{self.name}: weight={self.weight} must be a number above 0; "
                "take the corpus out to leave it out"
            )
        if self.made is not None:
            self._check_made()
        elif self.format not in (None, *get_args(Format)):
            raise DataError(
                f"{self.name}: format={self.format!r} is none of {', '.join(get_args(Format))}"
            )
        elif self.turn_fields is None:
            self._check_sides(self.resolved_format)
        else:
            self._check_turns(self.turn_fields, self.resolved_format)

    def _check_made(self) -> None:
        if self.made not in ("copy", "reverse"):
            raise DataError(f"made={self.made!r} is no task; there are copy and reverse")
        if self.target is not None or self.format is not None:
            raise DataError(f"{self.name}: a made corpus has neither target nor format")
        if self.pairs < 1:
            raise DataError(f"{self.name}: pairs={self.pairs} must be at least 1")

    def _check_sides(self, format: Format) -> None:
        if format == "text" and self.target is None and not self._may_be_folder:
            raise DataError(
                f"{self.source}: nothing says where the target sentences are; name a target file, "
                'or set format to "tsv", "csv", "jsonl" or "parquet" if the file holds both sides'
            )
        if format != "text" and self.target is not None:
            if self.target == self.source:
                raise DataError(
                    f"{self.source} is read as {format}, by columns: name it as source alone, with "
                    "source_field and target_field (both the same, where one column is all)"
                )
            raise DataError(
                f"{self.source} is read as {format} and holds both sides, yet target="
                f'{self.target} is given; leave target out, or set format="text"'
            )
        fields = self.source_field, self.target_field
        if format == "tsv" and fields != FIELDS and not all(map(_is_column, fields)):
            raise DataError(
                f"{self.name}: source_field={fields[0]!r} and target_field={fields[1]!r} must be "
                'columns of a TSV file, counted from "1"; leave both out for source<TAB>target'
            )

    def _check_turns(self, fields: tuple[str, str, str], format: Format) -> None:
        if self.one_conversation or self.target is not None:
            raise DataError(
                f"{self.name}: turn_fields={list(fields)} says that each line is one turn of its "
                "dialogue; leave target and one_conversation out"
            )
        if format not in ("tsv", "csv"):
            raise DataError(
                f"{self.name} is read as {format}, and turn_fields is for TSV and CSV; convert the "
                "file, or set format"
            )
        if format == "tsv" and not all(map(_is_column, fields)):
            raise DataError(
                f"{self.name}: turn_fields={list(fields)} must be columns of a TSV file, counted "
                'from "1": those of dialogue, speaker and text'
            )

    @property
    def resolved_format(self) -> Format:
        """The format of the files, by the suffix where none is given."""
        if self.format is not None:
            return self.format
        if self.source is None:
            return "text"
        all_of_them = [suffix.lower() for suffix in self.source.suffixes]
        suffixes = [suffix for suffix in all_of_them if suffix not in COMPRESSED]
        return FORMAT_OF.get(suffixes[-1], "text") if suffixes else "text"

    @property
    def _may_be_folder(self) -> bool:
        """Whether `source` is a folder, or is not there (yet) and not called like a file."""
        if self.source is None:
            return False
        is_called_a_file = self.source.suffix.lower() in (".txt", *COMPRESSED, *FORMAT_OF)
        return self.source.is_dir() or not (is_called_a_file or self.source.exists())

    @property
    def columns(self) -> tuple[int, int] | None:
        """The TSV columns of source and target, counted from 0; None for a file of just the two."""
        if (self.source_field, self.target_field) == FIELDS:
            return None
        return int(self.source_field) - 1, int(self.target_field) - 1

    @property
    def files(self) -> list[Path]:
        """The files it is read from: none when made."""
        return [path for path in (self.source, self.target) if path is not None]

    @property
    def name(self) -> str:
        """What messages and reports call it: the source path, or the task and its seed."""
        return f"made:{self.made}:{self.seed}" if self.source is None else str(self.source)


def _is_column(field: str) -> bool:
    return field.isdecimal() and int(field) >= 1
