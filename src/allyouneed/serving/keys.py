"""Keys: who may use the service, how much, and how much they have used."""

import hashlib
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from allyouneed.errors import UsageError, nearest

PREFIX = "ayn_"  # so that a leaked key can be recognised
BUSY_SECONDS = 10
TABLES = """
CREATE TABLE IF NOT EXISTS keys (
    name TEXT PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    created INTEGER NOT NULL,
    characters INTEGER,
    requests INTEGER
);
CREATE TABLE IF NOT EXISTS used (
    name TEXT NOT NULL REFERENCES keys(name) ON DELETE CASCADE,
    month TEXT NOT NULL,
    characters INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    PRIMARY KEY (name, month)
);
"""


@dataclass(frozen=True, slots=True)
class Key:
    """A key's name and limits: characters a month, requests a minute; None: no limit.

    `used_characters` and `used_requests` count from the beginning of this month.
    """

    name: str
    characters: int | None = None
    requests: int | None = None
    used_characters: int = 0
    used_requests: int = 0
    created: int = 0


def default_path() -> Path:
    """The file of keys if no other is named."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "allyouneed" / "keys.sqlite"


class KeyFile:
    """The keys' SQLite file; it holds hashes (SHA-256 of 256 random bits), never a key itself.

    Raises:
        UsageError: a file that cannot be opened or is none of this kind.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, name: str, characters: int | None = None, requests: int | None = None) -> str:
        """Makes a key of this name and returns it; it cannot be shown again.

        Raises:
            UsageError: the name is taken, or blank.
        """
        if not name.strip():
            raise UsageError("a key needs a name, such as that of the program that will use it")
        key = PREFIX + secrets.token_urlsafe(32)
        values = (name, _hash(key), int(time.time()), characters, requests)
        try:
            with self._open(create=True) as database:
                database.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?)", values)
        except sqlite3.IntegrityError as error:
            raise UsageError(
                f"there is a key named {name!r} already; remove it first, or take another name"
            ) from error
        return key

    def remove(self, name: str) -> None:
        """Removes the key of this name; it is no longer accepted.

        Raises:
            UsageError: there is none.
        """
        with self._open() as database:
            removed = database.execute("DELETE FROM keys WHERE name = ?", (name,)).rowcount
        if not removed:
            guess = nearest(name, [key.name for key in self.keys().values()])
            raise UsageError(
                f"there is no key named {name!r}" + (f"; did you mean {guess!r}?" if guess else "")
            )

    def keys(self) -> dict[bytes, Key]:
        """All keys by their hash, with what they used this month."""
        if not self.path.exists():
            return {}
        with self._open() as database:
            rows = database.execute(
                "SELECT hash, keys.name, keys.characters, keys.requests, "
                "ifnull(used.characters, 0), ifnull(used.requests, 0), created FROM keys "
                "LEFT JOIN used ON used.name = keys.name AND month = ? ORDER BY keys.name",
                (_month(),),
            ).fetchall()
        return {row[0]: Key(*row[1:]) for row in rows}

    def add_use(self, used: dict[str, tuple[int, int]]) -> None:
        """Adds (characters, requests) to what the keys of these names used this month."""
        with self._open() as database:
            database.executemany(
                "INSERT INTO used SELECT ?1, ?2, ?3, ?4 "
                "WHERE EXISTS (SELECT 1 FROM keys WHERE name = ?1) "
                "ON CONFLICT DO UPDATE SET characters = characters + ?3, requests = requests + ?4",
                [(name, _month(), *counts) for name, counts in used.items()],
            )

    @contextmanager
    def _open(self, create: bool = False) -> Iterator[sqlite3.Connection]:
        try:
            if create:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.path.touch(0o600)
            database = sqlite3.connect(self.path, timeout=BUSY_SECONDS)
            try:
                with database:
                    database.execute("PRAGMA foreign_keys = ON")
                    database.executescript(TABLES)
                    yield database
            finally:
                database.close()
        except sqlite3.IntegrityError:
            raise
        except (OSError, sqlite3.Error) as error:
            raise UsageError(
                f"{self.path}: the keys cannot be read or written: {error}; name another file "
                "with --keys"
            ) from error


def _hash(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _month() -> str:
    return time.strftime("%Y-%m", time.gmtime())


class Keyring:
    """The keys of a running service, their limits, and what was used since the last `save`.

    `open_to_all` lets everybody in without a key. `needed` says whether a request needs a key. Once
    there was a key, requests need one until the service ends: without its last key, or without its
    file, a service that other machines reach would let everybody in. `save` may be called from any
    thread.
    """

    def __init__(self, file: KeyFile, open_to_all: bool, requests_per_minute: int = 0) -> None:
        self.file = file
        self._open_to_all = open_to_all
        self.requests_per_minute = requests_per_minute
        self.needed = False
        self._read()
        self._use: dict[str, tuple[int, int]] = {}
        self._minutes: dict[str, tuple[int, int]] = {}

    def find(self, key: str) -> Key | None:
        """The key's entry; None where it is not one of ours."""
        return self._keys.get(_hash(key))

    def seconds_to_wait(self, client: str, most: int | None) -> int:
        """Counts a request of a client that may make `most` in a minute (None: any number).

        Returns 0 where it may be made, else in how many seconds the next may.
        """
        if not most:
            return 0
        now = time.monotonic()
        minute = int(now // 60)
        last, count = self._minutes.get(client, (minute, 0))
        if last != minute:
            count = 0
        if count >= most:
            return int((minute + 1) * 60 - now) + 1
        if len(self._minutes) > 10_000:
            self._minutes = {c: m for c, m in self._minutes.items() if m[0] == minute}
        self._minutes[client] = (minute, count + 1)
        return 0

    def used(self, key: Key) -> tuple[int, int]:
        """Characters and requests of this month, unsaved ones too."""
        characters, requests = self._use.get(key.name, (0, 0))
        return key.used_characters + characters, key.used_requests + requests

    def count(self, key: Key, characters: int, requests: int = 1) -> None:
        """Counts a request that was let in; negative numbers take one back."""
        before = self._use.get(key.name, (0, 0))
        self._use[key.name] = (before[0] + characters, before[1] + requests)

    def save(self) -> None:
        """Saves what was used, and reads the keys again: removed keys are refused from now on."""
        use, self._use = self._use, {}
        if use:
            self.file.add_use(use)
        self._read()

    def _read(self) -> None:
        self._keys = self.file.keys()
        self.needed = self.needed or (bool(self._keys) and not self._open_to_all)
