"""Files fetched over HTTP: checked by their checksum, and gone on with where they broke off."""

import hashlib
import time
from collections.abc import Callable
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse, InvalidURL
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from allyouneed.data.lock import locked
from allyouneed.data.published import DataSet
from allyouneed.errors import DataError, UsageError

TRIES = 5
WAIT_S = 1.0  # before the second try; twice as long before each further one
TIMEOUT_S = 30.0  # without a byte
BLOCK = 1 << 16
PARTIAL = ".partial"
LOCK = ".lock"  # beside the files

# (name of the file, bytes that are there, bytes of the whole or None while unknown)
Progress = Callable[[str, int, int | None], None]


class BrokenTransferError(Exception):
    """A transfer that may well succeed when it is tried again."""


def fetch(data_set: DataSet, folder: Path, address: str | None, progress: Progress) -> list[Path]:
    """Brings the files of a data set into `folder`/NAME; those that are there stay. All paths.

    `address` is a mirror's in place of the publisher's.

    Raises:
        UsageError: an address that is not http:// or https://.
        DataError: a file that cannot be had, is another than the published one, or cannot be kept.
    """
    address = (address or data_set.address).rstrip("/")
    if not address.startswith(("http://", "https://")):
        raise UsageError(f"{address} is no address to fetch from; give http://... or https://...")
    paths = []
    for file in data_set.files:
        path = folder / data_set.name / file.name
        download(f"{address}/{file.name}", path, file.checksum, progress)
        paths.append(path)
    return paths


def download(url: str, path: Path, checksum: str, progress: Progress) -> None:
    """Fetches one file, unless it is there. `checksum` is `algorithm:hex`.

    What has come lies beside it as .partial until it is whole; a later call goes on from there
    where the server knows how (HTTP ranges), and starts anew where it does not. A second process
    waits for the first and shares its work.

    Raises DataError: see `fetch`.
    """
    try:
        if path.exists():
            _check_same(path, url, checksum)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        waiting = f"{path.name} (another process is at it)"
        with locked(path.parent / LOCK, lambda: progress(waiting, 0, None)):
            if not path.exists():
                _bring(url, path, checksum, progress)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be kept there: {error.strerror}; free some space, or choose another "
            "folder by --into"
        ) from error


def _bring(url: str, path: Path, checksum: str, progress: Progress) -> None:
    partial = path.with_name(path.name + PARTIAL)
    if partial.exists():
        _transfer(url, partial, progress)
        if _digest(partial, checksum) != checksum:
            partial.unlink()  # the rest of another file: once more from its beginning
    if not partial.exists():
        _transfer(url, partial, progress)
    if (found := _digest(partial, checksum)) != checksum:
        partial.unlink()
        raise DataError(
            f"{url}: what came has the checksum {found}, not {checksum}: it was spoilt on its "
            "way, or the file was changed; try again, or name a mirror by --from"
        )
    partial.replace(path)


def _check_same(path: Path, url: str, checksum: str) -> None:
    found = _digest(path, checksum)
    if found != checksum:
        raise DataError(
            f"{path} is another file than {url}: its checksum is {found}, not {checksum}; move it "
            "away to fetch the published one, or choose another folder by --into"
        )


def _digest(path: Path, checksum: str) -> str:
    """The checksum of a file by the same algorithm."""
    algorithm = checksum.partition(":")[0]
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False))
    return f"{algorithm}:{digest.hexdigest()}"


def _transfer(url: str, partial: Path, progress: Progress) -> None:
    """Goes on with a file until it is whole, in several tries. Raises DataError after the last."""
    for attempt in range(TRIES):
        if attempt:
            time.sleep(WAIT_S * 2 ** (attempt - 1))
        try:
            return _request(url, partial, progress)
        except BrokenTransferError as error:
            problem = error
    held = partial.stat().st_size if partial.exists() else 0
    raise DataError(
        f"{url}: {problem}, {TRIES} times; {held:,} bytes are kept: the same command goes on from "
        "there"
    )


def _request(url: str, partial: Path, progress: Progress) -> None:
    """One request for what is missing. Raises BrokenTransferError when less came."""
    held = partial.stat().st_size if partial.exists() else 0
    headers = {"User-Agent": "allyouneed", **({"Range": f"bytes={held}-"} if held else {})}
    try:
        with _opened(Request(url, headers=headers)) as response:
            goes_on = response.status == HTTPStatus.PARTIAL_CONTENT
            if not goes_on:
                held = 0
            whole = held + response.length if response.length is not None else None
            with partial.open("ab" if goes_on else "wb") as file:
                _copy(response, file, lambda done: progress(partial.stem, held + done, whole))
            if whole is not None and partial.stat().st_size < whole:
                raise BrokenTransferError("the transfer broke off")
    except HTTPError as error:
        error.close()
        if error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and held:
            return  # nothing is missing, as far as the server knows; the checksum decides
        if error.code == HTTPStatus.TOO_MANY_REQUESTS or error.code >= 500:
            raise BrokenTransferError(f"the server answers {error.code} {error.reason}") from error
        raise DataError(
            f"{url}: the server answers {error.code} {error.reason}; name a mirror by --from"
        ) from error


def _opened(request: Request) -> HTTPResponse:
    try:
        response: HTTPResponse = urlopen(request, timeout=TIMEOUT_S)
    except HTTPError:
        raise
    except (ValueError, InvalidURL) as error:  # before any connection: the address is none
        raise UsageError(f"{request.full_url!r} is no address ({error}); correct --from") from error
    except (URLError, HTTPException, ConnectionError, TimeoutError) as error:
        reason = getattr(error, "reason", None) or error
        raise BrokenTransferError(f"no connection ({reason})") from error
    return response


def _copy(response: HTTPResponse, file: IO[bytes], done: Callable[[int], None]) -> None:
    """What comes, until it ends; errors of the connection are told from those of the disk."""
    count = 0
    while True:
        try:
            block = response.read(BLOCK)
        except (HTTPException, OSError) as error:
            raise BrokenTransferError(f"the transfer broke off ({error})") from error
        if not block:
            return
        file.write(block)
        count += len(block)
        done(count)
