"""Glossaries that clients make: kept in a folder, one file each."""

import csv
import io
import json
import os
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from allyouneed.errors import UsageError
from allyouneed.files import write_whole
from allyouneed.serving.refusal import Refused
from allyouneed.translation.terms.glossary import Glossary

MOST = 1000  # of one client
MOST_ENTRIES = 100_000  # of one glossary
LONGEST = 1024  # characters of a term
NOT_IN_A_TERM = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # would part lines or cells of a TSV
NONE_SUCH = "there is no such glossary"

Entries = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class KeptGlossary:
    """A glossary: what terms of the source language are in the target language.

    `owner` is the name of the key that made it; "" where no keys are needed. `creation_time` is in
    UTC, as ISO 8601 has it.
    """

    glossary_id: str
    name: str
    source_lang: str
    target_lang: str
    creation_time: str
    owner: str
    entries: Entries


def default_folder() -> Path:
    """The folder of glossaries if no other is named."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "allyouneed" / "glossaries"


class Glossaries:
    """The glossaries in a folder. The folder is made with the first glossary. An owner sees only
    their own glossaries. The methods read and write files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(
        self, name: str, source: str, target: str, entries: Entries, owner: str
    ) -> KeptGlossary:
        """A new glossary, kept.

        Raises:
            Refused: an entry that is no term, too many glossaries of the owner, or no room.
        """
        terms_of(dict(entries))
        if len(self.all(owner)) >= MOST:
            raise Refused(456, f"there are {MOST} glossaries already; delete one first")
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        made = KeptGlossary(str(uuid.uuid4()), name, source, target, now, owner, entries)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._path(made.glossary_id), json.dumps(asdict(made), ensure_ascii=False))
        except OSError as error:
            raise Refused(507, "the glossary cannot be kept; the disk may be full") from error
        return made

    def all(self, owner: str) -> list[KeptGlossary]:
        """The glossaries of an owner, the oldest first."""
        found = [_read(path) for path in self.folder.glob("*.json")]
        own = [one for one in found if one is not None and one.owner == owner]
        return sorted(own, key=lambda one: (one.creation_time, one.name))

    def find(self, id: str, owner: str) -> KeptGlossary:
        """The glossary with this id.

        Raises:
            Refused: the owner has none.
        """
        found = _read(self._path(id))
        if found is None or found.owner != owner:
            raise Refused(404, NONE_SUCH)
        return found

    def terms(self, id: str, owner: str, source: str, target: str) -> Glossary:
        """The terms of the glossary of this id, which has to be for these languages.

        Raises:
            Refused: the owner has none, or it is for other languages.
        """
        path = self._path(id)
        try:
            kept, terms = _compiled(path, path.stat().st_mtime_ns)
        except OSError as error:
            raise Refused(404, NONE_SUCH) from error
        if kept.owner != owner:
            raise Refused(404, NONE_SUCH)
        if (kept.source_lang, kept.target_lang) != (source, target):
            raise Refused(
                400,
                f"the glossary translates from {kept.source_lang} to {kept.target_lang}, not from "
                f"{source} to {target}",
            )
        return terms

    def delete(self, id: str, owner: str) -> None:
        """Removes the glossary with this id.

        Raises:
            Refused: the owner has none.
        """
        self.find(id, owner)
        self._path(id).unlink(missing_ok=True)

    def _path(self, id: str) -> Path:
        """The path of a glossary's file. Only a well-formed id can name a file."""
        try:
            return self.folder / f"{uuid.UUID(id)}.json"
        except ValueError as error:
            raise Refused(404, NONE_SUCH) from error


@lru_cache(maxsize=64)  # requests with the same object can be translated together
def _compiled(path: Path, _: int) -> tuple[KeptGlossary, Glossary]:
    kept = _read(path)
    if kept is None:
        raise Refused(404, NONE_SUCH)
    return kept, terms_of(dict(kept.entries))


def terms_of(entries: Mapping[str, str | list[str]]) -> Glossary:
    """The entries as the search takes them.

    Raises:
        Refused: one that is no term.
    """
    try:
        return Glossary.of(entries)
    except UsageError as error:
        raise Refused(400, f"Invalid glossary: {error}") from error


def _read(path: Path) -> KeptGlossary | None:
    """None where no glossary can be read."""
    try:
        values: dict[str, Any] = json.loads(path.read_text("utf-8"))
        entries = [(one, other) for one, other in values.pop("entries")]
        return KeptGlossary(**values, entries=entries)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def read_entries(text: str, kind: str) -> Entries:
    """Entries as clients write them, "tsv" or "csv"; further columns after the target are left out.

    Raises:
        Refused: a line that is no entry, by its number.
    """
    found: dict[str, str] = {}
    for number, row in enumerate(_rows(text, kind), start=1):
        if not any(cell.strip() for cell in row):
            continue
        source, target = (row[0].strip(), row[1].strip()) if len(row) > 1 else (row[0], "")
        if not source or not target:
            raise Refused(400, f"Invalid glossary: line {number} has no source or no target")
        if max(len(source), len(target)) > LONGEST:
            raise Refused(
                400, f"Invalid glossary: a term in line {number} is longer than {LONGEST}"
            )
        if NOT_IN_A_TERM.search(source + target):
            raise Refused(
                400,
                f"Invalid glossary: a term in line {number} has a tab, a line end or another "
                "control character; write a space instead",
            )
        if found.setdefault(source, target) != target:
            raise Refused(
                400, f"Invalid glossary: line {number} repeats a source with another target"
            )
    if not found:
        raise Refused(400, "Invalid glossary: no entries were given")
    if len(found) > MOST_ENTRIES:
        raise Refused(400, f"Invalid glossary: {len(found)} entries are more than {MOST_ENTRIES}")
    return list(found.items())


def _rows(text: str, kind: str) -> Iterable[list[str]]:
    if kind == "csv":
        try:
            return list(csv.reader(io.StringIO(text, newline=""), strict=True))
        except csv.Error as error:
            raise Refused(400, f"Invalid glossary: this is no CSV: {error}") from error
    return [line.split("\t") for line in text.replace("\r\n", "\n").split("\n")]


def as_tsv(entries: Entries) -> str:
    """The entries as lines of source, tab, target."""
    return "".join(f"{source}\t{target}\n" for source, target in entries)
